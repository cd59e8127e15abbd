//! Globalstar's back office: XML with messages of simplex units, and its provisioning messages.

mod decode;
mod reply;
#[cfg(test)]
mod tests;

use crate::feed::{Delivery, Feed, no_check};
use crate::feed_option::{MODEL, PAYLOAD};

/// Globalstar in the table of feeds. The back office sends a message again until the answer contains `pass`.
pub const FEED: Feed = Feed {
    name: "globalstar",
    title: "Globalstar (SmartOne, SPOT Trace, AtlasTrax)",
    delivery: Delivery::Push,
    max_body: 4 << 20,
    options: &[MODEL, PAYLOAD],
    decode: decode::decode,
    reply: reply::reply,
    check: no_check,
    alarms: &[decode::DEVICE, crate::payload::SMARTONE, crate::payload::SMARTONE_FLAGS, crate::alarm::WORDS],
};
