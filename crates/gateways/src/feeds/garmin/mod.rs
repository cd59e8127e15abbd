//! Garmin inReach: events that Portal Connect sends, history that a poller fetches, and `MapShare`.

mod code;
mod history;
mod mapshare;
mod outbound;
#[cfg(test)]
mod tests;

use crate::feed::{Delivery, Feed, FeedReply, no_check};
use crate::feed_option::{BASIC, GARMIN_SEND, HISTORY as HISTORY_OPTIONS, MAP_SHARE, MODEL, PAYLOAD, TOKEN};

/// Events as they happen. Garmin treats every status but 200 as a failure, and suspends the feed after five days of
/// failures.
pub const OUTBOUND: Feed = Feed {
    name: "garmin",
    title: "Garmin inReach (IPC Outbound)",
    delivery: Delivery::Push,
    max_body: 4 << 20,
    options: &[TOKEN, GARMIN_SEND, MODEL, PAYLOAD],
    decode: outbound::decode,
    reply: FeedReply::plain,
    check: outbound::check,
    alarms: &[code::STEPS, outbound::STATUS],
};

/// The answer of `Location.svc/History` or `LastKnownLocation`, which fills the gap after an outage.
pub const HISTORY: Feed = Feed {
    name: "garmin-history",
    title: "Garmin inReach (IPC Inbound, history)",
    delivery: Delivery::Poll,
    max_body: 16 << 20,
    options: &[HISTORY_OPTIONS, BASIC],
    decode: history::decode,
    reply: FeedReply::plain,
    check: no_check,
    alarms: &[code::STEPS],
};

/// The KML of a `MapShare` page, for plans without IPC.
pub const MAPSHARE: Feed = Feed {
    name: "garmin-mapshare",
    title: "Garmin MapShare",
    delivery: Delivery::Poll,
    max_body: 16 << 20,
    options: &[MAP_SHARE],
    decode: mapshare::decode,
    reply: FeedReply::plain,
    check: no_check,
    alarms: &[mapshare::EMERGENCY],
};
