//! Listing, creating, changing, copying and deleting plans.

use perigee_core::id::PlanId;
use perigee_core::idempotency::IdempotencyKey;
use perigee_core::notifications::routing::AlertRouting;
use perigee_core::plans::{Plan, PlanFilter, PlanSettings, PlanState};
use perigee_core::zone::Zone;

use super::input::{NAMES, PlanCopyInput, PlanInput, read_plan};
use super::view::{PlanView, StateName};
use crate::http::edit::Mode;
use crate::http::input::read_fields;
use crate::http::json::Fields;
use crate::http::names::device_param;
use crate::http::prelude::*;
use crate::http::routes::notifications::alert_routing::{ask_to_confirm, named_addresses};

list! {
    /// A list of plans.
    pub struct PlanList;
    /// Plans that the caller may see, sorted by ID.
    plans: PlanView,
}

pub(super) async fn find(app: &App, caller: &Caller, id: Option<PlanId>) -> ApiResult<Plan> {
    let missing = || not_found(Kind::Plan);
    app.store.find_plan(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// Attributes an unknown reference to the member that named it.
fn attribute<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    let member = match &outcome {
        Err(StoreError::UnknownReference { kind: Kind::Device, .. }) => "devices",
        Err(StoreError::UnknownReference { kind: Kind::Geofence, .. }) => "checkIns",
        _ => "notify",
    };
    attribute_reference(outcome, member)
}

/// The zone in which times of day of the caller's account are.
fn zone(caller: &Caller) -> &Zone {
    &caller.account().settings.time_zone
}

pub(super) fn view(caller: &Caller, plan: Plan) -> PlanView {
    PlanView::of(plan, zone(caller))
}

/// List plans
///
/// Returns the plans of which the caller may see all devices, sorted by ID. The list is complete unless `limit` or `cursor` is
/// given; with either, it is returned in pages. Any user may call this operation.
#[utoipa::path(get, path = "/api/plans", tag = "plans", params(
    ("state" = Option<StateName>, Query, description = "Only plans in this state. Default: all states.", example = "active"),
    ("device" = Option<String>, Query, description = "Only plans of this device, by ID, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("template" = Option<bool>, Query, description = "Whether templates are listed instead of plans. Default: false.", example = false),
    ("limit" = Option<u32>, Query, description = "Maximum number of plans in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Plans that the caller may see, sorted by ID.", body = PlanList)))]
pub async fn list_plans(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let filter = PlanFilter {
        device: device_param(&app, &caller, &mut params, "device").await?,
        state: params.word("state", &PlanState::ALL.map(|state| (state.name(), state))),
        templates: params.word("template", &[("true", true), ("false", false)]).unwrap_or_default(),
    };
    let part = params.finish_list("plans")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let zone = zone(&caller).clone();
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_plans(scope, &filter, page).await }
    };
    answer_list(&app, &caller, "plans", part, fetch, move |plan| PlanView::of(plan, &zone)).await
}

async fn confirm(app: &App, caller: &Caller, routing: Option<&AlertRouting>) -> ApiResult<()> {
    match routing {
        Some(routing) => ask_to_confirm(app, caller, named_addresses(routing)).await,
        None => Ok(()),
    }
}

async fn create(
    app: &App,
    caller: &Caller,
    settings: PlanSettings,
    key: Option<IdempotencyKey>,
) -> ApiResult<Plan> {
    let created = app.store.create_plan(&caller.actor(), settings, key).await;
    let plan = attribute(created)??.into_inner();
    confirm(app, caller, plan.settings.notify.as_ref()).await?;
    Ok(plan)
}

/// Create a plan
///
/// Creates a plan of a voyage, a shift or a hike in the state `draft`: nothing is expected before it is started. An account may have
/// up to 10,000 plans. Requires the privilege `devices.write`. Recipients in `notify` who are not users of the account may be asked
/// by e-mail to confirm that they want messages. Sends the event `plan.created`.
#[utoipa::path(post, path = "/api/plans", tag = "plans", request_body = PlanInput,
    responses((status = 201, description = "The plan was created.", body = PlanView)))]
pub async fn create_plan(Call(app, caller): Call, once: Once, mut body: JsonBody) -> ApiReply<PlanView> {
    caller.require(Privilege::DevicesWrite)?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let settings = read_plan(&body.value, caller.zone(), Mode::Create)?;
    let held = once.hold(&app, &caller, &body)?;
    let plan = create(&app, &caller, settings, held.key.clone()).await?;
    let address = app.base_url.join(&format!("/api/plans/{}", plan.id));
    Ok(caller.reply_at(plan.revision, view(&caller, plan)).created(address))
}

/// Copy a plan
///
/// Creates a plan with the settings of another one, in the state `draft`, for example from a template. Links and the timeline are
/// not copied. Requires the privilege `devices.write`. Sends the event `plan.created`.
#[utoipa::path(post, path = "/api/plans/{planId}/copy", tag = "plans", request_body = PlanCopyInput,
    responses((status = 201, description = "The copy was created.", body = PlanView)))]
pub async fn copy_plan(
    Call(app, caller): Call,
    once: Once,
    IdPath(id): IdPath<PlanId>,
    body: JsonBody,
) -> ApiReply<PlanView> {
    let plan = find(&app, &caller, id).await?;
    caller.require(Privilege::DevicesWrite)?;
    let fields = Fields::of(&body.value).map_err(invalid_body)?.in_zone(caller.zone());
    let settings = read_fields(fields, &[ENVELOPE], |input: PlanCopyInput, _| {
        Some(plan.settings.copy(input.name, input.template, input.start))
    })?;
    let held = once.hold(&app, &caller, &body)?;
    let copy = create(&app, &caller, settings, held.key.clone()).await?;
    let address = app.base_url.join(&format!("/api/plans/{}", copy.id));
    Ok(caller.reply_at(copy.revision, view(&caller, copy)).created(address))
}

/// Retrieve a plan
///
/// Returns one plan with its last and its next check-in. Any user who may see all of its devices may call this operation.
#[utoipa::path(get, path = "/api/plans/{planId}", tag = "plans",
    responses((status = 200, description = "The plan with this ID.", body = PlanView)))]
pub async fn get_plan(
    Call(app, caller): Call,
    IdPath(id): IdPath<PlanId>,
    params: Params,
) -> ApiReply<PlanView> {
    params.finish()?;
    let plan = find(&app, &caller, id).await?;
    Ok(caller.reply_at(plan.revision, view(&caller, plan)))
}

change_handlers! {
    path: "/api/plans/{planId}", tag: "plans", body: PlanInput, answer: PlanView, "The updated plan.";
    /// Replace a plan
    ///
    /// Sets all settings of a plan; members that are left out get their defaults. A running plan uses them at once; a check-in that
    /// is no longer missed with them is settled, and its alerts end. Requires the privilege `devices.write`. Sends the event
    /// `plan.changed`.
    replace_plan,
    /// Update a plan
    ///
    /// Changes the members that the body contains and keeps the others. A running plan uses them at once; a check-in that is no
    /// longer missed with them is settled, and its alerts end. Requires the privilege `devices.write`. Sends the event
    /// `plan.changed`.
    update_plan => change_plan(id: IdPath<PlanId>)
}

async fn change_plan(
    Call(app, caller): Call,
    IdPath(id): IdPath<PlanId>,
    change: Change,
) -> ApiReply<PlanView> {
    let plan = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        change.preconditions.check(Kind::Plan, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let mut wanted = change.apply(&view(&caller, present)).await?;
        resolve_names(&app, &caller, &mut wanted, NAMES).await?;
        let settings = read_plan(&wanted, caller.zone(), Mode::Replace)?;
        attribute(app.store.replace_plan(&caller.actor(), id, seen, settings).await)
    })
    .await?;
    confirm(&app, &caller, plan.settings.notify.as_ref()).await?;
    Ok(caller.reply_at(plan.revision, view(&caller, plan)))
}

/// Delete a plan
///
/// Deletes a plan with its timeline and its links. Its alerts stay and end. Requires the privilege `devices.write`. Sends the event
/// `plan.deleted`.
#[utoipa::path(delete, path = "/api/plans/{planId}", tag = "plans",
    responses((status = 200, description = "The plan was deleted.", body = Done)))]
pub async fn delete_plan(
    Call(app, caller): Call,
    IdPath(id): IdPath<PlanId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let plan = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        preconditions.check(Kind::Plan, plan.revision)?;
        Ok(app.store.delete_plan(&caller.actor(), plan.id, Some(plan.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}
