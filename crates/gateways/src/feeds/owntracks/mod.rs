//! `OwnTracks` in HTTP mode.

mod decode;
#[cfg(test)]
mod tests;

use crate::decoded::DecodeError;
use crate::feed::{Delivery, Feed, FeedContext, FeedOutcome, FeedReply, FeedRequest, basic_check};
use crate::feed_option::BASIC;

/// `OwnTracks` in the table of feeds. The app wants a list of commands in the answer, also to an empty request.
pub const FEED: Feed = Feed {
    name: "owntracks",
    title: "OwnTracks",
    delivery: Delivery::Push,
    max_body: 1 << 20,
    options: &[BASIC],
    decode: decode::decode,
    reply,
    check: basic_check,
    alarms: &[decode::TRANSITION],
};

/// An encrypted message is refused: the app shows it, and sends again when the key is removed.
fn reply(request: &FeedRequest<'_>, context: &FeedContext<'_>, outcome: &FeedOutcome) -> FeedReply {
    let messages = decode::decode(request, context).messages;
    let encrypted =
        messages.iter().find_map(|message| message.error.filter(|error| *error == DecodeError::Encrypted));
    match encrypted.filter(|_| *outcome == FeedOutcome::Stored) {
        Some(error) => {
            FeedReply { status: 403, content_type: "text/plain", body: error.to_string().into_bytes() }
        }
        None => FeedReply::of(outcome, "application/json", "[]"),
    }
}
