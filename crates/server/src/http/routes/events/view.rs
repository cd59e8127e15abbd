//! Events as the document describes them.

use crate::http::prelude::*;

/// An event of the event log of the account.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub struct EventView {
    /// Unique identifier of the event. It is opaque, the same in polling, streams and webhooks, and can be used as
    /// `cursor` and `Last-Event-ID`.
    #[schema(example = "AAAAAAAAACoAAAAAAAAAAKh8Z1E")]
    id: String,
    /// Type of the event, as `resource.verb`. New types may be added: ignore types that you do not know.
    #[schema(example = "location.created")]
    r#type: String,
    /// Time at which the event was written to the event log.
    #[schema(example = "2026-05-01T12:00:03Z", format = DateTime)]
    at: String,
    /// ID of the device that the event is about. Null if it is about none.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device: Option<String>,
    /// Object that the event is about: the location, alert, device, command, group or user, in the form of the API,
    /// with values that were recorded with the event. A location is as it was received; other objects are in their
    /// current state. An object that was deleted has only its `id`.
    #[schema(value_type = Object, example = json!({"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207, "receivedAt": "2026-05-01T12:00:03Z"}))]
    data: Value,
}

/// A part of the event log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventList {
    /// The events, in the order of the event log.
    #[schema(value_type = Vec<EventView>)]
    events: Vec<EventView>,
    /// Cursor to continue from. Present in every answer, even if there are no events.
    #[schema(example = "AAAAAAAAACoAAAAAAAAAAKh8Z1E")]
    next_cursor: String,
}
