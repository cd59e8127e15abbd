//! SPOT: messages that its data push sends, and the public feed that a poller fetches.

mod decode;
#[cfg(test)]
mod tests;

use crate::feed::{Delivery, Feed, FeedReply, basic_check, no_check};
use crate::feed_option::{BASIC, SHARED_PAGE};

/// The data push, XML.
pub const PUSH: Feed = Feed {
    name: "spot",
    title: "SPOT (data push)",
    delivery: Delivery::Push,
    max_body: 4 << 20,
    options: &[BASIC],
    decode: decode::decode,
    reply: FeedReply::plain,
    check: basic_check,
    alarms: &[decode::TYPE, decode::BATTERY],
};

/// The answer of a public feed, JSON or XML.
pub const POLL: Feed = Feed {
    name: "spot-feed",
    title: "SPOT (shared feed)",
    delivery: Delivery::Poll,
    max_body: 4 << 20,
    options: &[SHARED_PAGE],
    decode: decode::decode,
    reply: FeedReply::plain,
    check: no_check,
    alarms: &[decode::TYPE, decode::BATTERY],
};
