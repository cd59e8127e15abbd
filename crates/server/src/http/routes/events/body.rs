//! The JSON of an event, the same for polling, stream and webhooks.

use perigee_core::events::event::{Event, EventObject};
use perigee_core::time::Timestamp;
use serde_json::Map;

use crate::event_format::EventFormat;
use crate::http::cursor::Cursor;
use crate::http::format::{Selection, json};
use crate::http::prelude::*;
use crate::http::routes::access::users_view::UserView;
use crate::http::routes::alerts::view::AlertView;
use crate::http::routes::devices::commands::view::CommandView;
use crate::http::routes::devices::conversation::view::MessageView;
use crate::http::routes::devices::view::DeviceView;
use crate::http::routes::drivers::DriverView;
use crate::http::routes::groups::GroupView;
use crate::http::routes::timeline::view::SegmentView;

/// The name that IDs of events are bound to, because they are cursors.
const LIST: &str = "events";

/// How streams and webhooks write events.
pub const EVENT_FORMAT: EventFormat = EventFormat { id: event_id, write: write_event };

/// The ID of the event with this number: a cursor from which a reader can continue.
pub fn event_id(number: i64) -> String {
    Cursor::at(number).write(LIST)
}

/// The number of the event with this id.
pub fn read_event_id(id: &str) -> ApiResult<i64> {
    Cursor::read(LIST, id).map(|cursor| cursor.number)
}

/// Writes an event as a JSON object, on one line. Devices are written in their state at `now`.
pub fn write_event(out: &mut Vec<u8>, event: &Event, now: Timestamp) {
    let device = event.device.map_or_else(|| "null".to_owned(), |device| format!("\"{device}\""));
    let head = format!(
        "{{\"id\":\"{}\",\"type\":\"{}\",\"at\":\"{}\",\"device\":{device},\"data\":",
        event_id(event.number),
        event.kind.name(),
        event.at,
    );
    out.extend_from_slice(head.as_bytes());
    match &event.object {
        EventObject::Location(stored) => json::write_location(out, None, stored, Selection::ALL),
        object => out.extend_from_slice(Value::Object(data(event, object, now)).to_string().as_bytes()),
    }
    out.push(b'}');
}

/// The members of the object, overridden by what was recorded with the event. An object that was deleted has only its
/// ID.
fn data(event: &Event, object: &EventObject, now: Timestamp) -> Map<String, Value> {
    let mut members = match object {
        EventObject::Alert(alert) => members_of(AlertView::from((**alert).clone())),
        EventObject::Command(command) => members_of(CommandView::from((**command).clone())),
        EventObject::ConversationMessage(message) => members_of(MessageView::from((**message).clone())),
        EventObject::Device(device) => members_of(DeviceView::at((**device).clone(), now)),
        EventObject::Group(group) => members_of(GroupView::from((**group).clone())),
        EventObject::User(user) => members_of(UserView::from((**user).clone())),
        EventObject::Trip(trip) => members_of(SegmentView::from((**trip).clone())),
        EventObject::Driver(driver) => members_of(DriverView::from((**driver).clone())),
        EventObject::Absent | EventObject::Location(_) => {
            Map::from_iter([("id".to_owned(), event.subject.clone().into())])
        }
    };
    if let Value::Object(recorded) = &event.data {
        // Revisions are exposed only as entity tags.
        members.extend(
            recorded
                .iter()
                .filter(|(name, _)| *name != "revision")
                .map(|(name, value)| (name.clone(), value.clone())),
        );
    }
    members
}

fn members_of(view: impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(view) {
        Ok(Value::Object(members)) => members,
        // Serializing plain members cannot fail.
        _ => Map::new(),
    }
}
