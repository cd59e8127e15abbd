//! Devices that were heard and that no account has. Giving a device their identifier claims them.

use axum::extract::State;
use perigee_core::gateway::HeardDevice;
use perigee_core::privilege::Privilege;
use serde::Serialize;
use utoipa::ToSchema;

use super::raw_messages::{hex, text};
use crate::app::App;
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, Params};
use crate::http::reply::Reply;

/// A device that was heard and that no account has.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HeardDevice)]
pub struct HeardDeviceView {
    /// The name under which it reported.
    #[schema(example = "356938035643809")]
    identifier: String,
    /// The protocol or the feed that it came by.
    #[schema(example = "gt06")]
    source: String,
    /// Address and port that it was last heard from.
    #[schema(example = "203.0.113.7:40112")]
    peer: String,
    /// When it was first heard.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    first_heard: String,
    /// When it was last heard.
    #[schema(example = "2026-05-01T12:05:00Z", format = DateTime)]
    last_heard: String,
    /// Messages it has sent.
    #[schema(example = 12, minimum = 1)]
    messages: u64,
    /// Its newest message that is kept, in hexadecimal digits.
    #[schema(example = "787805120099abec0d0a")]
    last_hex: Option<String>,
    /// The same as text; null if it is none.
    #[schema(example = json!(null))]
    last_text: Option<String>,
}

/// Devices that were heard and that no account has.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeardDeviceList {
    /// The devices, the last heard first; at most 1000.
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

/// Whether the caller may see devices that could be anybody's: an operator of the server signed in to the console, or
/// anybody if there is no other account that they could belong to.
async fn sees_unknown_devices(app: &App, caller: &Caller) -> ApiResult<bool> {
    if caller.session().is_some() && caller.user().operator {
        return Ok(true);
    }
    Ok(app.store.has_one_account().await?)
}

/// List devices that were heard and that no account has.
///
/// Trackers that connected with an identifier that no device has. They get no answer. To claim one, create a device with
/// its identifier, or add it to the `identifiers` of a device: the newest 20 messages that were kept are then stored.
///
/// Needs `devices.write` and a user who sees the whole account. What the gateways of the account heard is shown; what is heard
/// on listeners that several accounts share is shown to operators of the server in a console session only.
#[utoipa::path(get, path = "/api/heardDevices", tag = "gateways",
    responses((status = 200, description = "The devices, the last heard first.", body = HeardDeviceList)))]
pub async fn list_heard_devices(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Reply<HeardDeviceList>> {
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
