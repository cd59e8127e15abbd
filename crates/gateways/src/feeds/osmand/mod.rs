//! `OsmAnd` and Traccar Client: a phone that sends its position in a query, a form or as JSON.

mod decode;
mod json;

use crate::feed::{Delivery, Feed, FeedReply, basic_check};
use crate::feed_option::BASIC;

/// `OsmAnd` in the table of feeds.
pub const FEED: Feed = Feed {
    name: "osmand",
    title: "OsmAnd and Traccar Client",
    delivery: Delivery::Push,
    max_body: 1 << 20,
    options: &[BASIC],
    decode: decode::decode,
    reply: FeedReply::plain,
    check: basic_check,
    alarms: &[crate::alarm::WORDS],
};
