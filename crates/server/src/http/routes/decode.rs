//! Decodes messages without storing anything: for the console's page of pasted frames, and to preview templates and
//! mappings.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use perigee_core::account_gateway::{Gateway, NewGateway};
use perigee_core::feed_health::GatewayState;
use perigee_core::gateway::{RawMessage, Reporter};
use perigee_core::id::{AccountId, GatewayId, MessageId};
use perigee_core::privilege::Privilege;
use perigee_core::revision::Revision;
use perigee_core::text::{Lines, ShortText};
use perigee_core::time::Timestamp;
use perigee_gateways::setting::SettingError;
use perigee_gateways::{
    FEEDS, Feed, LineDefaults, Options, PROTOCOLS, check_given_options, find_feed, find_protocol,
    read_decoding,
};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::gateways::input::OptionsObject;
use super::gateways::read::find;
use super::raw_messages::{answer_in_turn, load_message};
use crate::app::App;
use crate::http::error::{ApiError, ApiResult, invalid_body};
use crate::http::extract::{Caller, JsonBody, Params};
use crate::http::input::{Member, id, input, one_of, parsed_kinds, read_body};
use crate::http::json::{Field, Fields, Pointer, Problem};
use crate::ingest::{DeviceDecoding, FeedSettings, Pasted, PreviewBytes, PreviewRequest, preview_error};

/// The most characters of pasted text.
const TEXT_MAX: usize = 64 * 1024;

/// Memory for writing the answer, in bytes.
const ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// The text of messages.
type Frames = Lines<1, TEXT_MAX>;

input! {
    /// Messages to decode: `text`, or the stored message of `messageId`.
    struct DecodeInput {
        /// Frames of trackers, one in a line: hexadecimal digits, or JSON objects as `perigee decode` reads them. With a
        /// `feed`, one body of a request of that feed.
        text: Frames, nullable, example "78780d01086471700328358100093f040d0a";
        /// A message as it came, instead of a text.
        message as "messageId": StoredMessage, nullable, example null;
        /// The gateway by whose settings a request is read, as if it came by it. Needs a user who sees the whole account.
        gateway as "gatewayId": GatewayRef, nullable, example null;
        /// The protocol of frames; told by their first bytes unless given.
        protocol: ProtocolName, nullable, example "gt06";
        /// The feed whose requests are read; of a stored message the one it came by unless given. Not together with
        /// `gatewayId`.
        feed: FeedName, nullable, example null;
        /// The model of the device, for protocols that differ between models; of a stored message the one of its device
        /// unless given.
        model: ShortText, nullable, example null;
        /// Whether the lines are one connection, in which a login names the device of the lines after it.
        session: bool, or(false);
        /// Settings to try: of a request those of a gateway, such as `mapping`, of frames those in `decoding` of a device.
        /// They are checked as if they were to be stored. With `gatewayId` they replace the settings of the gateway. A stored
        /// message is read by the settings of its gateway or device, over which these go.
        options: OptionsObject, nullable, example {};
    }
}

/// Makes kinds of text that are one of these names.
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
    /// The name of a protocol; empty for none.
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

/// What one message says.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the JSON that the gateways crate writes")]
#[schema(as = DecodedMessage, rename_all = "camelCase")]
pub struct DecodedMessageView {
    /// The protocol or feed by which it was read; absent if none fits.
    #[schema(example = "gt06")]
    protocol: Option<String>,
    /// The model, where the message tells it.
    #[schema(example = json!(null))]
    model: Option<String>,
    /// Names of the device in the message; several are alternatives.
    #[schema(example = json!(["864717003283581"]))]
    identifiers: Vec<String>,
    /// The device of a request's message; null if the account has none with its identifiers. Absent for frames, and for
    /// callers who do not see the whole account.
    #[schema(example = json!(null))]
    device_id: Option<String>,
    /// Locations as the API writes them, with `located`; without coordinates where that is false.
    #[schema(example = json!([{"located": true, "latitude": 42.5, "longitude": -8.25, "speed": 35}]))]
    reports: Vec<Map<String, Value>>,
    /// What a server sends back to the tracker.
    replies: Vec<DecodedReply>,
    /// Words that a person wrote.
    #[schema(example = json!(null))]
    text: Option<String>,
    /// The step of an emergency that it is: `declare`, `confirm`, `repeat` or `cancel`.
    #[schema(example = json!(null))]
    sos: Option<String>,
    /// Whether the provider marks it as a test.
    #[schema(example = false)]
    test: Option<bool>,
    /// Photos and other files that the message completes.
    #[schema(example = json!(null))]
    files: Option<Vec<Map<String, Value>>>,
    /// Why it cannot be read, or not be believed. A server would not store a frame with a wrong checksum.
    #[schema(example = json!(null))]
    error: Option<String>,
}

/// An answer to a tracker.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the JSON that the gateways crate writes")]
pub struct DecodedReply {
    /// Its bytes in hexadecimal digits.
    #[schema(example = "78780501000955940d0a")]
    hex: String,
}

/// What messages say.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecodedMessages {
    /// The messages in order; at most 200, with as many reports each.
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
    let place = Pointer::root().member("options");
    let problems = errors.iter().map(Problem::of_setting);
    let problems: Vec<Problem> =
        problems.map(|problem| Problem { pointer: problem.pointer.below(&place), ..problem }).collect();
    if problems.is_empty() { Ok(()) } else { Err(invalid_body(problems)) }
}

/// Settings of frames, checked as those of a device; `confirm` is one of the listener.
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

/// How a stored frame of a tracker is read: by the settings of its device, unless the caller gives others.
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
    let settings = app.ingest.decoding(protocol, reporter.as_ref(), model);
    // The password was checked when the message came.
    Ok(DeviceDecoding { options: settings.options.without("password").overlaid(&options), ..settings })
}

fn read_feed(name: Option<&str>) -> ApiResult<Option<&'static Feed>> {
    let Some(name) = name else { return Ok(None) };
    find_feed(name).map(Some).ok_or_else(|| refuse(problem("feed", "This feed does not exist.")))
}

/// A gateway that is not stored: that of settings which are tried.
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

/// The gateway by which a request is read, and the settings for it: those given, over or instead of its own.
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

/// Decode messages.
///
/// Shows what frames of trackers, or a request of a feed, say. With `feed` and `options` a new gateway is tried, with
/// `gatewayId` an existing one, also with other options. With `messageId` a stored message is decoded, also with other
/// settings than those it came by: a preview of a template or a mapping. Nothing is stored and nobody is answered. Needs
/// `devices.write`.
///
/// One request may take about a hundred times the memory of its body, at most 64 MiB: of a body that would take more, the
/// messages before that are shown, and the last one has the error.
#[utoipa::path(post, path = "/api/gateways/decode", tag = "gateways", request_body = DecodeInput,
    responses(
        (status = 200, description = "What the messages say.", body = DecodedMessages),
        (status = 404, description = "The message or gateway does not exist, or the caller may not see it."),
    ))]
pub async fn decode_messages(
    State(app): State<App>,
    caller: Caller,
    params: Params,
    body: JsonBody,
) -> ApiResult<Response> {
    params.finish()?;
    caller.require(Privilege::DevicesWrite)?;
    let input = read_body(&body.value, &[], |input: DecodeInput, _| Some(input))?;
    let named = match input.gateway {
        Some(_) if input.feed.is_some() => {
            return Err(refuse(problem("feed", "Give either a feed or a gateway.")));
        }
        Some(id) => Some(find(&app, &caller, Some(id)).await?),
        None => None,
    };
    let feed = read_feed(input.feed.as_deref().or(named.as_ref().map(|named| named.settings.feed.as_str())))?;
    let protocol = input.protocol.filter(|name| !name.is_empty());
    if protocol.as_deref().is_some_and(|name| find_protocol(name).is_none()) {
        return Err(refuse(problem("protocol", "This protocol does not exist.")));
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
                app.ingest.preview_request(&gateway, request).await?
            } else {
                let options = frame_options(without_nulls(input.options.unwrap_or_default()))?;
                let defaults = LineDefaults { protocol, model, session: input.session, options };
                app.ingest.preview_frames(caller.account().id, Pasted { text, defaults }, now).await?
            }
        }
        (None, Some(id)) => {
            let (message, _held) = load_message(&app, &caller, id).await?;
            if let Some(protocol) = find_protocol(&message.source).filter(|_| feed.is_none()) {
                let options = frame_options(without_nulls(input.options.unwrap_or_default()))?;
                let settings = of_device(&app, &message, model.as_deref(), options).await?;
                app.ingest.preview_frame(protocol, message, settings).await?
            } else if let Some(feed) = feed.or_else(|| find_feed(&message.source)) {
                let (gateway, options) =
                    gateway_for(&app, &caller, feed, named, Some(&message), input.options).await?;
                let settings = FeedSettings { feed, options: Arc::new(options), at: message.received_at };
                let bytes = PreviewBytes::Stored(message.bytes);
                let request = PreviewRequest { settings, bytes, with_devices: caller.scope().is_whole() };
                app.ingest.preview_request(&gateway, request).await?
            } else {
                preview_error(&message.source, "this version does not know the protocol or feed")
            }
        }
        _ => {
            return Err(refuse(problem(
                "text",
                "Give either a text or the ID of a stored message, not both.",
            )));
        }
    };
    answer_in_turn(&app, &caller, ANSWER_BYTES, move || DecodedMessages { messages }).await
}
