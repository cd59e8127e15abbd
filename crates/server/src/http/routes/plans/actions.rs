//! Actions on plans, and their timelines.

use perigee_core::id::PlanId;
use perigee_core::plans::PlanAction;

use super::handlers::{find, view};
use super::input::{PlanExtendInput, PlanNoteInput, PlanPauseInput};
use super::view::{PlanEventList, PlanEventView, PlanView};
use crate::http::prelude::*;

async fn act(
    app: &App,
    caller: &Caller,
    (once, body): (Once, &JsonBody),
    id: PlanId,
    (action, note): (PlanAction, Option<String>),
) -> ApiReply<PlanView> {
    let held = once.hold(app, caller, body)?;
    let done = app.store.act_on_plan(&caller.actor(), id, action, note, held.key.clone()).await?;
    let plan = done.into_inner();
    Ok(caller.reply_at(plan.revision, view(caller, plan)))
}

fn note(body: &JsonBody) -> ApiResult<Option<String>> {
    read_body(&body.value, &[ENVELOPE], |input: PlanNoteInput, _| {
        Some(input.note.filter(|note| !note.trim().is_empty()))
    })
}

/// Defines an operation that takes a note.
macro_rules! noted {
    ($($(#[doc = $doc:tt])* $name:ident($path:tt, $said:tt) = $action:expr;)+) => {$(
        $(#[doc = $doc])*
        #[utoipa::path(post, path = $path, tag = "plans", request_body = PlanNoteInput,
            responses((status = 200, description = $said, body = PlanView)))]
        pub async fn $name(
            Call(app, caller): Call,
            once: Once,
            IdPath(id): IdPath<PlanId>,
            body: JsonBody,
        ) -> ApiReply<PlanView> {
            let id = find(&app, &caller, id).await?.id;
            caller.require(Privilege::DevicesWrite)?;
            let note = note(&body)?;
            act(&app, &caller, (once, &body), id, ($action, note)).await
        }
    )+};
}

noted! {
    /// Start a plan
    ///
    /// Starts a plan that is a draft, has ended or was cancelled: check-ins are expected from now on. Fails with `plan-state` for a
    /// template, in any other state, and if `expectedArrival` is in the past. Requires the privilege `devices.write`. Sends the event
    /// `plan.started`.
    start_plan("/api/plans/{planId}/start", "The plan was started.") = PlanAction::Start;
    /// Record a check-in
    ///
    /// Records that the travellers of a running plan are well, for example after a telephone call. A missed check-in is settled,
    /// and its alerts end. Fails with `plan-state` if the plan is not running. Requires the privilege `devices.write`. Sends the event
    /// `plan.checkedIn`.
    check_in_plan("/api/plans/{planId}/checkIn", "The check-in was recorded.") = PlanAction::CheckIn;
    /// Resume a plan
    ///
    /// Resumes a paused plan: check-ins are expected from now on. Fails with `plan-state` in any other state. Requires the privilege
    /// `devices.write`. Sends the event `plan.changed`.
    resume_plan("/api/plans/{planId}/resume", "The plan was resumed.") = PlanAction::Resume;
    /// End a plan
    ///
    /// Ends a running plan: the travellers have arrived. Alerts of a missed check-in end. Fails with `plan-state` if the plan is not
    /// running. Requires the privilege `devices.write`. Sends the event `plan.ended`.
    end_plan("/api/plans/{planId}/end", "The plan was ended.") = PlanAction::End;
    /// Cancel a plan
    ///
    /// Gives up a plan that is a draft or running. Alerts of a missed check-in end. Fails with `plan-state` in any other state.
    /// Requires the privilege `devices.write`. Sends the event `plan.ended`.
    cancel_plan("/api/plans/{planId}/cancel", "The plan was cancelled.") = PlanAction::Cancel;
}

/// Pause a plan
///
/// No check-ins of an active or overdue plan are expected for the given time, or until it is resumed. A missed check-in is settled,
/// and its alerts end. Fails with `plan-state` in any other state. Requires the privilege `devices.write`. Sends the event
/// `plan.changed`.
#[utoipa::path(post, path = "/api/plans/{planId}/pause", tag = "plans", request_body = PlanPauseInput,
    responses((status = 200, description = "The plan was paused.", body = PlanView)))]
pub async fn pause_plan(
    Call(app, caller): Call,
    once: Once,
    IdPath(id): IdPath<PlanId>,
    body: JsonBody,
) -> ApiReply<PlanView> {
    let id = find(&app, &caller, id).await?.id;
    caller.require(Privilege::DevicesWrite)?;
    let minutes = read_body(&body.value, &[ENVELOPE], |input: PlanPauseInput, _| Some(input.minutes))?;
    act(&app, &caller, (once, &body), id, (PlanAction::Pause(minutes), None)).await
}

/// Extend a plan
///
/// Moves the expected arrival, the times of waypoints that were not reached and the next check-in of a running plan. It counts as a
/// check-in: a missed one is settled, and its alerts end. Fails with `plan-state` if the plan is not running. Requires the privilege
/// `devices.write`. Sends the event `plan.changed`.
#[utoipa::path(post, path = "/api/plans/{planId}/extend", tag = "plans", request_body = PlanExtendInput,
    responses((status = 200, description = "The plan was extended.", body = PlanView)))]
pub async fn extend_plan(
    Call(app, caller): Call,
    once: Once,
    IdPath(id): IdPath<PlanId>,
    body: JsonBody,
) -> ApiReply<PlanView> {
    let id = find(&app, &caller, id).await?.id;
    caller.require(Privilege::DevicesWrite)?;
    let minutes = read_body(&body.value, &[ENVELOPE], |input: PlanExtendInput, _| input.minutes)?;
    act(&app, &caller, (once, &body), id, (PlanAction::Extend(minutes), None)).await
}

/// List the timeline of a plan
///
/// Returns check-ins, missed check-ins and steps of a plan, oldest first. Of locations that are check-ins, at most one in 15 minutes
/// is recorded. At most 5,000 entries are kept; beyond that, the oldest check-ins are deleted. The list is complete unless `limit` or
/// `cursor` is given; with either, it is returned in pages. Any user who may see all devices of the plan may call this operation.
#[utoipa::path(get, path = "/api/plans/{planId}/events", tag = "plans", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of entries in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Entries of the timeline, oldest first.", body = PlanEventList)))]
pub async fn list_plan_events(
    Call(app, caller): Call,
    IdPath(id): IdPath<PlanId>,
    params: Params,
) -> ApiResult<Response> {
    let id = find(&app, &caller, id).await?.id;
    let part = params.finish_list("plan events")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_plan_events(scope, id, page).await }
    };
    answer_list(&app, &caller, "events", part, fetch, PlanEventView::from).await
}
