//! Feeds that are JSON mappings: any webhook by the setting `mapping`, and presets for known providers.

mod preset;
#[cfg(test)]
mod tests;

use crate::decoded::DecodeError;
use crate::feed::{Delivery, Feed, FeedContext, FeedDecoded, FeedReply, FeedRequest, basic_check};
use crate::feed_option::{BASIC, MAPPING, MODEL, PAYLOAD};
use crate::mapping::Mapping;
use crate::notation::form::Form;
use crate::notation::loose;
use serde_json::Value as Json;

pub use preset::{BULLITT, CHIRPSTACK, FLESPI, GPSLOGGER, MYRIOTA, SOMEWEAR, TTN, preset};

/// Any webhook with JSON, by the setting `mapping`.
pub const FEED: Feed = Feed {
    name: "json",
    title: "Webhook with JSON (own mapping)",
    options: &[MAPPING, BASIC, MODEL, PAYLOAD],
    decode: decode_own,
    ..BASE
};

/// Settings that all mapped feeds share.
const BASE: Feed = Feed {
    name: "",
    title: "",
    delivery: Delivery::Push,
    max_body: 4 << 20,
    options: &[BASIC],
    decode: decode_own,
    reply: FeedReply::plain,
    check: basic_check,
    alarms: &[crate::alarm::WORDS],
};

fn decode_own(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    let mapping = context.options.get("mapping").ok_or(DecodeError::Malformed("the gateway has no mapping"));
    let mapping = mapping.and_then(|setting| {
        Mapping::parse(setting)
            .map_err(|_detail| DecodeError::Malformed("the mapping of the gateway is invalid"))
    });
    mapping.and_then(|mapping| decode_by(&mapping, request, context)).into()
}

/// Reads a JSON body; without one, the query parameters or a form, as an object.
fn decode_by(
    mapping: &Mapping,
    request: &FeedRequest<'_>,
    context: &FeedContext<'_>,
) -> Result<FeedDecoded, DecodeError> {
    let text = request.body.trim_ascii_start();
    let body = if matches!(text.first(), Some(b'{' | b'[' | 0xef)) {
        loose::parse(text, context.budget)?
    } else {
        let mut form = Form::parse(request.query.as_bytes());
        form.append(Form::parse(request.body));
        if form.is_empty() {
            return Err(DecodeError::Malformed("the body is not JSON"));
        }
        Json::Object(form.into_object())
    };
    Ok(mapping.apply(&body, context))
}
