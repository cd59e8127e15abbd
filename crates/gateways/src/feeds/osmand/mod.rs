//! `OsmAnd` and Traccar Client: a phone that sends its place in a query, a form or as JSON.

mod decode;
mod json;

use crate::feed::{Delivery, Feed, FeedReply, no_check};

/// `OsmAnd` in the table of feeds.
pub const FEED: Feed = Feed {
    name: "osmand",
    title: "OsmAnd and Traccar Client",
    delivery: Delivery::Push,
    max_body: 1 << 20,
    options: &[],
    decode: decode::decode,
    reply: FeedReply::plain,
    check: no_check,
};
