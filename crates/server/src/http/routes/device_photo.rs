//! The photo of a device that users set.

use axum::extract::State;
use perigee_core::privilege::Privilege;

use super::devices::view::OneDevice;
use super::devices::{find_device_id, reply_device};
use crate::app::App;
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, DevicePath, ImageBody, Params};
use crate::http::reply::Reply;

/// Set the photo of a device.
///
/// Replaces the current one. Accepts a JPEG, PNG or WebP image of up to 1 MiB, 8,192 pixels on a side and 32 million pixels,
/// recognized by its first bytes. Metadata such as the place where the photo was taken is removed. Read it as the file whose
/// id `photo` of the device is. It is kept until it is removed or the device is deleted. Requires `devices.write`.
#[utoipa::path(put, path = "/api/devices/{deviceId}/photo", tag = "devices", params(
    ("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7"),
), request_body(content(
    (String = "image/jpeg", example = json!("the bytes of the photo")),
    (String = "image/png", example = json!("the bytes of the photo")),
    (String = "image/webp", example = json!("the bytes of the photo")),
)), responses((status = 200, description = "The device with its photo.", body = OneDevice)))]
pub async fn replace_device_photo(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    params: Params,
    body: ImageBody,
) -> ApiResult<Reply<OneDevice>> {
    params.finish()?;
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    caller.require(Privilege::DevicesWrite)?;
    let (photo, _permit) = body.receive(&app).await?;
    let device = app.store.set_photo(&caller.actor(), device, Some(photo)).await?;
    Ok(reply_device(&caller, device))
}

/// Remove the photo of a device.
#[utoipa::path(delete, path = "/api/devices/{deviceId}/photo", tag = "devices", params(
    ("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7"),
), responses((status = 200, description = "The device without a photo.", body = OneDevice)))]
pub async fn delete_device_photo(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiResult<Reply<OneDevice>> {
    params.finish()?;
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    caller.require(Privilege::DevicesWrite)?;
    let device = app.store.set_photo(&caller.actor(), device, None).await?;
    Ok(reply_device(&caller, device))
}
