//! Zoleo's push: check-ins, location shares and emergencies.

mod decode;
#[cfg(test)]
mod tests;

use crate::feed::{Delivery, Feed, FeedReply, basic_check};
use crate::feed_option::BASIC;

/// Zoleo in the table of feeds. It authenticates with HTTP Basic.
pub const FEED: Feed = Feed {
    name: "zoleo",
    title: "ZOLEO",
    delivery: Delivery::Push,
    max_body: 1 << 20,
    options: &[BASIC],
    decode: decode::decode,
    reply: FeedReply::plain,
    check: basic_check,
    alarms: &[decode::TYPE],
};
