//! `RockBLOCK` and Rock7 Core of Ground Control: a form or JSON for each message, signed with a token.

mod decode;
mod fields;
#[cfg(test)]
mod tests;

use crate::feed::{Delivery, Feed, FeedReply};
use crate::feed_option::{MODEL, PAYLOAD, ROCKBLOCK, ROCKBLOCK_SEND};

/// `RockBLOCK` in the table of feeds. An answer is expected within 3 s.
pub const FEED: Feed = Feed {
    name: "rockblock",
    title: "RockBLOCK and Rock7 Core (Ground Control)",
    delivery: Delivery::Push,
    max_body: 1 << 20,
    options: &[ROCKBLOCK, ROCKBLOCK_SEND, MODEL, PAYLOAD],
    decode: decode::decode,
    reply: FeedReply::plain,
    check: decode::check,
    alarms: &[decode::TRIGGER, crate::alarm::WORDS],
};
