//! Messages of trackers and satellite networks as they came, and what became of them.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderValue, header};
use perigee_core::error::Kind;
use perigee_core::gateway::{MessageFilter, MessageResult, RawMessage};
use perigee_core::id::MessageId;
use perigee_core::privilege::Privilege;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::budget::Permit;
use crate::http::error::{ApiResult, internal, not_found};
use crate::http::extract::{Caller, IdPath, Params};
use crate::http::held_answer::hold;
use crate::http::list::answer_list;
use crate::http::names::device_param;
use crate::http::read_turn::ReadTurn;
use crate::http::reply::encode;

/// Messages of a page unless the client says otherwise.
const PAGE: u32 = 100;

/// A message as it came.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RawMessage)]
pub struct RawMessageView {
    /// Its id; later messages have larger ones.
    #[schema(example = "msg_01jc2m8k4n5p6")]
    id: String,
    /// When the service received it.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    received_at: String,
    /// The protocol or the feed that it came by.
    #[schema(example = "gt06")]
    source: String,
    /// Address and port of the sender.
    #[schema(example = "203.0.113.7:40112")]
    peer: String,
    /// The device that sent it; null if it is not known.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// The name under which the device reported.
    #[schema(example = "356938035643809")]
    identifier: Option<String>,
    /// What became of it.
    #[schema(value_type = MessageResultName, example = "decoded")]
    result: &'static str,
    /// Why it could not be read, or not in full.
    #[schema(example = json!(null))]
    error: Option<String>,
    /// Bytes of the whole message, also where only its beginning is listed.
    #[schema(example = 10, minimum = 0)]
    size: u32,
    /// Its bytes in hexadecimal digits; in a list the first 1024.
    #[schema(example = "787805120099abec0d0a")]
    hex: String,
    /// The same as text; null if they are none.
    #[schema(example = json!(null))]
    text: Option<String>,
}

/// What became of a message.
#[derive(ToSchema)]
#[schema(as = MessageResult, rename_all = "camelCase")]
pub enum MessageResultName {
    /// It was read, and what it says is stored.
    Decoded,
    /// Everything it says was stored before.
    Duplicate,
    /// No device of the account has its identifier.
    UnknownDevice,
    /// It cannot be read.
    Unparsable,
    /// Its device is expired: only the message is stored.
    ExpiredDevice,
    /// The provider or the device marked it as a test: only the message is stored.
    Test,
}

/// Messages as they came.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RawMessageList {
    /// The messages, newest first.
    #[schema(value_type = Vec<RawMessageView>)]
    raw_messages: Vec<RawMessageView>,
    /// Where to continue, when there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Messages up to this many bytes, nearly all of them, are read and answered as any other resource.
const SMALL: usize = 16 * 1024;
/// Memory for writing a message, for each of its bytes: hexadecimal digits, text, and both as JSON.
const WRITTEN_FACTOR: usize = 10;

/// Reads a message. The memory of a large one is permitted before, and given back when the permit is dropped.
pub(super) async fn load_message(
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

/// Writes an answer that may be large, off the connection threads and within so many bytes of memory.
pub(super) async fn answer_in_turn<T: Serialize>(
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
    let bytes = hold(app, caller.payer(), written.map_err(internal)?)?;
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn answer_message(app: &App, caller: &Caller, message: RawMessage) -> ApiResult<Response> {
    let memory = message.bytes.len().saturating_mul(WRITTEN_FACTOR);
    answer_in_turn(app, caller, memory, move || RawMessageView::from(message)).await
}

/// Bytes as text, if all of it can be read.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty())?;
    let is_readable = |letter: char| !letter.is_control() || letter.is_ascii_whitespace();
    text.chars().all(is_readable).then(|| text.to_owned())
}

impl From<RawMessage> for RawMessageView {
    fn from(message: RawMessage) -> Self {
        Self {
            id: message.id.to_string(),
            received_at: message.received_at.to_string(),
            source: message.source,
            peer: message.peer,
            device_id: message.device.map(|device| device.to_string()),
            identifier: message.identifier,
            result: message.result.name(),
            error: message.error,
            size: message.size,
            hex: hex(&message.bytes),
            text: text(&message.bytes),
        }
    }
}

/// List messages as they came.
///
/// Newest first and always in pages. A page with a filter may have fewer messages than asked for, or none, although there
/// are more: continue while there is a `nextCursor`. Messages without a device are shown to users who see the whole account.
#[utoipa::path(get, path = "/api/rawMessages", tag = "gateways", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of messages; 100 by default.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
    ("device" = Option<String>, Query, description = "Only of this device, by its id, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("result" = Option<MessageResultName>, Query, description = "Only messages of which this became."),
    ("source" = Option<String>, Query, description = "Only messages that came by this protocol or feed.", example = "gt06"),
), responses((status = 200, description = "Messages, newest first.", body = RawMessageList)))]
pub async fn list_raw_messages(
    State(app): State<App>,
    caller: Caller,
    mut params: Params,
) -> ApiResult<Response> {
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

/// Read a message as it came.
#[utoipa::path(get, path = "/api/rawMessages/{messageId}", tag = "gateways",
    params(("messageId" = String, Path, description = "The message's id.", example = "msg_01jc2m8k4n5p6")),
    responses((status = 200, description = "The message.", body = RawMessageView)))]
pub async fn get_raw_message(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<MessageId>,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let id = id.ok_or_else(|| not_found(Kind::Message))?;
    let (message, _held) = load_message(&app, &caller, id).await?;
    answer_message(&app, &caller, message).await
}

/// Decode a message again.
///
/// After its device was created, or with a newer version of the service. What it says is stored; what was stored before is
/// not stored twice. Needs `locations.write`.
#[utoipa::path(post, path = "/api/rawMessages/{messageId}/reprocess", tag = "gateways",
    params(("messageId" = String, Path, description = "The message's id.", example = "msg_01jc2m8k4n5p6")),
    responses((status = 200, description = "The message with its new result.", body = RawMessageView)))]
pub async fn reprocess_raw_message(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<MessageId>,
) -> ApiResult<Response> {
    let missing = || not_found(Kind::Message);
    let id = id.ok_or_else(missing)?;
    app.store.find_message_size(caller.scope(), id).await?.ok_or_else(missing)?;
    caller.require(Privilege::LocationsWrite)?;
    // One of an account at a time: a message may have thousands of locations.
    let _turn = app.budget.reprocessing.acquire(caller.payer(), 0).await?;
    let (message, _held) = load_message(&app, &caller, id).await?;
    let changed = app.ingest.reprocess(message).await?.ok_or_else(missing)?;
    answer_message(&app, &caller, changed).await
}
