//! Decodes messages without storing anything: for the console's page of pasted frames, and to preview templates and
//! mappings.

use axum::extract::State;
use perigee_core::error::Kind;
use perigee_core::gateway::{RawMessage, Reporter};
use perigee_core::id::MessageId;
use perigee_core::text::{Lines, ShortText};
use perigee_gateways::mapping::Mapping;
use perigee_gateways::setting::SettingError;
use perigee_gateways::template::Template;
use perigee_gateways::{FEEDS, Feed, LineDefaults, Options, PROTOCOLS, find_feed, find_protocol};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::gateways::OptionsObject;
use crate::app::App;
use crate::budget::Payer;
use crate::http::error::{ApiResult, invalid_body, not_found};
use crate::http::extract::{Caller, JsonBody, Params};
use crate::http::input::{Member, id, input, one_of, parsed_kinds, read_body};
use crate::http::json::{Field, Fields, Pointer, Problem};
use crate::http::reply::Reply;
use crate::ingest::{DeviceDecoding, Pasted, preview_frames, preview_message, preview_request};

/// The most characters of pasted text.
const TEXT_MAX: usize = 64 * 1024;
/// Bytes of memory that decoding takes, in addition to [`WORK_FACTOR`] times the size of the input.
const WORK_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of memory for each byte that is decoded: values of JSON take more room than its text.
const WORK_FACTOR: usize = 16;

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
        /// The protocol of frames; told by their first bytes unless given.
        protocol: ProtocolName, nullable, example "gt06";
        /// The feed whose requests are read; of a stored message the one it came by unless given.
        feed: FeedName, nullable, example null;
        /// The model of the device, for protocols that differ between models; of a stored message the one of its device
        /// unless given.
        model: ShortText, nullable, example null;
        /// Whether the lines are one connection, in which a login names the device of the lines after it.
        session: bool, or(false);
        /// Settings as a gateway has them, such as `template` and `mapping`, or as `decoding` of a device. A stored message
        /// of a tracker is read by the settings of its device, over which these go.
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

/// The settings, with templates and mappings checked: in a preview a person wants to know what is wrong with them.
fn read_options(text: Option<String>) -> Result<Options, Problem> {
    let members: Map<String, Value> =
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let check = |name: &str, result: Result<(), SettingError>| {
        result.map_err(|error| problem("options", format!("The {name} cannot be used: {error}.")))
    };
    if let Some(template) = members.get("template") {
        check("template", Template::parse(template).map(drop))?;
    }
    if let Some(mapping) = members.get("mapping") {
        check("mapping", Mapping::parse(mapping).map(drop))?;
    }
    Ok(Options::new(members))
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

fn read_feed(name: Option<&str>) -> Result<Option<&'static Feed>, Problem> {
    let Some(name) = name else { return Ok(None) };
    find_feed(name).map(Some).ok_or_else(|| problem("feed", "This feed does not exist."))
}

/// Decode messages.
///
/// Shows what frames of trackers, or a request of a feed, say. With `messageId` a stored message is decoded, also with other
/// settings than those it came by: a preview of a template or a mapping. Nothing is stored and nobody is answered.
#[utoipa::path(post, path = "/api/gateways/decode", tag = "gateways", request_body = DecodeInput,
    responses(
        (status = 200, description = "What the messages say.", body = DecodedMessages),
        (status = 404, description = "The message does not exist, or the caller may not see it."),
    ))]
pub async fn decode_messages(
    State(app): State<App>,
    caller: Caller,
    params: Params,
    body: JsonBody,
) -> ApiResult<Reply<DecodedMessages>> {
    params.finish()?;
    let input = read_body(&body.value, &[], |input: DecodeInput, _| Some(input))?;
    let refuse = |problem: Problem| invalid_body(vec![problem]);
    let options = read_options(input.options).map_err(refuse)?;
    let feed = read_feed(input.feed.as_deref()).map_err(refuse)?;
    let protocol = input.protocol.filter(|name| !name.is_empty());
    if protocol.as_deref().is_some_and(|name| find_protocol(name).is_none()) {
        return Err(refuse(problem("protocol", "This protocol does not exist.")));
    }
    let model = input.model.filter(|model| !model.is_empty());
    let now = app.clock.now();
    let payer = Payer::account(caller.account().id);
    let memory = |bytes: usize| WORK_BYTES.saturating_add(bytes.saturating_mul(WORK_FACTOR));
    let messages = match (input.text, input.message) {
        (Some(text), None) => {
            let memory = memory(text.len());
            let frames = options.clone();
            let defaults = LineDefaults { protocol, model, session: input.session, options: frames };
            let work = move || {
                if let Some(feed) = feed {
                    preview_request(feed, &options, text.as_bytes(), now)
                } else {
                    preview_frames(Pasted { text, defaults }, now)
                }
            };
            app.budget.run(payer, memory, work).await?
        }
        (None, Some(id)) => {
            let found = app.store.find_message(caller.scope(), id).await?;
            let message = found.ok_or_else(|| not_found(Kind::Message))?;
            let memory = memory(message.bytes.len());
            let settings = of_device(&app, &message, model.as_deref(), options).await?;
            let work = move || preview_message(&message, feed, &settings);
            app.budget.run(payer, memory, work).await?
        }
        _ => {
            return Err(refuse(problem(
                "text",
                "Give either a text or the ID of a stored message, not both.",
            )));
        }
    };
    Ok(caller.reply(DecodedMessages { messages }))
}
