//! Writes events for clients. The API defines the JSON of every resource and provides these functions; streams and
//! webhooks only call them.

use perigee_core::events::event::Event;
use perigee_core::time::Timestamp;

/// The functions that write events.
#[derive(Clone, Copy, Debug)]
pub struct EventFormat {
    /// The id of the event with this number: a cursor into the log.
    pub id: fn(i64) -> String,
    /// Appends an event as a JSON object on one line, devices in their state at the given time.
    pub write: fn(&mut Vec<u8>, &Event, Timestamp),
}
