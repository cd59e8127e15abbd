//! Cloudloop's "Lingo": JSON for each message of an Iridium modem, by SBD, IMT or a mobile network.

mod decode;
#[cfg(test)]
mod tests;

use crate::feed::{Delivery, Feed, FeedReply, no_check};
use crate::feed_option::{CLOUDLOOP_SEND, MODEL, PAYLOAD};

/// Cloudloop in the table of feeds. An answer is expected within 5 s; IMT messages have up to 100 kB.
pub const FEED: Feed = Feed {
    name: "cloudloop",
    title: "Cloudloop (Ground Control)",
    delivery: Delivery::Push,
    max_body: 1 << 20,
    options: &[CLOUDLOOP_SEND, MODEL, PAYLOAD],
    decode: decode::decode,
    reply: FeedReply::plain,
    check: no_check,
    alarms: &[crate::alarm::WORDS],
};
