//! Events of an account that were read together, encoded once for every stream.

use std::collections::HashSet;

use bytes::{Bytes, BytesMut};
use perigee_core::access::actor::{Reach, Scope};
use perigee_core::events::event::{Event, EventFilter, EventKind, EventObject};
use perigee_core::id::DeviceId;
use perigee_core::time::Timestamp;

use crate::event_format::EventFormat;

/// Encoded events, and the values that decide who may see them.
#[derive(Debug)]
pub struct Batch {
    items: Vec<Item>,
    text: Bytes,
    /// Up to which number the log was read.
    to: i64,
    now: Timestamp,
    format: EventFormat,
}

#[derive(Debug)]
struct Item {
    number: i64,
    kind: EventKind,
    subject: String,
    device: Option<DeviceId>,
    text: Bytes,
    /// Kept for events of devices: a viewer of one group must not see the names of other groups.
    whole: Option<Event>,
}

/// The scope and the filter of one stream.
#[derive(Debug)]
pub(super) struct ViewerFilter<'s> {
    pub(super) scope: Scope,
    pub(super) filter: &'s EventFilter,
    /// The devices of the group, if the scope is a group.
    pub(super) members: Option<&'s HashSet<DeviceId>>,
}

impl Batch {
    /// Encodes events read up to number `to`, devices in their state at `now`.
    pub fn new(events: Vec<Event>, to: i64, now: Timestamp, format: EventFormat) -> Self {
        let mut text = Vec::new();
        let mut ends = Vec::with_capacity(events.len());
        for event in &events {
            write_frame(&mut text, format, event, now);
            ends.push(text.len());
        }
        let text = Bytes::from(text);
        let mut start = 0;
        let item = |(event, end): (Event, usize)| {
            let text = text.slice(start..end);
            start = end;
            let whole = matches!(event.object, EventObject::Device(_)).then(|| event.clone());
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
        Self { items, text, to, now, format }
    }

    /// Up to which number the log was read.
    pub fn to(&self) -> i64 {
        self.to
    }

    /// Whether an event may have changed which devices are in which groups.
    pub(super) fn changes_members(&self) -> bool {
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

    /// The events after this number that a stream shows, encoded; empty if there are none.
    pub(super) fn shown(&self, viewer: &ViewerFilter<'_>, after: i64) -> Bytes {
        let is_new = self.items.first().is_none_or(|first| first.number > after);
        if is_new && viewer.scope.is_whole() && *viewer.filter == EventFilter::default() {
            return self.text.clone();
        }
        let mut shown = BytesMut::new();
        for item in self.items.iter().filter(|item| item.number > after && viewer.has(item)) {
            match &item.whole {
                Some(event) if !viewer.scope.is_whole() => {
                    shown.extend_from_slice(&self.narrow(event, viewer.scope));
                }
                _ => shown.extend_from_slice(&item.text),
            }
        }
        shown.freeze()
    }

    /// The event of a device for a viewer who does not see all of its groups.
    fn narrow(&self, event: &Event, scope: Scope) -> Vec<u8> {
        let mut event = event.clone();
        if let EventObject::Device(device) = &mut event.object {
            device.settings.groups.retain(|group| scope.reach == Reach::Group(*group));
        }
        let mut text = Vec::new();
        write_frame(&mut text, self.format, &event, self.now);
        text
    }
}

impl ViewerFilter<'_> {
    fn has(&self, item: &Item) -> bool {
        let in_scope = match self.scope.reach {
            Reach::Account => true,
            Reach::Device(own) => item.device == Some(own),
            Reach::Group(group) => {
                let is_member = |device| self.members.is_some_and(|members| members.contains(&device));
                item.device.is_some_and(is_member) || item.subject == group.to_string()
            }
        };
        let devices = &self.filter.devices;
        in_scope
            && self.filter.wants_kind(item.kind)
            && (devices.is_empty() || item.device.is_some_and(|device| devices.contains(&device)))
    }
}

/// Writes an event as a message of `text/event-stream`.
pub(super) fn write_frame(out: &mut Vec<u8>, format: EventFormat, event: &Event, now: Timestamp) {
    out.extend_from_slice(b"id: ");
    out.extend_from_slice((format.id)(event.number).as_bytes());
    out.extend_from_slice(b"\ndata: ");
    (format.write)(out, event, now);
    out.extend_from_slice(b"\n\n");
}
