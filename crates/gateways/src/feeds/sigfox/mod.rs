//! Sigfox callbacks, whose body is composed by the owner of the Sigfox account.

mod data;
mod decode;

use crate::feed::{Delivery, Feed, FeedReply, no_check};
use crate::feed_option::MODEL;

/// Sigfox in the table of feeds.
pub const FEED: Feed = Feed {
    name: "sigfox",
    title: "Sigfox",
    delivery: Delivery::Push,
    max_body: 1 << 20,
    options: &[MODEL],
    decode: decode::decode,
    reply: FeedReply::plain,
    check: no_check,
    alarms: &[data::EVENT],
};
