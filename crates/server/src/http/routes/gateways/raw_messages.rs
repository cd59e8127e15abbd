//! Raw messages: messages of trackers and satellite networks as received, with the result of decoding.

use std::collections::BTreeSet;
use std::fmt;

use axum::body::Body;
use http::{HeaderValue, header};
use perigee_core::gateways::gateway::{MessageFilter, MessageResult, RawMessage};
use perigee_core::id::MessageId;
use serde::Serializer;

use crate::budget::Permit;
use crate::http::held_answer::hold;
use crate::http::names::device_param;
use crate::http::prelude::*;
use crate::http::read_turn::ReadTurn;
use crate::http::reply::encode;

/// The default number of messages in a page.
const PAGE: u32 = 100;

/// Raw message: the bytes of a message as the server received them, with the result of decoding.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RawMessage)]
pub struct RawMessageView {
    /// Unique identifier of the raw message, assigned by the server. Later messages have greater IDs.
    #[schema(example = "msg_01jc2m8k4n5p6")]
    id: String,
    /// Time at which the server received the message.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    received_at: String,
    /// Protocol or feed by which the message was received.
    #[schema(example = "gt06")]
    source: String,
    /// IP address and port of the sender.
    #[schema(example = "203.0.113.7:40112")]
    peer: String,
    /// ID of the device that sent the message. Null if it is unknown, or if the message has reports of several devices.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// IDs of the devices that report in the message, in ascending order. Empty if none is known. In lists only the
    /// first 20. Empty for messages of several devices that an earlier version of the server stored, until they are
    /// reprocessed.
    #[schema(example = json!(["dev_01jc2m8k4n5p7"]))]
    device_ids: Vec<String>,
    /// Identifier under which the device reported. Null if the message has none.
    #[schema(example = "356938035643809")]
    identifier: Option<String>,
    /// Result of decoding the message.
    #[schema(value_type = MessageResultName, example = "decoded")]
    result: &'static str,
    /// Reason for which the message could not be decoded completely. Null if it could.
    #[schema(example = json!(null))]
    error: Option<String>,
    /// Size of the whole message, in bytes. In lists, `hex` and `text` contain only the first 1024 bytes.
    #[schema(example = 10, minimum = 0)]
    size: u32,
    /// Bytes of the message, in hexadecimal digits. In lists only the first 1024 bytes.
    #[schema(value_type = String, example = "787805120099abec0d0a")]
    hex: HexDigits,
    /// Bytes of the message as text. In lists only the first 1024 bytes. Null if they are not readable text.
    #[schema(example = json!(null))]
    text: Option<String>,
}

/// Result of decoding a raw message. `decoded`: decoded, and its content was stored. `duplicate`: decoded, but all of its
/// content had been stored before. `unknownDevice`: no device of the account has the identifier of the message.
/// `unparsable`: it cannot be decoded. `expiredDevice`: the device is expired, so only the raw message is stored. `test`:
/// the provider or the device marked it as a test, so only the raw message is stored.
#[derive(ToSchema)]
#[schema(as = MessageResult, rename_all = "camelCase")]
pub enum MessageResultName {
    /// The message was decoded, and its content was stored.
    Decoded,
    /// The message was decoded; all of its content had been stored before.
    Duplicate,
    /// No device of the account has the identifier of the message.
    UnknownDevice,
    /// The message cannot be decoded.
    Unparsable,
    /// The device is expired, so only the raw message is stored.
    ExpiredDevice,
    /// The provider or the device marked the message as a test, so only the raw message is stored.
    Test,
}

list! {
    /// A list of raw messages.
    pub struct RawMessageList;
    /// Raw messages, newest first.
    raw_messages: RawMessageView,
}

/// Bytes in hexadecimal digits.
pub(in crate::http::routes) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Bytes that are written as hexadecimal digits without a copy of all digits: a message may have megabytes.
struct HexDigits(Vec<u8>);

impl fmt::Display for HexDigits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chunks(512).try_for_each(|part| formatter.write_str(&hex(part)))
    }
}

impl Serialize for HexDigits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Messages up to this many bytes, nearly all of them, are encoded on the thread of the connection.
const SMALL: usize = 16 * 1024;
/// Memory for encoding a message, for each of its bytes: its text, and digits and text as JSON in a buffer that grows.
const WRITTEN_FACTOR: usize = 10;
/// Memory for encoding the ID of a device, in bytes: as text and as JSON.
const DEVICE_ID_MEMORY: usize = 80;

/// Loads a message. The permit for its memory is acquired first.
pub(in crate::http::routes) async fn load_message(
    app: &App,
    caller: &Caller,
    id: MessageId,
) -> ApiResult<(RawMessage, Permit)> {
    let missing = || not_found(Kind::Message);
    let size = app.store.find_message_size(caller.scope(), id).await?.ok_or_else(missing)?;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let permit = app.budget.bodies.try_acquire_whole(caller.payer(), size)?;
    let _turn = ReadTurn::of(app, caller.payer()).first().await?;
    let message = app.store.find_message(caller.scope(), id).await?;
    Ok((message.ok_or_else(missing)?, permit))
}

/// Encodes an answer. An answer that may need much memory is encoded on a blocking thread, which accounts for the
/// memory.
pub(in crate::http::routes) async fn answer_in_turn<T: Serialize>(
    app: &App,
    caller: &Caller,
    memory: usize,
    body: impl FnOnce() -> T + Send + 'static,
) -> ApiResult<Response> {
    let usage = Some(caller.usage());
    let write = move || encode(usage, &body());
    let written = if memory <= SMALL * WRITTEN_FACTOR {
        write()
    } else {
        app.budget.run(caller.payer(), memory, write).await?
    };
    let mut written = written.map_err(internal)?;
    // The buffer grew by doubling: up to half of it is unused until the client has read the rest.
    written.shrink_to_fit();
    let bytes = hold(app, caller.payer(), written)?;
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn answer_message(app: &App, caller: &Caller, message: RawMessage) -> ApiResult<Response> {
    let devices = message.devices.len().saturating_mul(DEVICE_ID_MEMORY);
    let memory = message.bytes.len().saturating_mul(WRITTEN_FACTOR).saturating_add(devices);
    answer_in_turn(app, caller, memory, move || RawMessageView::from(message)).await
}

/// Bytes as text, if all of it can be read.
pub(in crate::http::routes) fn text(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty())?;
    let is_readable = |letter: char| !letter.is_control() || letter.is_ascii_whitespace();
    text.chars().all(is_readable).then(|| text.to_owned())
}

impl From<RawMessage> for RawMessageView {
    fn from(message: RawMessage) -> Self {
        let device_ids: BTreeSet<_> = message.device.iter().chain(&message.devices).collect();
        Self {
            id: message.id.to_string(),
            received_at: message.received_at.to_string(),
            source: message.source,
            peer: message.peer,
            device_ids: device_ids.iter().map(ToString::to_string).collect(),
            device_id: message.device.map(|device| device.to_string()),
            identifier: message.identifier,
            result: message.result.name(),
            error: message.error,
            size: message.size,
            text: text(&message.bytes),
            hex: HexDigits(message.bytes),
        }
    }
}

/// List raw messages
///
/// Returns the raw messages of the devices that the caller may see, newest first, in pages. Users who may see the whole
/// account also get messages without a device. A page with a filter may have fewer messages than `limit`, or none,
/// although there are more: continue while there is a `nextCursor`. Any user may call this operation.
#[utoipa::path(get, path = "/api/rawMessages", tag = "gateways", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of messages in a page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("device" = Option<String>, Query, description = "Only messages in which this device reports, given by its ID, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("result" = Option<MessageResultName>, Query, description = "Only messages with this result."),
    ("source" = Option<String>, Query, description = "Only messages received by this protocol or feed.", example = "gt06"),
), responses((status = 200, description = "Raw messages, newest first.", body = RawMessageList)))]
pub async fn list_raw_messages(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let filter = MessageFilter {
        device: device_param(&app, &caller, &mut params, "device").await?,
        result: params.word("result", &MessageResult::ALL.map(|result| (result.name(), result))),
        source: params.text("source"),
    };
    let part = params.finish_page("raw-messages", PAGE)?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let (store, filter) = (store.clone(), filter.clone());
        async move { store.list_messages(scope, &filter, page).await }
    };
    answer_list(&app, &caller, "rawMessages", part, fetch, RawMessageView::from).await
}

/// Retrieve a raw message
///
/// Returns a raw message with all of its bytes. Any user who may see its device may call this operation; a message
/// without a device requires a caller who sees the whole account.
#[utoipa::path(get, path = "/api/rawMessages/{messageId}", tag = "gateways",
    responses((status = 200, description = "The raw message.", body = RawMessageView)))]
pub async fn get_raw_message(
    Call(app, caller): Call,
    IdPath(id): IdPath<MessageId>,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let id = id.ok_or_else(|| not_found(Kind::Message))?;
    let (message, _held) = load_message(&app, &caller, id).await?;
    answer_message(&app, &caller, message).await
}

/// Reprocess a raw message
///
/// Decodes a stored raw message again and stores its content, for example after its device was created, the settings of
/// its gateway or device were changed, or the server was upgraded. Content that had been stored before is not stored
/// again. Sends the event `location.created` for each location that is stored. Requires the privilege
/// `locations.write`.
#[utoipa::path(post, path = "/api/rawMessages/{messageId}/reprocess", tag = "gateways",
    responses((status = 200, description = "The raw message, with its new result.", body = RawMessageView)))]
pub async fn reprocess_raw_message(
    Call(app, caller): Call,
    IdPath(id): IdPath<MessageId>,
) -> ApiResult<Response> {
    let missing = || not_found(Kind::Message);
    let id = id.ok_or_else(missing)?;
    app.store.find_message_size(caller.scope(), id).await?.ok_or_else(missing)?;
    caller.require(Privilege::LocationsWrite)?;
    // Reprocesses one message of an account at a time: a message may have thousands of locations.
    let _turn = app.budget.reprocessing.acquire(caller.payer(), 0).await?;
    let (message, _held) = load_message(&app, &caller, id).await?;
    let changed = app.reprocessing.reprocess(message).await?.ok_or_else(missing)?;
    answer_message(&app, &caller, changed).await
}
