//! Events as the document describes them.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An event of the account's log.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub struct EventView {
    /// Its place in the log: opaque, the same wherever the event is read, and good as `cursor` and `Last-Event-ID`.
    #[schema(example = "AAAAAAAAACoAAAAAAAAAAKh8Z1E")]
    id: String,
    /// What happened, as `thing.verb`; ignore types you do not know.
    #[schema(example = "location.created")]
    r#type: String,
    /// When it was written to the log.
    #[schema(example = "2026-05-01T12:00:03Z", format = DateTime)]
    at: String,
    /// The id of the device it concerns, if one.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device: Option<String>,
    /// What it happened to: the location, the alert, the device, the group or the user, as the API writes it, and what
    /// was noted when it happened. A thing that is gone by now has its `id` alone.
    #[schema(value_type = Object, example = json!({"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207, "receivedAt": "2026-05-01T12:00:03Z"}))]
    data: Value,
}

/// A part of the log of events.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventList {
    /// The events, in the order in which they happened.
    #[schema(value_type = Vec<EventView>)]
    events: Vec<EventView>,
    /// Where to continue; there every time, also when nothing was in sight.
    #[schema(example = "AAAAAAAAACoAAAAAAAAAAKh8Z1E")]
    next_cursor: String,
}
