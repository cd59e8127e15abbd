//! Iridium `DirectIP` MT: gateways that send messages to modems. The listener `iridium` receives those of the modems.

use crate::decoded::DecodeError;
use crate::feed::{Delivery, Feed, FeedContext, FeedDecoded, FeedReply, FeedRequest, no_check};

/// `DirectIP` in the table of interfaces that only send.
pub const FEED: Feed = Feed {
    name: "directip",
    title: "Iridium DirectIP (sending)",
    delivery: Delivery::None,
    max_body: 0,
    options: &[crate::feed_option::DIRECTIP_SEND],
    decode,
    reply: FeedReply::plain,
    check: no_check,
    alarms: &[],
};

fn decode(_request: &FeedRequest<'_>, _context: &FeedContext<'_>) -> FeedDecoded {
    Err(DecodeError::Malformed("gateways of this feed receive nothing")).into()
}
