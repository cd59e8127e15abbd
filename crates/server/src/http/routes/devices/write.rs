//! Creating, changing and deleting devices.

use perigee_core::access::actor::Reach;
use perigee_core::id::GroupId;

use super::input::{DeviceInput, follow_date, read_device};
use super::read::{find_device, reply_device};
use super::view::{DeviceView, OneDevice};
use crate::http::prelude::*;

/// The members that refer to other resources by name or ID.
pub(super) const NAMES: &[(&str, Named)] = &[("groups", Named::Group)];

/// Requires the privilege to change groups if the groups of a device change, because that changes who may see the
/// device. A device that a user of one group creates or changes always stays in that group.
fn settle_groups(caller: &Caller, before: &[GroupId], wanted: &mut Vec<GroupId>) -> ApiResult<()> {
    if let Reach::Group(own) = caller.scope().reach {
        wanted.push(own);
        wanted.sort_unstable();
        wanted.dedup();
    }
    if before == wanted.as_slice() { Ok(()) } else { caller.require(Privilege::GroupsWrite) }
}

/// Create a device
///
/// Creates a device. It uses a licence of the account unless its expiration date is in the past; if no licence is free,
/// the request fails with `license-exhausted`. It fails with `identifier-taken` if another device of the account has
/// one of the identifiers, and with `device-quota-reached` if the caller has created as many devices as `adminDevices`
/// of the user allows. Requires the privilege `devices.write`, and `groups.write` to put the device into groups. If the
/// caller may see only one group, the device is added to that group. Sends the event `device.created`.
#[utoipa::path(post, path = "/api/devices", tag = "devices", request_body = DeviceInput,
    responses((status = 201, description = "The device was created.", body = OneDevice)))]
pub async fn create_device(Call(app, caller): Call, once: Once, body: JsonBody) -> ApiReply<OneDevice> {
    caller.require(Privilege::DevicesWrite)?;
    let own: &[GroupId] = match caller.scope().reach {
        Reach::Account => &[],
        Reach::Group(group) => &[group],
        Reach::Device(_) => {
            return Err(forbidden(
                "A user who may see only one device cannot create devices. Ask a user who may see the whole account.",
            ));
        }
    };
    let mut body = body.nested("device");
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let mut settings = read_device(&body.value)?;
    settle_groups(&caller, own, &mut settings.groups)?;
    let held = once.hold(&app, &caller, &body)?;
    let created = app.store.create_device(&caller.actor(), settings, held.key.clone()).await;
    let device = attribute_reference(created, "groups")??.into_inner();
    let address = app.base_url.join(&format!("/api/devices/{}", device.id));
    Ok(reply_device(&caller, device).created(address))
}

change_handlers! {
    path: "/api/devices/{deviceId}", tag: "devices", body: DeviceInput, answer: OneDevice, "The updated device.";
    /// Replace a device
    ///
    /// Replaces all settings of a device. A member that is omitted is set to its default: without `limits`, for example,
    /// the device has no limits and does not expire. The answer of `GET` may be sent back as it is, inside `device` or
    /// without it; members that only the server sets are ignored. An expired device that gets a later expiration date, or
    /// none, uses a licence again; if no licence is free, the request fails with `license-exhausted`. Requires the
    /// privilege `devices.write`, and `groups.write` to change the groups. Sends the event `device.updated`.
    replace_device,
    /// Update a device
    ///
    /// Changes the given settings of a device and leaves the others. Licences, privileges and events are those of
    /// `PUT /api/devices/{deviceId}`.
    update_device => change_device(device: DevicePath)
}

async fn change_device(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    change: Change,
) -> ApiReply<OneDevice> {
    let change = change.nested("device");
    let changed = retry_changed(&change.preconditions, || async {
        let present = find_device(&app, &caller, device.as_ref()).await?;
        caller.require(Privilege::DevicesWrite)?;
        change.preconditions.check(Kind::Device, present.revision)?;
        let (id, seen, groups) = (present.id, present.revision, present.settings.groups.clone());
        let mut wanted = change.apply(&DeviceView::at(present, caller.now())).await?;
        if !change.sets(&["limits", "expires"]) {
            follow_date(&mut wanted);
        }
        let resolved = resolve_names(&app, &caller, &mut wanted, NAMES).await;
        resolved.map_err(|error| change.rebase(error))?;
        let mut settings = read_device(&wanted).map_err(|error| change.rebase(error))?;
        settle_groups(&caller, &groups, &mut settings.groups)?;
        attribute_reference(app.store.replace_device(&caller.actor(), id, seen, settings).await, "groups")
    });
    let device = changed.await?;
    app.ingest.devices.invalidate_device(device.id);
    Ok(reply_device(&caller, device))
}

/// Delete a device
///
/// Deletes a device with its locations and alerts, and frees its licence. This cannot be undone. The request fails with
/// `in-use` while a user may see only this device. Requires the privilege `devices.write`. Sends the event
/// `device.deleted`.
#[utoipa::path(delete, path = "/api/devices/{deviceId}", tag = "devices",
    responses((status = 200, description = "The device was deleted.", body = Done)))]
pub async fn delete_device(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let present = find_device(&app, &caller, device.as_ref()).await?;
        caller.require(Privilege::DevicesWrite)?;
        preconditions.check(Kind::Device, present.revision)?;
        Ok(app.store.delete_device(&caller.actor(), present.id, Some(present.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}
