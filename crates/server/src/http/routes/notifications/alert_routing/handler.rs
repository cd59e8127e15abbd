//! Reading and setting alert routing. One function of each kind serves devices, groups and the account.

use perigee_core::id::GroupId;
use perigee_core::notifications::notification::{Channel, ConfirmationPolicy};
use perigee_core::notifications::routing::{
    AlertRouting, Destination, Preferences, RoutingHolder, StoredRouting,
};

use super::input::{AlertRoutingInput, read_routing};
use super::view::{AlertRoutingView, holder_name};
use crate::http::prelude::*;
use crate::http::routes::devices::find_device;

/// The privilege that a change of this routing needs.
const fn needs(holder: RoutingHolder) -> Privilege {
    match holder {
        RoutingHolder::Device(_) => Privilege::DevicesWrite,
        RoutingHolder::Group(_) => Privilege::GroupsWrite,
        RoutingHolder::Account => Privilege::Admin,
    }
}

async fn of_device(Call(app, caller): &Call, DevicePath(device): DevicePath) -> ApiResult<RoutingHolder> {
    Ok(RoutingHolder::Device(find_device(app, caller, device.as_ref()).await?.id))
}

fn of_group(IdPath(group): IdPath<GroupId>) -> ApiResult<RoutingHolder> {
    group.map(RoutingHolder::Group).ok_or_else(|| not_found(Kind::Group))
}

fn of_account(Call(_, caller): &Call) -> ApiResult<RoutingHolder> {
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
            Some(holder_name(in_force.map(|(holder, _)| holder)))
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
    let emails = recipients.filter(|(destination, _)| destination.channel() == Channel::EMAIL);
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
fn attribute<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    let member = match &outcome {
        Err(StoreError::UnknownReference { kind: Kind::User, .. }) => "users",
        Err(StoreError::UnknownReference { kind: Kind::ContactGroup, .. }) => "contactGroups",
        _ => "webhooks",
    };
    attribute_reference(outcome, member)
}

async fn read(Call(app, caller): Call, holder: RoutingHolder, params: Params) -> ApiResult<Response> {
    params.finish()?;
    let stored = app.store.get_routing(caller.scope(), holder).await?;
    Ok(caller.reply_at(stored.revision, view(&app, &caller, holder, stored).await?).into_response())
}

async fn change(
    Call(app, caller): Call,
    holder: RoutingHolder,
    change: Change,
) -> ApiReply<AlertRoutingView> {
    let stored = retry_changed(&change.preconditions, || async {
        let present = app.store.get_routing(caller.scope(), holder).await?;
        caller.require(needs(holder))?;
        change.preconditions.check(Kind::AlertRouting, present.revision)?;
        let seen = present.revision;
        let wanted = read_routing(&change.apply(&AlertRoutingView::new(present, None)).await?)?;
        let replaced = app.store.replace_routing(&caller.actor(), holder, seen, Some(wanted)).await;
        attribute(replaced)
    })
    .await?;
    ask_to_confirm(&app, &caller, stored.routing.iter().flat_map(named_addresses)).await?;
    Ok(caller.reply_at(stored.revision, view(&app, &caller, holder, stored).await?))
}

async fn clear(
    Call(app, caller): Call,
    holder: RoutingHolder,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let present = app.store.get_routing(caller.scope(), holder).await?;
        caller.require(needs(holder))?;
        preconditions.check(Kind::AlertRouting, present.revision)?;
        Ok(app.store.replace_routing(&caller.actor(), holder, present.revision, None).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}

async fn change_device_routing(call: Call, device: DevicePath, wanted: Change) -> ApiReply<AlertRoutingView> {
    let holder = of_device(&call, device).await?;
    change(call, holder, wanted).await
}

async fn change_group_routing(
    call: Call,
    group: IdPath<GroupId>,
    wanted: Change,
) -> ApiReply<AlertRoutingView> {
    let holder = of_group(group)?;
    change(call, holder, wanted).await
}

async fn change_account_routing(call: Call, wanted: Change) -> ApiReply<AlertRoutingView> {
    let holder = of_account(&call)?;
    change(call, holder, wanted).await
}

/// Retrieve the alert routing of a device
///
/// Returns who is notified of alerts of the device, as set on the device itself. If no routing is set on it, `isSet` is
/// false and the lists are empty. `inForce` says which routing applies to its alerts: that of the device, of its groups
/// or of the account. The device must be visible to the caller.
#[utoipa::path(get, path = "/api/devices/{deviceId}/alertRouting", tag = "notifications",
    responses((status = 200, description = "The alert routing.", body = AlertRoutingView)))]
pub async fn get_device_alert_routing(call: Call, device: DevicePath, params: Params) -> ApiResult<Response> {
    let holder = of_device(&call, device).await?;
    read(call, holder, params).await
}

change_handlers! {
    path: "/api/devices/{deviceId}/alertRouting", tag: "notifications", body: AlertRoutingInput, answer: AlertRoutingView, "The updated alert routing.";
    /// Replace the alert routing of a device
    ///
    /// Sets who is notified of alerts of the device. Requires the privilege `devices.write`. The most specific routing
    /// that is set applies: that of the device, else those of its groups together, else that of the account. A routing
    /// without recipients counts as set and notifies nobody. The change applies to later alerts. Only users who see the
    /// whole account can add users and contact groups, and only admins and owners of the whole account can add
    /// webhooks. Recipients who are not users of the account may be asked by e-mail to confirm that they want messages.
    replace_device_alert_routing,
    /// Update the alert routing of a device
    ///
    /// Changes the members that the body contains and keeps the others. Requires the privilege `devices.write`. The
    /// change applies to later alerts.
    update_device_alert_routing => change_device_routing(device: DevicePath)
}

/// Delete the alert routing of a device
///
/// Removes the routing that is set on the device. Requires the privilege `devices.write`. From then on the routings of
/// the groups of the device apply, or that of the account.
#[utoipa::path(delete, path = "/api/devices/{deviceId}/alertRouting", tag = "notifications",
    responses((status = 200, description = "The alert routing was deleted.", body = Done)))]
pub async fn delete_device_alert_routing(
    call: Call,
    device: DevicePath,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    let holder = of_device(&call, device).await?;
    clear(call, holder, preconditions).await
}

/// Retrieve the alert routing of a group
///
/// Returns who is notified of alerts of devices in the group that have no routing of their own. If no routing is set on
/// the group, `isSet` is false and the lists are empty. The group must be visible to the caller.
#[utoipa::path(get, path = "/api/groups/{groupId}/alertRouting", tag = "notifications",
    responses((status = 200, description = "The alert routing.", body = AlertRoutingView)))]
pub async fn get_group_alert_routing(
    call: Call,
    group: IdPath<GroupId>,
    params: Params,
) -> ApiResult<Response> {
    let holder = of_group(group)?;
    read(call, holder, params).await
}

change_handlers! {
    path: "/api/groups/{groupId}/alertRouting", tag: "notifications", body: AlertRoutingInput, answer: AlertRoutingView, "The updated alert routing.";
    /// Replace the alert routing of a group
    ///
    /// Sets who is notified of alerts of the devices in the group. Requires the privilege `groups.write`. The routing
    /// does not apply to devices that have a routing of their own. If a device is in several groups, their routings
    /// apply together. The change applies to later alerts. Only users who see the whole account can add users and
    /// contact groups, and only admins and owners of the whole account can add webhooks. Recipients who are not users
    /// of the account may be asked by e-mail to confirm that they want messages.
    replace_group_alert_routing,
    /// Update the alert routing of a group
    ///
    /// Changes the members that the body contains and keeps the others. Requires the privilege `groups.write`. The
    /// change applies to later alerts.
    update_group_alert_routing => change_group_routing(group: IdPath<GroupId>)
}

/// Delete the alert routing of a group
///
/// Removes the routing that is set on the group. Requires the privilege `groups.write`. From then on devices without a
/// routing of their own use those of their other groups, or that of the account.
#[utoipa::path(delete, path = "/api/groups/{groupId}/alertRouting", tag = "notifications",
    responses((status = 200, description = "The alert routing was deleted.", body = Done)))]
pub async fn delete_group_alert_routing(
    call: Call,
    group: IdPath<GroupId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    let holder = of_group(group)?;
    clear(call, holder, preconditions).await
}

/// Retrieve the alert routing of the account
///
/// Returns who is notified of alerts of devices that have no routing of their own or of a group. If no routing is set
/// on the account, `isSet` is false and the lists are empty. Requires a caller who sees the whole account.
#[utoipa::path(get, path = "/api/account/alertRouting", tag = "notifications",
    responses((status = 200, description = "The alert routing.", body = AlertRoutingView)))]
pub async fn get_account_alert_routing(call: Call, params: Params) -> ApiResult<Response> {
    let holder = of_account(&call)?;
    read(call, holder, params).await
}

change_handlers! {
    path: "/api/account/alertRouting", tag: "notifications", body: AlertRoutingInput, answer: AlertRoutingView, "The updated alert routing.";
    /// Replace the alert routing of the account
    ///
    /// Sets who is notified of alerts of devices that have no routing of their own or of a group. Requires the
    /// privilege `admin` and a caller who sees the whole account. The change applies to later alerts. Recipients who
    /// are not users of the account may be asked by e-mail to confirm that they want messages.
    replace_account_alert_routing,
    /// Update the alert routing of the account
    ///
    /// Changes the members that the body contains and keeps the others. Requires the privilege `admin` and a caller who
    /// sees the whole account. The change applies to later alerts.
    update_account_alert_routing => change_account_routing()
}

/// Delete the alert routing of the account
///
/// Removes the routing that is set on the account. Requires the privilege `admin` and a caller who sees the whole
/// account. From then on nobody is notified of alerts of devices that have no routing of their own or of a group,
/// except by rules and watch lists.
#[utoipa::path(delete, path = "/api/account/alertRouting", tag = "notifications",
    responses((status = 200, description = "The alert routing was deleted.", body = Done)))]
pub async fn delete_account_alert_routing(call: Call, preconditions: Preconditions) -> ApiReply<Done> {
    let holder = of_account(&call)?;
    clear(call, holder, preconditions).await
}
