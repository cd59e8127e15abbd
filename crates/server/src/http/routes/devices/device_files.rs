//! Photos and other files that devices upload.

use axum::body::Body;
use http::{HeaderName, HeaderValue, header};
use perigee_core::devices::device_file::{DeviceFile, MediaType};
use perigee_core::devices::device_photo::NewPhoto;
use perigee_core::devices::image::strip;
use perigee_core::id::FileId;

use crate::http::extract::DeviceFilePath;
use crate::http::held_answer::hold_parts;
use crate::http::prelude::*;
use crate::http::routes::devices::find_device_id;

/// The default number of files in a page.
const PAGE: u32 = 100;
/// A file that is opened by itself can neither run nor load anything.
const SANDBOX: &str = "default-src 'none'; sandbox";

/// File that a device uploaded.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeviceFile)]
pub struct DeviceFileView {
    /// Unique identifier of the file, assigned by the server. Later files have greater IDs.
    #[schema(example = "fil_01jc2m8k4n5p6")]
    id: String,
    /// ID of the device that uploaded the file.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Name of the file as given by the device, or else a name derived from the kind of file.
    #[schema(example = "media-9-channel-1.jpg")]
    name: String,
    /// Media type, recognised from the first bytes of the file and not from its name.
    #[schema(example = "image/jpeg")]
    media_type: &'static str,
    /// Size of the file, in bytes.
    #[schema(example = 48_213, minimum = 1, maximum = 1_048_576)]
    size: u32,
    /// Time at which the file was captured, by the clock of the device. Null if the device did not report it.
    #[schema(example = "2026-05-01T11:59:48Z", format = DateTime)]
    captured_at: Option<String>,
    /// Time at which the server received the last part of the file.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    received_at: String,
    /// Protocol by which the file was received.
    #[schema(example = "jt808")]
    source: String,
}

list! {
    /// Files of a device.
    pub struct DeviceFileList;
    /// Files of the device, newest first.
    files: DeviceFileView,
}

impl From<DeviceFile> for DeviceFileView {
    fn from(file: DeviceFile) -> Self {
        Self {
            id: file.id.to_string(),
            device_id: file.device.to_string(),
            name: file.name,
            media_type: file.media_type.name(),
            size: file.size,
            captured_at: file.captured_at.map(|at| at.to_string()),
            received_at: file.received_at.to_string(),
            source: file.source,
        }
    }
}

/// List files of a device
///
/// Returns the photos, sounds and other files that a device uploaded, newest first, in pages. The newest 100 files of a
/// device are stored, up to 20 MiB in total, with the retention of raw messages. Any user who may see the device may
/// call this operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/files", tag = "devices", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of files in a page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Files of the device, newest first.", body = DeviceFileList)))]
pub async fn list_device_files(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiResult<Response> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let part = params.finish_page("device-files", PAGE)?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_files(scope, device, page).await }
    };
    answer_list(&app, &caller, "files", part, fetch, DeviceFileView::from).await
}

/// The name in `Content-Disposition`, without characters that would need an encoding.
fn disposition(file: &DeviceFile) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | ' ');
    let name: String = file.name.chars().filter(is_plain).collect();
    let kind = if file.media_type.is_shown_inline() { "inline" } else { "attachment" };
    let name = if name.trim_matches(['.', ' ']).is_empty() { "file" } else { name.trim() };
    format!("{kind}; filename=\"{name}\"")
}

/// Download a file of a device
///
/// Returns the content of a file that a device uploaded, or of the photo that a user set. `Content-Disposition` is
/// `inline` for images and `attachment` for other files. Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/files/{fileId}", tag = "devices",
    responses((status = 200, description = "Content of the file.", content(
    (String = "image/jpeg", example = json!("the bytes of the file")),
    (String = "image/png", example = json!("the bytes of the file")),
    (String = "image/gif", example = json!("the bytes of the file")),
    (String = "image/webp", example = json!("the bytes of the file")),
    (String = "application/octet-stream", example = json!("the bytes of the file")),
))))]
pub async fn get_device_file(
    Call(app, caller): Call,
    DeviceFilePath(device, id): DeviceFilePath,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let missing = || not_found(Kind::File);
    let id: FileId = id.ok_or_else(missing)?;
    // Acquired before the bytes are read: otherwise many parallel requests would hold many files in memory.
    let permit = hold_parts(&app, caller.payer(), DeviceFile::BYTES_MAX)?;
    let (file, bytes) = app.store.find_file(caller.scope(), device, id).await?.ok_or_else(missing)?;
    let bytes = match file.source.as_str() {
        // Photos that were set before metadata was removed on upload still have it.
        NewPhoto::SOURCE => strip(&bytes).unwrap_or(bytes),
        _ => bytes,
    };
    let mut response = Response::new(Body::from(permit.attach(bytes)));
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: HeaderValue| headers.insert(name, value);
    let media_type = match file.media_type {
        media if media.is_shown_inline() => media.name(),
        _ => MediaType::Other.name(),
    };
    set(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if let Ok(value) = HeaderValue::try_from(disposition(&file)) {
        set(header::CONTENT_DISPOSITION, value);
    }
    set(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    set(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
    set(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"));
    Ok(response)
}
