//! Decodes messages without storing anything, for people who set up a tracker, a template or a mapping.

use perigee_core::gateway::RawMessage;
use perigee_core::time::Timestamp;
use perigee_gateways::{
    Context, Feed, FeedContext, FeedRequest, LineDecoder, LineDefaults, Options, decoded_json, feed_json,
    find_protocol,
};
use serde_json::{Value, json};

use super::decoding::DeviceDecoding;
use super::stored_request::StoredRequest;

/// Messages that are shown, and reports of each.
const SHOWN_MAX: usize = 200;

/// Frames that a person pasted, one in a line.
#[derive(Clone, Debug)]
pub struct Pasted {
    /// Hexadecimal digits, or JSON objects as `perigee decode` reads them.
    pub text: String,
    /// Protocol, model and options of all lines.
    pub defaults: LineDefaults,
}

/// Decodes pasted frames as `perigee decode` does. What follows the first 200 lines is left out.
pub fn preview_frames(pasted: Pasted, now: Timestamp) -> Vec<Value> {
    let mut lines = LineDecoder::new(pasted.defaults);
    pasted.text.lines().filter_map(|line| lines.decode(line, now)).take(SHOWN_MAX).collect()
}

/// Decodes a body as if it came to a gateway with these settings.
pub fn preview_request(feed: &Feed, options: &Options, body: &[u8], now: Timestamp) -> Vec<Value> {
    let context = FeedContext { now, options };
    feed_json(feed, &(feed.decode)(&FeedRequest::of_body(body), &context), SHOWN_MAX)
}

/// Decodes a stored message, a frame by these settings and a request by its options. A feed replaces the one that the
/// message came by.
pub fn preview_message(message: &RawMessage, feed: Option<&Feed>, settings: &DeviceDecoding) -> Vec<Value> {
    let options = &settings.options;
    if let Some(protocol) = find_protocol(&message.source) {
        let context = Context {
            known: true,
            identifier: message.identifier.as_deref(),
            model: settings.model.as_deref(),
            options,
            datagram: false,
            now: message.received_at,
        };
        return vec![decoded_json(protocol, &(protocol.decoder)().decode(&message.bytes, &context))];
    }
    let refused = |error: &str| {
        vec![
            json!({"protocol": message.source, "identifiers": [], "reports": [], "replies": [], "error": error}),
        ]
    };
    let Some(feed) = feed.or_else(|| perigee_gateways::find_feed(&message.source)) else {
        return refused("this version does not know the protocol or feed");
    };
    let Some(stored) = StoredRequest::parse(&message.bytes) else {
        return refused("the request is not stored in full");
    };
    let context = FeedContext { now: message.received_at, options };
    feed_json(feed, &(feed.decode)(&stored.request(), &context), SHOWN_MAX)
}
