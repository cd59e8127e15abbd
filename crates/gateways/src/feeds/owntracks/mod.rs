//! `OwnTracks` in HTTP mode.

mod decode;
#[cfg(test)]
mod tests;

use crate::decoded::DecodeError;
use crate::feed::{
    Delivery, Feed, FeedContext, FeedMessage, FeedOutcome, FeedReply, FeedRequest, basic_check,
};
use crate::feed_option::BASIC;
use crate::framer::find;

/// `OwnTracks` in the table of feeds. The app expects a list of commands in the answer, even to an empty request.
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

/// Maximum size of a body that is examined for the answer; an encrypted message is shorter.
const ENCRYPTED_MAX: usize = 8 * 1024;

/// An encrypted message is refused: the app shows the error, and sends again when the key is removed.
fn reply(request: &FeedRequest<'_>, context: &FeedContext<'_>, outcome: &FeedOutcome) -> FeedReply {
    if *outcome == FeedOutcome::Stored && is_encrypted(request, context) {
        let body = DecodeError::Encrypted.to_string().into_bytes();
        return FeedReply { status: 403, content_type: "text/plain", body };
    }
    FeedReply::of(outcome, "application/json", "[]")
}

fn is_encrypted(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> bool {
    // Answers are written without a memory permit, so larger bodies are not examined.
    let may_be = request.body.len() <= ENCRYPTED_MAX && find(request.body, b"\"encrypted\"").is_some();
    let is_refused = |message: &FeedMessage| message.error == Some(DecodeError::Encrypted);
    may_be && decode::decode(request, context).messages.iter().any(is_refused)
}
