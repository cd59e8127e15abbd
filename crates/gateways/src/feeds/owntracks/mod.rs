//! `OwnTracks` in HTTP mode.

mod decode;
#[cfg(test)]
mod tests;

use crate::feed::{Delivery, Feed, FeedContext, FeedOutcome, FeedReply, FeedRequest, no_check};

/// `OwnTracks` in the table of feeds. The app wants a list of commands in the answer, also to an empty request.
pub const FEED: Feed = Feed {
    name: "owntracks",
    title: "OwnTracks",
    delivery: Delivery::Push,
    max_body: 1 << 20,
    options: &[],
    decode: decode::decode,
    reply,
    check: no_check,
};

fn reply(_request: &FeedRequest<'_>, _context: &FeedContext<'_>, outcome: &FeedOutcome) -> FeedReply {
    FeedReply::of(outcome, "application/json", "[]")
}
