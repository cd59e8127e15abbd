//! ORBCOMM and Inmarsat `IsatData` Pro: return messages that a poller fetches from the gateway's web service.

mod decode;
#[cfg(test)]
mod tests;

use crate::feed::{Delivery, Feed, FeedReply, no_check};

/// ORBCOMM in the table of feeds.
pub const FEED: Feed = Feed {
    name: "orbcomm",
    title: "ORBCOMM and Inmarsat IsatData Pro",
    delivery: Delivery::Poll,
    max_body: 16 << 20,
    options: &[],
    decode: decode::decode,
    reply: FeedReply::plain,
    check: no_check,
    alarms: &[crate::alarm::WORDS],
};
