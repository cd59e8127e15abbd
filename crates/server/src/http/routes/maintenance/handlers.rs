//! Listing, creating, changing and deleting maintenance plans.

use perigee_core::id::{DeviceId, MaintenancePlanId};
use perigee_core::maintenance::{DueState, MaintenanceFilter, MaintenanceStatus};
use perigee_core::page::Page;

use super::input::{MaintenancePlanInput, read_plan};
use super::view::{PlanView, StateName};
use crate::http::names::{device_param, group_param};
use crate::http::prelude::*;

/// The member that names a device.
const NAMES: &[(&str, Named)] = &[("deviceId", Named::Device)];

list! {
    /// A list of maintenance plans.
    pub struct MaintenancePlanList;
    /// Maintenance plans of devices that the caller may see, sorted by ID.
    plans: PlanView,
}

pub(super) async fn find(
    app: &App,
    caller: &Caller,
    id: Option<MaintenancePlanId>,
) -> ApiResult<MaintenanceStatus> {
    let missing = || not_found(Kind::MaintenancePlan);
    app.store.find_maintenance_plan(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List maintenance plans
///
/// Returns the maintenance plans of the devices that the caller may see, sorted by ID. The list is complete unless `limit` or
/// `cursor` is given; with either, it is returned in pages. With `state`, pages may have fewer plans than `limit`, or none. Any
/// user may call this operation.
#[utoipa::path(get, path = "/api/maintenance", tag = "maintenance", params(
    ("device" = Option<String>, Query, description = "Only plans of this device, by ID, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("group" = Option<String>, Query, description = "Only plans of devices in this group, by ID or name.", example = "grp_01jc2m8k4n5p6"),
    ("state" = Option<StateName>, Query, description = "Only plans in this state. Default: all states.", example = "due"),
    ("limit" = Option<u32>, Query, description = "Maximum number of plans in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Maintenance plans of visible devices, sorted by ID.", body = MaintenancePlanList)))]
pub async fn list_maintenance_plans(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let filter = MaintenanceFilter {
        device: device_param(&app, &caller, &mut params, "device").await?,
        group: group_param(&app, &caller, &mut params, "group").await?,
    };
    let state = params.word("state", &DueState::ALL.map(|state| (state.name(), state)));
    let part = params.finish_list("maintenance")?;
    let (store, scope, now) = (app.store.clone(), caller.scope(), caller.now());
    let account = caller.account().clone();
    let fetch = move |page| {
        let (store, account) = (store.clone(), account.clone());
        async move {
            let page = store.list_maintenance_plans(scope, &filter, page).await?;
            let items = page.items.into_iter().map(|status| {
                let due = status.plan.due(status.usage, now, account.day_at(now));
                (status, due)
            });
            let items = items.filter(|(_, due)| state.is_none_or(|state| due.state == state));
            Ok(Page { items: items.collect(), next: page.next })
        }
    };
    answer_list(&app, &caller, "plans", part, fetch, |(status, due)| PlanView::of(status, &due)).await
}

/// Create a maintenance plan
///
/// Creates a maintenance plan of a device. Its alerts `MaintenanceSoon` and `MaintenanceDue` are raised once in a cycle and
/// notify the recipients of the device. A device may have up to 50 plans, and an account up to 20,000. Requires the privilege
/// `devices.write`.
#[utoipa::path(post, path = "/api/maintenance", tag = "maintenance", request_body = MaintenancePlanInput,
    responses((status = 201, description = "The maintenance plan was created.", body = PlanView)))]
pub async fn create_maintenance_plan(
    Call(app, caller): Call,
    once: Once,
    mut body: JsonBody,
) -> ApiReply<PlanView> {
    caller.require(Privilege::DevicesWrite)?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let (device, settings) = read_plan(&body.value, caller.zone(), caller.now(), None)?;
    let held = once.hold(&app, &caller, &body)?;
    let created =
        app.store.create_maintenance_plan(&caller.actor(), device, settings, held.key.clone()).await;
    let status = created.map_err(at_device)?.into_inner();
    let address = app.base_url.join(&format!("/api/maintenance/{}", status.plan.id));
    Ok(caller.reply_at(status.plan.revision, PlanView::now(&caller, status)).created(address))
}

/// A device that the caller may not see is a problem of the member that names it.
fn at_device(error: StoreError) -> ApiError {
    match error {
        error @ StoreError::UnknownReference { .. } => ApiError::from(error).at_member("deviceId"),
        StoreError::TooMany { kind: Kind::MaintenancePlan, most } => {
            let message = format!(
                "The device has 50 maintenance plans, or the account 20,000: the maximum is {most}. Delete one that is no longer needed."
            );
            ApiError::new(ErrorCode::TooMany, message)
        }
        error => error.into(),
    }
}

/// Retrieve a maintenance plan
///
/// Returns one maintenance plan with what is left until it is due. Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/maintenance/{maintenanceId}", tag = "maintenance",
    responses((status = 200, description = "The maintenance plan with this ID.", body = PlanView)))]
pub async fn get_maintenance_plan(
    Call(app, caller): Call,
    IdPath(id): IdPath<MaintenancePlanId>,
    params: Params,
) -> ApiReply<PlanView> {
    params.finish()?;
    let status = find(&app, &caller, id).await?;
    Ok(caller.reply_at(status.plan.revision, PlanView::now(&caller, status)))
}

change_handlers! {
    path: "/api/maintenance/{maintenanceId}", tag: "maintenance", body: MaintenancePlanInput, answer: PlanView, "The updated maintenance plan.";
    /// Replace a maintenance plan
    ///
    /// Replaces the settings of a maintenance plan; the device must stay the same. If the work is less urgent with the new
    /// settings, the alerts of the plan end, and are raised again when it becomes due again. Requires the privilege
    /// `devices.write`.
    replace_maintenance_plan,
    /// Update a maintenance plan
    ///
    /// Changes the given settings of a maintenance plan and leaves the others. If the work is less urgent with the new
    /// settings, the alerts of the plan end, and are raised again when it becomes due again. Requires the privilege
    /// `devices.write`.
    update_maintenance_plan => change_plan(id: IdPath<MaintenancePlanId>)
}

async fn change_plan(
    Call(app, caller): Call,
    IdPath(id): IdPath<MaintenancePlanId>,
    change: Change,
) -> ApiReply<PlanView> {
    let status = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        change.preconditions.check(Kind::MaintenancePlan, present.plan.revision)?;
        let plan = present.plan.clone();
        let mut wanted = change.apply(&PlanView::now(&caller, present)).await?;
        resolve_names(&app, &caller, &mut wanted, NAMES).await?;
        let read: (DeviceId, _) = read_plan(&wanted, caller.zone(), caller.now(), Some(&plan))?;
        Ok(app.store.replace_maintenance_plan(&caller.actor(), plan.id, plan.revision, read.1).await)
    })
    .await?;
    Ok(caller.reply_at(status.plan.revision, PlanView::now(&caller, status)))
}

/// Delete a maintenance plan
///
/// Deletes a maintenance plan with its history. Its alerts stay and end. Requires the privilege `devices.write`.
#[utoipa::path(delete, path = "/api/maintenance/{maintenanceId}", tag = "maintenance",
    responses((status = 200, description = "The maintenance plan was deleted.", body = Done)))]
pub async fn delete_maintenance_plan(
    Call(app, caller): Call,
    IdPath(id): IdPath<MaintenancePlanId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let plan = find(&app, &caller, id).await?.plan;
        caller.require(Privilege::DevicesWrite)?;
        preconditions.check(Kind::MaintenancePlan, plan.revision)?;
        Ok(app.store.delete_maintenance_plan(&caller.actor(), plan.id, Some(plan.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}
