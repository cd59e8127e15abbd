//! Some events of an account, written once for every stream that shows them.

use std::collections::HashSet;

use bytes::{Bytes, BytesMut};
use perigee_core::actor::{Reach, Scope};
use perigee_core::event::{Event, EventFilter, EventKind, Thing};
use perigee_core::id::DeviceId;
use perigee_core::time::Timestamp;

use crate::http::routes::events::body::{event_id, write_event};

/// Events that were read together.
#[derive(Debug)]
pub struct Batch {
    items: Vec<Item>,
    text: Bytes,
    /// Up to which number the log was read.
    to: i64,
    now: Timestamp,
}

#[derive(Debug)]
struct Item {
    number: i64,
    kind: EventKind,
    subject: String,
    device: Option<DeviceId>,
    text: Bytes,
    /// The event of a device, of whose groups not everybody sees all.
    whole: Option<Event>,
}

/// What one stream shows.
#[derive(Debug)]
pub(super) struct Sight<'s> {
    pub(super) scope: Scope,
    pub(super) filter: &'s EventFilter,
    /// The devices of the group, when the scope is one.
    pub(super) members: Option<&'s HashSet<DeviceId>>,
}

impl Batch {
    /// Writes events read up to a number, devices as they stand at `now`.
    pub fn new(events: Vec<Event>, to: i64, now: Timestamp) -> Self {
        let mut text = Vec::new();
        let mut ends = Vec::with_capacity(events.len());
        for event in &events {
            write_frame(&mut text, event, now);
            ends.push(text.len());
        }
        let text = Bytes::from(text);
        let mut start = 0;
        let item = |(event, end): (Event, usize)| {
            let text = text.slice(start..end);
            start = end;
            let whole = matches!(event.thing, Thing::Device(_)).then(|| event.clone());
            Item {
                number: event.number,
                kind: event.kind,
                subject: event.subject,
                device: event.device,
                text,
                whole,
            }
        };
        let items = events.into_iter().zip(ends).map(item).collect();
        Self { items, text, to, now }
    }

    /// Up to which number the log was read.
    pub fn to(&self) -> i64 {
        self.to
    }

    /// Whether who is in which group may have changed.
    pub(super) fn moves_members(&self) -> bool {
        self.items.iter().any(|item| {
            matches!(
                item.kind,
                EventKind::DeviceCreated
                    | EventKind::DeviceUpdated
                    | EventKind::DeviceDeleted
                    | EventKind::GroupCreated
                    | EventKind::GroupUpdated
                    | EventKind::GroupDeleted
            )
        })
    }

    /// What a stream shows of it after this number; empty when nothing.
    pub(super) fn shown(&self, sight: &Sight<'_>, after: i64) -> Bytes {
        let is_new = self.items.first().is_none_or(|first| first.number > after);
        if is_new && sight.scope.is_whole() && *sight.filter == EventFilter::default() {
            return self.text.clone();
        }
        let mut shown = BytesMut::new();
        for item in self.items.iter().filter(|item| item.number > after && sight.has(item)) {
            match &item.whole {
                Some(event) if !sight.scope.is_whole() => {
                    shown.extend_from_slice(&narrow(event, sight.scope, self.now));
                }
                _ => shown.extend_from_slice(&item.text),
            }
        }
        shown.freeze()
    }
}

impl Sight<'_> {
    fn has(&self, item: &Item) -> bool {
        let in_sight = match self.scope.reach {
            Reach::Account => true,
            Reach::Device(own) => item.device == Some(own),
            Reach::Group(group) => {
                let is_member = |device| self.members.is_some_and(|members| members.contains(&device));
                item.device.is_some_and(is_member) || item.subject == group.to_string()
            }
        };
        let devices = &self.filter.devices;
        in_sight
            && self.filter.wants_kind(item.kind)
            && (devices.is_empty() || item.device.is_some_and(|device| devices.contains(&device)))
    }
}

/// The frame of a device's event for somebody who does not see all of its groups.
fn narrow(event: &Event, scope: Scope, now: Timestamp) -> Vec<u8> {
    let mut event = event.clone();
    if let Thing::Device(device) = &mut event.thing {
        device.settings.groups.retain(|group| scope.reach == Reach::Group(*group));
    }
    let mut text = Vec::new();
    write_frame(&mut text, &event, now);
    text
}

/// Writes an event as a message of the stream.
pub(super) fn write_frame(out: &mut Vec<u8>, event: &Event, now: Timestamp) {
    out.extend_from_slice(b"id: ");
    out.extend_from_slice(event_id(event.number).as_bytes());
    out.extend_from_slice(b"\ndata: ");
    write_event(out, event, now);
    out.extend_from_slice(b"\n\n");
}
