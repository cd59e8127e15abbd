//! Overland: batches of `GeoJSON` points from a phone.

mod decode;
#[cfg(test)]
mod tests;

use crate::feed::{Delivery, Feed, FeedContext, FeedOutcome, FeedReply, FeedRequest, basic_check};
use crate::feed_option::BASIC;

/// Overland in the table of feeds. The app deletes a batch only after this answer.
pub const FEED: Feed = Feed {
    name: "overland",
    title: "Overland",
    delivery: Delivery::Push,
    max_body: 8 << 20,
    options: &[BASIC],
    decode: decode::decode,
    reply,
    check: basic_check,
    alarms: &[],
};

fn reply(_request: &FeedRequest<'_>, _context: &FeedContext<'_>, outcome: &FeedOutcome) -> FeedReply {
    FeedReply::of(outcome, "application/json", "{\"result\":\"ok\"}")
}
