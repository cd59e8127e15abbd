//! The photo of a device that users set.

use perigee_core::devices::device::DeviceRef;
use perigee_core::id::DeviceId;
use perigee_core::revision::Revision;

use crate::http::extract::ImageBody;
use crate::http::prelude::*;
use crate::http::routes::devices::view::OneDevice;
use crate::http::routes::devices::{find_device, reply_device};

/// The device that the caller may change, and the revision that it must still have when it is changed.
async fn find_seen(
    app: &App,
    caller: &Caller,
    device: Option<&DeviceRef>,
    preconditions: &Preconditions,
) -> ApiResult<(DeviceId, Option<Revision>)> {
    let present = find_device(app, caller, device).await?;
    caller.require(Privilege::DevicesWrite)?;
    preconditions.check(Kind::Device, present.revision)?;
    Ok((present.id, preconditions.names_revision().then_some(present.revision)))
}

/// Set the photo of a device
///
/// Replaces the photo of a device with a JPEG, PNG or WebP image of at most 1 MiB, 8,192 pixels on a side and 32
/// million pixels in total. The format is recognised from the first bytes, so `application/octet-stream` is accepted as
/// well. Metadata, such as the position at which the photo was taken, is removed. The photo is the file whose ID is
/// `photo` of the device. It is stored until it is deleted, or the device is. The `ETag` of the device changes.
/// Requires the privilege `devices.write`. Sends the event `device.updated`.
#[utoipa::path(put, path = "/api/devices/{deviceId}/photo", tag = "devices", request_body(content(
    (String = "image/jpeg", example = json!("the bytes of the photo")),
    (String = "image/png", example = json!("the bytes of the photo")),
    (String = "image/webp", example = json!("the bytes of the photo")),
    (String = "application/octet-stream", example = json!("the bytes of the photo")),
)), responses((status = 200, description = "The device, with the new photo.", body = OneDevice)))]
pub async fn replace_device_photo(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    preconditions: Preconditions,
    body: ImageBody,
) -> ApiReply<OneDevice> {
    let (device, seen) = find_seen(&app, &caller, device.as_ref(), &preconditions).await?;
    let (photo, _permit) = body.receive(&app).await?;
    let device = app.store.set_photo(&caller.actor(), device, seen, Some(photo)).await?;
    Ok(reply_device(&caller, device))
}

/// Delete the photo of a device
///
/// Deletes the photo of a device. If the device had a photo, its `ETag` changes and the event `device.updated` is sent.
/// Requires the privilege `devices.write`.
#[utoipa::path(delete, path = "/api/devices/{deviceId}/photo", tag = "devices",
    responses((status = 200, description = "The device, without a photo.", body = OneDevice)))]
pub async fn delete_device_photo(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    preconditions: Preconditions,
) -> ApiReply<OneDevice> {
    let (device, seen) = find_seen(&app, &caller, device.as_ref(), &preconditions).await?;
    let device = app.store.set_photo(&caller.actor(), device, seen, None).await?;
    Ok(reply_device(&caller, device))
}
