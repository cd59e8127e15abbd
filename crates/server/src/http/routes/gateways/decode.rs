//! Decodes messages without storing anything: for the console's page of pasted frames, and to preview templates and
//! mappings.

use std::sync::Arc;

use perigee_core::gateways::account_gateway::{Gateway, NewGateway};
use perigee_core::gateways::feed_health::GatewayState;
use perigee_core::gateways::gateway::{RawMessage, Reporter};
use perigee_core::id::{AccountId, GatewayId, MessageId};
use perigee_core::revision::Revision;
use perigee_core::text::{Lines, ShortText};
use perigee_core::time::Timestamp;
use perigee_gateways::setting::SettingError;
use perigee_gateways::{
    FEEDS, Feed, LineDefaults, Options, PROTOCOLS, check_given_options, find_feed, find_protocol,
    read_decoding,
};
use serde_json::Map;
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{Member, id, one_of, parsed_kinds};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;
use crate::http::routes::gateways::input::OptionsObject;
use crate::http::routes::gateways::raw_messages::{answer_in_turn, load_message};
use crate::http::routes::gateways::read::find;
use crate::ingest::{DeviceDecoding, FeedSettings, Pasted, PreviewBytes, PreviewRequest, preview_error};

/// The most characters of `text`.
const TEXT_MAX: usize = 64 * 1024;

/// Memory for encoding the answer, in bytes.
const ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// The text of messages.
type Frames = Lines<1, TEXT_MAX>;

input! {
    /// Messages to decode. Exactly one of `text` and `messageId` must be given.
    struct DecodeInput {
        /// Frames of trackers, one per line: hexadecimal digits, or JSON objects as `perigee decode` reads them. With
        /// `feed` or `gatewayId`, the body of one request of that feed. At most 65536 characters.
        text: Frames, nullable, example "78780d01086471700328358100093f040d0a";
        /// ID of a stored raw message to decode, instead of `text`.
        message as "messageId": StoredMessage, nullable, example null;
        /// ID of the gateway whose settings are used, as if the gateway had received the request. Requires a caller who
        /// sees the whole account. Must not be given together with `feed`.
        gateway as "gatewayId": GatewayRef, nullable, example null;
        /// Protocol of the frames. Default: recognised from the first bytes.
        protocol: ProtocolName, nullable, example "gt06";
        /// Feed of the request in `text`. Default: for a stored message, the feed by which it was received. Must not be
        /// given together with `gatewayId`.
        feed: FeedName, nullable, example null;
        /// Model of the device, for protocols that differ between models. Default: for a stored message, the model of
        /// its device.
        model: ShortText, nullable, example null;
        /// Whether all lines belong to one connection, in which a login identifies the device of the lines after it.
        /// Default: `false`.
        session: bool, or(false);
        /// Settings to decode with: for a request, options of a gateway such as `mapping`; for frames, settings as in
        /// `decoding` of a device. They are validated as if they were to be stored. With `gatewayId`, they replace the
        /// options of the gateway. For a stored message, they take precedence over the settings of its gateway or
        /// device.
        options: OptionsObject, nullable, example {};
    }
}

/// Declares kinds of text that are one of these names.
macro_rules! name_kinds {
    ($($(#[doc = $doc:literal])* $kind:ident => $names:expr;)+) => {$(
        $(#[doc = $doc])*
        enum $kind {}

        impl Member for $kind {
            type Value = String;

            fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
                ShortText::read(fields, name)
            }

            fn schema() -> RefOr<Schema> {
                one_of($names)
            }
        }
    )+};
}

name_kinds! {
    /// The name of a protocol, or an empty text for none.
    ProtocolName => PROTOCOLS.iter().map(|protocol| protocol.name).chain([""]);
    /// The name of a feed.
    FeedName => FEEDS.iter().map(|feed| feed.name);
}

parsed_kinds! {
    /// The id of a stored message.
    StoredMessage => MessageId, "the id of a raw message", id(MessageId::PREFIX);
    /// The id of a gateway.
    GatewayRef => GatewayId, "the id of a gateway", id(GatewayId::PREFIX);
}

/// Content of one decoded message.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the JSON that the gateways crate writes")]
#[schema(as = DecodedMessage, rename_all = "camelCase")]
pub struct DecodedMessageView {
    /// Protocol or feed by which the message was decoded. Absent if none fits.
    #[schema(example = "gt06")]
    protocol: Option<String>,
    /// Model of the device, if the message contains it.
    #[schema(example = json!(null))]
    model: Option<String>,
    /// Identifiers of the device in the message. The device may be registered under any of them.
    #[schema(example = json!(["864717003283581"]))]
    identifiers: Vec<String>,
    /// ID of the device of a message in a request. Null if no device of the account has the identifiers. Absent for
    /// frames, and for callers who may not see the whole account.
    #[schema(example = json!(null))]
    device_id: Option<String>,
    /// Reports in the message, as locations of the API with the additional member `located`. If `located` is `false`,
    /// the report has no position.
    #[schema(example = json!([{"located": true, "latitude": 42.5, "longitude": -8.25, "speed": 35}]))]
    reports: Vec<Map<String, Value>>,
    /// Replies that the server would send to the tracker. Nothing is sent by this operation.
    replies: Vec<DecodedReply>,
    /// Text that a person wrote. Absent if there is none.
    #[schema(example = json!(null))]
    text: Option<String>,
    /// Step of an emergency, if the message is one: `declare` begins it, `confirm` confirms it, `repeat` repeats it,
    /// `cancel` ends it.
    #[schema(example = json!(null))]
    sos: Option<String>,
    /// Whether the provider marked the message as a test.
    #[schema(example = false)]
    test: Option<bool>,
    /// Photos and other files whose last part is in the message.
    #[schema(example = json!(null))]
    files: Option<Vec<Map<String, Value>>>,
    /// Reason for which the message could not be decoded completely, for example a wrong checksum. Absent or null if it
    /// could.
    #[schema(example = json!(null))]
    error: Option<String>,
}

/// Reply to a tracker.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the JSON that the gateways crate writes")]
pub struct DecodedReply {
    /// Bytes of the reply, in hexadecimal digits.
    #[schema(example = "78780501000955940d0a")]
    hex: String,
}

/// Contents of decoded messages.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecodedMessages {
    /// Decoded messages, in order. At most 200, each with at most 200 reports.
    #[schema(value_type = Vec<DecodedMessageView>)]
    messages: Vec<Value>,
}

fn problem(member: &str, detail: impl Into<String>) -> Problem {
    Problem { pointer: Pointer::root().member(member), detail: detail.into() }
}

fn refuse(problem: Problem) -> ApiError {
    invalid_body(vec![problem])
}

fn refuse_options(errors: &[SettingError]) -> ApiResult<()> {
    let base = Pointer::root().member("options");
    let problems = errors.iter().map(Problem::of_setting);
    let problems: Vec<Problem> =
        problems.map(|problem| Problem { pointer: problem.pointer.below(&base), ..problem }).collect();
    if problems.is_empty() { Ok(()) } else { Err(invalid_body(problems)) }
}

/// Settings for frames, checked like those of a device, except `confirm`, which is an option of listeners.
fn frame_options(options: Map<String, Value>) -> ApiResult<Options> {
    let mut of_device = options.clone();
    of_device.remove("confirm");
    refuse_options(&read_decoding(&of_device).err().unwrap_or_default())?;
    Ok(Options::new(options))
}

fn without_nulls(mut options: Map<String, Value>) -> Map<String, Value> {
    options.retain(|_, value| !value.is_null());
    options
}

/// The settings by which a stored frame is decoded: those of its device, unless the caller gives others.
async fn of_device(
    app: &App,
    message: &RawMessage,
    model: Option<&str>,
    options: Options,
) -> ApiResult<DeviceDecoding> {
    let Some(protocol) = find_protocol(&message.source) else {
        return Ok(DeviceDecoding { model: model.map(str::to_owned), options });
    };
    let reporter = app.store.find_message_device(message).await?.map(|reporter| match model {
        Some(model) => Reporter { model: Some(model.to_owned()), reported_model: None, ..reporter },
        None => reporter,
    });
    let settings = app.ingest.decodings.of_reporter(protocol, reporter.as_ref(), model);
    // The password was checked when the message was received.
    Ok(DeviceDecoding { options: settings.options.without("password").overlaid(&options), ..settings })
}

/// The error for a name that does not exist.
fn one_of_these<'n>(member: &str, names: impl Iterator<Item = &'n str>) -> String {
    format!("\"{member}\" must be one of {}.", names.collect::<Vec<_>>().join(", "))
}

fn read_feed(name: Option<&str>) -> ApiResult<Option<&'static Feed>> {
    let Some(name) = name else { return Ok(None) };
    let unknown = || refuse(problem("feed", one_of_these("feed", FEEDS.iter().map(|feed| feed.name))));
    find_feed(name).map(Some).ok_or_else(unknown)
}

/// A gateway that is not stored, to try settings with.
fn tried_gateway(account: AccountId, feed: &Feed, now: Timestamp) -> Gateway {
    Gateway {
        id: GatewayId::from_i64(0),
        account,
        settings: NewGateway {
            feed: feed.name.to_owned(),
            name: None,
            device: None,
            options: "{}".to_owned(),
            secret_hash: [0; 32],
            polled: false,
        },
        revision: Revision::FIRST,
        created_by: None,
        creation: now,
        last_modified: None,
        previous_until: None,
        state: GatewayState::default(),
    }
}

/// The gateway for decoding a request, and its options. Given options replace those of a gateway that the caller names;
/// otherwise they take precedence over the stored ones.
async fn gateway_for(
    app: &App,
    caller: &Caller,
    feed: &'static Feed,
    named: Option<Gateway>,
    message: Option<&RawMessage>,
    given: Option<Map<String, Value>>,
) -> ApiResult<(Gateway, Options)> {
    let replaces = named.is_some();
    let found = match (named, message.and_then(|message| message.gateway)) {
        (None, Some(id)) => app.store.find_message_gateway(caller.account().id, id).await?,
        (named, _) => named,
    };
    let gateway = found
        .filter(|gateway| gateway.settings.feed == feed.name)
        .unwrap_or_else(|| tried_gateway(caller.account().id, feed, app.clock.now()));
    let stored: Map<String, Value> = serde_json::from_str(&gateway.settings.options).unwrap_or_default();
    let options = match given {
        None => stored,
        Some(given) => {
            let given = without_nulls(given);
            refuse_options(&check_given_options(feed, &given))?;
            if replaces { given } else { stored.into_iter().chain(given).collect() }
        }
    };
    Ok((gateway, Options::new(options)))
}

/// Decode messages
///
/// Decodes frames of trackers or a request of a feed, and returns their content. Nothing is stored, and no reply is
/// sent. With `feed` and `options`, settings of a gateway can be tried before it is created; with `gatewayId`, those of
/// an existing gateway are used. With `messageId`, a stored raw message is decoded, optionally with other settings, for
/// example to try a template or a mapping. Requires the privilege `devices.write`.
///
/// Decoding may use about 100 times the size of the body in memory, and at most 64 MiB. If a body needs more, the
/// messages decoded until then are returned, and the last one has an `error`.
#[utoipa::path(post, path = "/api/gateways/decode", tag = "gateways", request_body = DecodeInput,
    responses(
        (status = 200, description = "The decoded content of each message.", body = DecodedMessages),
        (status = 404, description = "The raw message or the gateway does not exist, or the caller may not see it."),
    ))]
pub async fn decode_messages(Call(app, caller): Call, params: Params, body: JsonBody) -> ApiResult<Response> {
    params.finish()?;
    caller.require(Privilege::DevicesWrite)?;
    let input = read_body(&body.value, &[], |input: DecodeInput, _| Some(input))?;
    let named = match input.gateway {
        Some(_) if input.feed.is_some() => {
            return Err(refuse(problem("feed", "\"feed\" must not be given together with \"gatewayId\".")));
        }
        Some(id) => Some(find(&app, &caller, Some(id)).await?),
        None => None,
    };
    let feed = read_feed(input.feed.as_deref().or(named.as_ref().map(|named| named.settings.feed.as_str())))?;
    let protocol = input.protocol.filter(|name| !name.is_empty());
    if protocol.as_deref().is_some_and(|name| find_protocol(name).is_none()) {
        let accepted = PROTOCOLS.iter().map(|protocol| protocol.name);
        return Err(refuse(problem("protocol", one_of_these("protocol", accepted))));
    }
    let model = input.model.filter(|model| !model.is_empty());
    let now = app.clock.now();
    let messages = match (input.text, input.message) {
        (Some(text), None) => {
            if let Some(feed) = feed {
                let (gateway, options) = gateway_for(&app, &caller, feed, named, None, input.options).await?;
                let settings = FeedSettings { feed, options: Arc::new(options), at: now };
                let bytes = PreviewBytes::Body(text);
                let request = PreviewRequest { settings, bytes, with_devices: caller.scope().is_whole() };
                app.ingest.reader.preview_request(&gateway, request).await?
            } else {
                let options = frame_options(without_nulls(input.options.unwrap_or_default()))?;
                let defaults = LineDefaults { protocol, model, session: input.session, options };
                app.ingest.reader.preview_frames(caller.account().id, Pasted { text, defaults }, now).await?
            }
        }
        (None, Some(id)) => {
            let (message, _held) = load_message(&app, &caller, id).await?;
            if let Some(protocol) = find_protocol(&message.source).filter(|_| feed.is_none()) {
                let options = frame_options(without_nulls(input.options.unwrap_or_default()))?;
                let settings = of_device(&app, &message, model.as_deref(), options).await?;
                app.ingest.reader.preview_frame(protocol, message, settings).await?
            } else if let Some(feed) = feed.or_else(|| find_feed(&message.source)) {
                let (gateway, options) =
                    gateway_for(&app, &caller, feed, named, Some(&message), input.options).await?;
                let settings = FeedSettings { feed, options: Arc::new(options), at: message.received_at };
                let bytes = PreviewBytes::Stored(message.bytes);
                let request = PreviewRequest { settings, bytes, with_devices: caller.scope().is_whole() };
                app.ingest.reader.preview_request(&gateway, request).await?
            } else {
                preview_error(
                    &message.source,
                    "this version of the server does not support the protocol or feed",
                )
            }
        }
        _ => {
            return Err(refuse(problem("text", "Give either \"text\" or \"messageId\".")));
        }
    };
    answer_in_turn(&app, &caller, ANSWER_BYTES, move || DecodedMessages { messages }).await
}
