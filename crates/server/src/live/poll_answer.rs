//! Answers to polls that waited for the same event, encoded once and shared.

use bytes::Bytes;
use perigee_core::access::actor::Scope;
use perigee_core::events::event::EventFilter;

/// The cache key of the answer to a poll for events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventPollKey {
    /// The scope of the caller.
    pub scope: Scope,
    /// Which events the caller requested.
    pub filter: EventFilter,
    /// Number of the last event the caller has.
    pub after: i64,
    /// Events in one answer at most.
    pub limit: u32,
    /// Number of the last event of the log when the poll was woken.
    pub end: i64,
}

/// The cache key of the answer to a poll for locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FeedPollKey {
    /// The scope of the caller.
    pub scope: Scope,
    /// Number of the last location the caller has.
    pub after: i64,
    /// Locations in one answer at most.
    pub limit: u32,
    /// Number of the last entry of the log when the poll was woken.
    pub end: i64,
}

/// A page of the log, encoded except for the envelope that differs by caller.
pub struct PollAnswer {
    /// The rest of the JSON object after its envelope.
    pub rest: Bytes,
    /// Whether nothing was visible.
    pub is_empty: bool,
    /// Number after which the next page begins.
    pub next: i64,
}
