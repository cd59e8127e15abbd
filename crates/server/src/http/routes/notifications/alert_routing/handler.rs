//! Reading and setting alert routing. One function of each kind serves devices, groups and the account.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use perigee_core::access::privilege::Privilege;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::GroupId;
use perigee_core::notifications::notification::{Channel, ConfirmationPolicy};
use perigee_core::notifications::routing::{
    AlertRouting, Destination, Preferences, RoutingHolder, StoredRouting,
};

use super::input::{AlertRoutingInput, read_routing};
use super::view::{AlertRoutingView, place_name};
use crate::app::App;
use crate::http::edit::{place_reference, retry_changed};
use crate::http::error::{ApiResult, not_found};
use crate::http::extract::{Caller, Change, DevicePath, IdPath, Params, Preconditions};
use crate::http::reply::{Done, Reply};
use crate::http::routes::devices::find_device;

/// The privilege that a change of this routing needs.
const fn needs(holder: RoutingHolder) -> Privilege {
    match holder {
        RoutingHolder::Device(_) => Privilege::DevicesWrite,
        RoutingHolder::Group(_) => Privilege::GroupsWrite,
        RoutingHolder::Account => Privilege::Admin,
    }
}

async fn of_device(app: &App, caller: &Caller, device: &DevicePath) -> ApiResult<RoutingHolder> {
    Ok(RoutingHolder::Device(find_device(app, caller, device.0.as_ref()).await?.id))
}

fn of_group(group: &IdPath<GroupId>) -> ApiResult<RoutingHolder> {
    group.0.map(RoutingHolder::Group).ok_or_else(|| not_found(Kind::Group))
}

fn of_account(caller: &Caller) -> ApiResult<RoutingHolder> {
    caller.require_whole_account().map(|()| RoutingHolder::Account)
}

async fn view(
    app: &App,
    caller: &Caller,
    holder: RoutingHolder,
    stored: StoredRouting,
) -> ApiResult<AlertRoutingView> {
    let in_force = match holder {
        RoutingHolder::Device(device) => {
            let in_force = app.store.routing_in_force(caller.scope(), device).await?;
            Some(place_name(in_force.map(|(holder, _)| holder)))
        }
        RoutingHolder::Group(_) | RoutingHolder::Account => None,
    };
    let mut view = AlertRoutingView::new(stored, in_force);
    let (consents, admitted) = app.store.list_email_consents(caller.scope(), view.email_addresses()).await?;
    let to_confirm = app.config.notifications.confirmation().to_ask(&consents, admitted);
    view.show_consents(&consents, &to_confirm);
    Ok(view)
}

/// Asks recipients who are not users of the account whether they want e-mail, where the policy requires it: all of
/// them, or those beyond the first few.
pub(in crate::http::routes) async fn ask_to_confirm<'r>(
    app: &App,
    caller: &Caller,
    recipients: impl Iterator<Item = (&'r Destination, &'r Preferences)>,
) -> ApiResult<()> {
    let policy = app.config.notifications.confirmation();
    if policy == ConfirmationPolicy::default() {
        return Ok(());
    }
    let emails = recipients.filter(|(destination, _)| destination.channel() == Channel::Email);
    let mut emails: Vec<_> =
        emails.map(|(to, preferences)| (to.as_str().to_owned(), preferences.clone())).collect();
    let addresses = emails.iter().map(|(address, _)| address.clone()).collect();
    let (consents, admitted) = app.store.list_email_consents(caller.scope(), addresses).await?;
    let asked = policy.to_ask(&consents, admitted);
    let mut index = 0..;
    emails.retain(|_| index.next().is_some_and(|index| asked.contains(&index)));
    if !emails.is_empty() {
        app.store.ask_to_confirm(caller.scope().account, emails).await?;
    }
    Ok(())
}

/// The addresses that a routing and its escalation name.
pub(in crate::http::routes) fn named_addresses(
    routing: &AlertRouting,
) -> impl Iterator<Item = (&Destination, &Preferences)> {
    routing.named_recipients().map(|recipient| (&recipient.destination, &recipient.preferences))
}

/// Attributes an unknown reference to the member that named it.
fn place<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    let member = match &outcome {
        Err(StoreError::UnknownReference { kind: Kind::User, .. }) => "users",
        Err(StoreError::UnknownReference { kind: Kind::ContactGroup, .. }) => "contactGroups",
        _ => "webhooks",
    };
    place_reference(outcome, member)
}

async fn read(app: &App, caller: &Caller, holder: RoutingHolder, params: Params) -> ApiResult<Response> {
    params.finish()?;
    let stored = app.store.find_routing(caller.scope(), holder).await?;
    let revision = stored.revision;
    let body = view(app, caller, holder, stored).await?;
    Ok(caller.reply(body).revision(revision).into_response())
}

async fn change(
    app: &App,
    caller: &Caller,
    holder: RoutingHolder,
    change: Change,
) -> ApiResult<Reply<AlertRoutingView>> {
    let stored = retry_changed(&change.preconditions, || async {
        let present = app.store.find_routing(caller.scope(), holder).await?;
        caller.require(needs(holder))?;
        change.preconditions.check(Kind::AlertRouting, present.revision)?;
        let seen = present.revision;
        let wanted = read_routing(&change.apply(&AlertRoutingView::new(present, None)).await?)?;
        let replaced = app.store.replace_routing(&caller.actor(), holder, seen, Some(wanted)).await;
        place(replaced)
    })
    .await?;
    ask_to_confirm(app, caller, stored.routing.iter().flat_map(named_addresses)).await?;
    let revision = stored.revision;
    let body = view(app, caller, holder, stored).await?;
    Ok(caller.reply(body).revision(revision))
}

async fn clear(
    app: &App,
    caller: &Caller,
    holder: RoutingHolder,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    retry_changed(&preconditions, || async {
        let present = app.store.find_routing(caller.scope(), holder).await?;
        caller.require(needs(holder))?;
        preconditions.check(Kind::AlertRouting, present.revision)?;
        Ok(app.store.replace_routing(&caller.actor(), holder, present.revision, None).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}

/// Retrieve the alert routing of a device
///
/// Returns the routing that is set on the device itself. `inForce` says which routing applies to alerts of the
/// device: that of the device, of its groups or of the account.
#[utoipa::path(get, path = "/api/devices/{deviceId}/alertRouting", tag = "notifications",
    params(("deviceId" = String, Path, description = "ID or identifier of the device.", example = "dev_01jc2m8k4n5p7")),
    responses((status = 200, description = "The alert routing.", body = AlertRoutingView)))]
pub async fn get_device_alert_routing(
    State(app): State<App>,
    caller: Caller,
    device: DevicePath,
    params: Params,
) -> ApiResult<Response> {
    let holder = of_device(&app, &caller, &device).await?;
    read(&app, &caller, holder, params).await
}

/// Replace the alert routing of a device
///
/// Sets who is notified of alerts of the device. The caller needs `devices.write`. The most specific routing that is
/// set applies: that of the device, else those of its groups together, else that of the account. A routing without
/// recipients counts as set and notifies nobody. The change applies to later alerts. Only users who see the whole
/// account can add users and contact groups, and only admins and owners of the whole account can add webhooks.
/// Recipients who are not users of the account may be asked by e-mail to confirm that they want messages.
#[utoipa::path(put, path = "/api/devices/{deviceId}/alertRouting", tag = "notifications", request_body = AlertRoutingInput,
    params(("deviceId" = String, Path, description = "ID or identifier of the device.", example = "dev_01jc2m8k4n5p7")),
    responses((status = 200, description = "The alert routing, updated.", body = AlertRoutingView)))]
pub async fn replace_device_alert_routing(
    State(app): State<App>,
    caller: Caller,
    device: DevicePath,
    wanted: Change,
) -> ApiResult<Reply<AlertRoutingView>> {
    let holder = of_device(&app, &caller, &device).await?;
    change(&app, &caller, holder, wanted).await
}

/// Update the alert routing of a device
///
/// Changes the members that the body contains and keeps the others. The caller needs `devices.write`. The change
/// applies to later alerts.
#[utoipa::path(patch, path = "/api/devices/{deviceId}/alertRouting", tag = "notifications", request_body = AlertRoutingInput,
    params(("deviceId" = String, Path, description = "ID or identifier of the device.", example = "dev_01jc2m8k4n5p7")),
    responses((status = 200, description = "The alert routing, updated.", body = AlertRoutingView)))]
pub async fn update_device_alert_routing(
    State(app): State<App>,
    caller: Caller,
    device: DevicePath,
    wanted: Change,
) -> ApiResult<Reply<AlertRoutingView>> {
    let holder = of_device(&app, &caller, &device).await?;
    change(&app, &caller, holder, wanted).await
}

/// Delete the alert routing of a device
///
/// Removes the routing that is set on the device. The caller needs `devices.write`. From then on the routings of the
/// groups of the device apply, or that of the account.
#[utoipa::path(delete, path = "/api/devices/{deviceId}/alertRouting", tag = "notifications",
    params(("deviceId" = String, Path, description = "ID or identifier of the device.", example = "dev_01jc2m8k4n5p7")),
    responses((status = 200, description = "The alert routing was deleted.", body = Done)))]
pub async fn delete_device_alert_routing(
    State(app): State<App>,
    caller: Caller,
    device: DevicePath,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    let holder = of_device(&app, &caller, &device).await?;
    clear(&app, &caller, holder, preconditions).await
}

/// Retrieve the alert routing of a group
///
/// Returns the routing that is set on the group. The group must be visible to the caller.
#[utoipa::path(get, path = "/api/groups/{groupId}/alertRouting", tag = "notifications",
    params(("groupId" = String, Path, description = "ID of the group.", example = "grp_01jc2m8k4n5p6")),
    responses((status = 200, description = "The alert routing.", body = AlertRoutingView)))]
pub async fn get_group_alert_routing(
    State(app): State<App>,
    caller: Caller,
    group: IdPath<GroupId>,
    params: Params,
) -> ApiResult<Response> {
    let holder = of_group(&group)?;
    read(&app, &caller, holder, params).await
}

/// Replace the alert routing of a group
///
/// Sets who is notified of alerts of the devices in the group. The caller needs `groups.write`. The routing does not
/// apply to devices that have a routing of their own. If a device is in several groups, their routings apply
/// together. The change applies to later alerts. Only users who see the whole account can add users and contact
/// groups, and only admins and owners of the whole account can add webhooks. Recipients who are not users of the
/// account may be asked by e-mail to confirm that they want messages.
#[utoipa::path(put, path = "/api/groups/{groupId}/alertRouting", tag = "notifications", request_body = AlertRoutingInput,
    params(("groupId" = String, Path, description = "ID of the group.", example = "grp_01jc2m8k4n5p6")),
    responses((status = 200, description = "The alert routing, updated.", body = AlertRoutingView)))]
pub async fn replace_group_alert_routing(
    State(app): State<App>,
    caller: Caller,
    group: IdPath<GroupId>,
    wanted: Change,
) -> ApiResult<Reply<AlertRoutingView>> {
    let holder = of_group(&group)?;
    change(&app, &caller, holder, wanted).await
}

/// Update the alert routing of a group
///
/// Changes the members that the body contains and keeps the others. The caller needs `groups.write`. The change
/// applies to later alerts.
#[utoipa::path(patch, path = "/api/groups/{groupId}/alertRouting", tag = "notifications", request_body = AlertRoutingInput,
    params(("groupId" = String, Path, description = "ID of the group.", example = "grp_01jc2m8k4n5p6")),
    responses((status = 200, description = "The alert routing, updated.", body = AlertRoutingView)))]
pub async fn update_group_alert_routing(
    State(app): State<App>,
    caller: Caller,
    group: IdPath<GroupId>,
    wanted: Change,
) -> ApiResult<Reply<AlertRoutingView>> {
    let holder = of_group(&group)?;
    change(&app, &caller, holder, wanted).await
}

/// Delete the alert routing of a group
///
/// Removes the routing that is set on the group. The caller needs `groups.write`. From then on devices without a
/// routing of their own use those of their other groups, or that of the account.
#[utoipa::path(delete, path = "/api/groups/{groupId}/alertRouting", tag = "notifications",
    params(("groupId" = String, Path, description = "ID of the group.", example = "grp_01jc2m8k4n5p6")),
    responses((status = 200, description = "The alert routing was deleted.", body = Done)))]
pub async fn delete_group_alert_routing(
    State(app): State<App>,
    caller: Caller,
    group: IdPath<GroupId>,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    let holder = of_group(&group)?;
    clear(&app, &caller, holder, preconditions).await
}

/// Retrieve the alert routing of the account
///
/// Returns the routing that is set on the account. The caller must see the whole account.
#[utoipa::path(get, path = "/api/account/alertRouting", tag = "notifications",
    responses((status = 200, description = "The alert routing.", body = AlertRoutingView)))]
pub async fn get_account_alert_routing(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Response> {
    let holder = of_account(&caller)?;
    read(&app, &caller, holder, params).await
}

/// Replace the alert routing of the account
///
/// Sets who is notified of alerts of devices that have no routing of their own or of a group. The caller needs
/// `admin` and must see the whole account. The change applies to later alerts. Recipients who are not users of the
/// account may be asked by e-mail to confirm that they want messages.
#[utoipa::path(put, path = "/api/account/alertRouting", tag = "notifications", request_body = AlertRoutingInput,
    responses((status = 200, description = "The alert routing, updated.", body = AlertRoutingView)))]
pub async fn replace_account_alert_routing(
    State(app): State<App>,
    caller: Caller,
    wanted: Change,
) -> ApiResult<Reply<AlertRoutingView>> {
    let holder = of_account(&caller)?;
    change(&app, &caller, holder, wanted).await
}

/// Update the alert routing of the account
///
/// Changes the members that the body contains and keeps the others. The caller needs `admin` and must see the whole
/// account. The change applies to later alerts.
#[utoipa::path(patch, path = "/api/account/alertRouting", tag = "notifications", request_body = AlertRoutingInput,
    responses((status = 200, description = "The alert routing, updated.", body = AlertRoutingView)))]
pub async fn update_account_alert_routing(
    State(app): State<App>,
    caller: Caller,
    wanted: Change,
) -> ApiResult<Reply<AlertRoutingView>> {
    let holder = of_account(&caller)?;
    change(&app, &caller, holder, wanted).await
}

/// Delete the alert routing of the account
///
/// Removes the routing that is set on the account. The caller needs `admin` and must see the whole account. From then
/// on nobody is notified of alerts of devices that have no routing of their own or of a group, except by rules and
/// watch lists.
#[utoipa::path(delete, path = "/api/account/alertRouting", tag = "notifications",
    responses((status = 200, description = "The alert routing was deleted.", body = Done)))]
pub async fn delete_account_alert_routing(
    State(app): State<App>,
    caller: Caller,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    let holder = of_account(&caller)?;
    clear(&app, &caller, holder, preconditions).await
}
