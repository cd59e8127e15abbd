//! Heard devices: trackers whose identifiers no device has. A device that gets such an identifier claims the tracker.

use perigee_core::gateways::gateway::HeardDevice;

use crate::http::prelude::*;
use crate::http::routes::gateways::raw_messages::{hex, text};

/// Tracker that sent messages under an identifier that no device has.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HeardDevice)]
pub struct HeardDeviceView {
    /// Identifier under which the tracker reported.
    #[schema(example = "356938035643809")]
    identifier: String,
    /// Protocol or feed by which the tracker reported.
    #[schema(example = "gt06")]
    source: String,
    /// IP address and port from which the last message was received.
    #[schema(example = "203.0.113.7:40112")]
    peer: String,
    /// Time at which the first message was received.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    first_heard: String,
    /// Time at which the last message was received.
    #[schema(example = "2026-05-01T12:05:00Z", format = DateTime)]
    last_heard: String,
    /// Number of messages received.
    #[schema(example = 12, minimum = 1)]
    messages: u64,
    /// Newest stored message, in hexadecimal digits. Null if none is stored.
    #[schema(example = "787805120099abec0d0a")]
    last_hex: Option<String>,
    /// Newest stored message as text. Null if none is stored, or it is not readable text.
    #[schema(example = json!(null))]
    last_text: Option<String>,
}

/// Trackers that sent messages under identifiers that no device has.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeardDeviceList {
    /// Heard devices, sorted by `lastHeard`, newest first. At most 1000.
    #[schema(value_type = Vec<HeardDeviceView>)]
    heard_devices: Vec<HeardDeviceView>,
}

impl From<HeardDevice> for HeardDeviceView {
    fn from(heard: HeardDevice) -> Self {
        Self {
            identifier: heard.identifier,
            source: heard.source,
            peer: heard.peer,
            first_heard: heard.first_heard.to_string(),
            last_heard: heard.last_heard.to_string(),
            messages: heard.messages,
            last_hex: heard.last_message.as_deref().map(hex),
            last_text: heard.last_message.as_deref().and_then(text),
        }
    }
}

/// Whether the caller may see devices on shared listeners, which could belong to any account: an operator of the server
/// in a console session, or any caller if the server has only one account.
async fn sees_unknown_devices(app: &App, caller: &Caller) -> ApiResult<bool> {
    if caller.session().is_some() && caller.user().operator {
        return Ok(true);
    }
    Ok(app.store.has_one_account().await?)
}

/// List heard devices
///
/// Returns trackers that sent messages under an identifier that no device has. The server does not reply to them. To
/// claim a tracker, create a device with its identifier, or add the identifier to `identifiers` of a device: up to 20
/// of its newest messages are then decoded and stored.
///
/// Requires the privilege `devices.write` and a caller who sees the whole account. Trackers that reported to gateways
/// of the account are always listed. Trackers that reported to a listener are listed if the server has only one
/// account, and otherwise only for operators of the server in a console session.
#[utoipa::path(get, path = "/api/heardDevices", tag = "gateways",
    responses((status = 200, description = "Heard devices, newest first.", body = HeardDeviceList)))]
pub async fn list_heard_devices(Call(app, caller): Call, params: Params) -> ApiReply<HeardDeviceList> {
    params.finish()?;
    caller.require(Privilege::DevicesWrite)?;
    caller.require_whole_account()?;
    let mut heard = app.store.list_heard(Some(caller.account().id)).await?;
    if sees_unknown_devices(&app, &caller).await? {
        heard.extend(app.store.list_heard(None).await?);
    }
    heard.sort_by_key(|device| std::cmp::Reverse(device.last_heard));
    let heard_devices = heard.into_iter().map(HeardDeviceView::from).collect();
    Ok(caller.reply(HeardDeviceList { heard_devices }))
}
