//! The differences between stored and derived segments: written with few statements, with an event for each trip.

use std::collections::BTreeMap;

use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{RemovedTrip, Result};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{SegmentKind, StoredSegment};
use serde_json::json;

use super::row::{COLUMNS, REPLACE, values};
use super::{follow, removed};
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::maintenance;
use crate::sql::plans;
use crate::sql::query::{for_ids, insert_many};
use crate::sql::rules::trip_rules;
use crate::{Tx, params};

/// Changes of an account's segments that are saved together.
pub(super) struct Changes {
    account: AccountId,
    put: Vec<StoredSegment>,
    removed: Vec<(DeviceId, i64)>,
    /// Trips among the removed segments.
    removed_trips: Vec<RemovedTrip>,
    /// The first instant of each device at which its timeline changes.
    first: BTreeMap<DeviceId, Timestamp>,
    /// The first instant of each device from which its trips changed.
    changed_from: BTreeMap<DeviceId, Timestamp>,
    /// Each kind with the trip that it is about, in the order in which they are written.
    events: Vec<(EventKind, NewEvent)>,
}

impl Changes {
    pub(super) const fn new(account: AccountId) -> Self {
        Self {
            account,
            put: Vec::new(),
            removed: Vec::new(),
            removed_trips: Vec::new(),
            first: BTreeMap::new(),
            changed_from: BTreeMap::new(),
            events: Vec::new(),
        }
    }

    fn note_change(&mut self, device: DeviceId, from: Timestamp) {
        let first = self.first.entry(device).or_insert(from);
        *first = from.min(*first);
    }

    /// Adds a derived segment, with the stored one that it replaces. Nothing is written if they are equal.
    pub(super) fn put(&mut self, old: Option<&StoredSegment>, new: StoredSegment, is_quiet: bool) {
        if let Some(old) = old
            && (&old.segment, &old.labels, old.is_open, &old.driver)
                == (&new.segment, &new.labels, new.is_open, &new.driver)
        {
            return;
        }
        let before = old.map_or(new.segment.from, |old| old.segment.from);
        self.note_change(new.device, before.min(new.segment.from));
        if new.segment.kind == SegmentKind::Trip && !is_quiet {
            for kind in event_kinds(old, &new) {
                self.events.push((*kind, event(&new, &json!({}))));
            }
        }
        self.note_trip(&new);
        if let Some(old) = old {
            self.note_trip(old);
        }
        self.put.push(new);
    }

    /// Notes that a trip changed or ended to exist.
    fn note_trip(&mut self, of: &StoredSegment) {
        if of.segment.kind == SegmentKind::Trip {
            let from = self.changed_from.entry(of.device).or_insert(of.segment.from);
            *from = of.segment.from.min(*from);
        }
    }

    /// Adds a stored segment to be deleted, because no derived one replaces it.
    pub(super) fn remove(&mut self, old: &StoredSegment, is_quiet: bool) {
        self.note_change(old.device, old.segment.from);
        self.note_trip(old);
        self.removed.push((old.device, old.id.as_i64()));
        if old.segment.kind == SegmentKind::Trip {
            self.removed_trips.push(RemovedTrip {
                id: old.id,
                device: old.device,
                from: old.segment.from,
                to: old.segment.to,
                removed_at: Timestamp::MIN,
                change: 0,
            });
        }
        if old.segment.kind == SegmentKind::Trip && !is_quiet {
            let (from, to) = (old.segment.from.to_string(), old.segment.to.to_string());
            let data = json!({ "deviceId": old.device.to_string(), "from": from, "to": to });
            self.events.push((EventKind::TripRemoved, event(old, &data)));
        }
    }

    /// Writes all changes and events; returns the number of events.
    pub(super) async fn save(mut self, tx: &Tx) -> Result<usize> {
        self.removed.sort_unstable();
        for part in self.removed.chunk_by(|a, b| a.0 == b.0) {
            let ids: Vec<i64> = part.iter().map(|(_, id)| *id).collect();
            let sql =
                "DELETE FROM timeline_segment WHERE account_id = ?1 AND device_id = ?2 AND id IN ({ids})";
            for_ids(tx, sql, params![self.account, part[0].0], &ids).await?;
        }
        if !self.put.is_empty() {
            let first = follow::take_changes(tx, self.account, self.put.len()).await?;
            for (stored, change) in self.put.iter_mut().zip(first..) {
                stored.change = change;
            }
            let rows: Vec<_> = self.put.iter().map(values).collect();
            let head = format!("INSERT INTO timeline_segment ({COLUMNS})");
            insert_many(tx, &head, &rows, REPLACE).await?;
        }
        removed::add(tx, self.account, &self.removed_trips).await?;
        maintenance::timelines_changed(tx, self.account, &self.first).await?;
        plans::devices_heard(tx, self.account, &self.first).await?;
        trip_rules::evaluate(tx, self.account, &self.changed_from).await?;
        let count = self.events.len();
        let mut events = self.events.into_iter().peekable();
        while let Some((kind, first)) = events.next() {
            let mut same = vec![first];
            while let Some((_, next)) = events.next_if(|(next, _)| *next == kind) {
                same.push(next);
            }
            append_events(tx, self.account, kind, same).await?;
        }
        Ok(count)
    }
}

/// The events of a trip that was stored as `old`. While a trip is open, only a change of its beginning or its labels
/// causes an event, because its end and figures change with each location.
fn event_kinds(old: Option<&StoredSegment>, new: &StoredSegment) -> &'static [EventKind] {
    match old {
        None if new.is_open => &[EventKind::TripStarted],
        None => &[EventKind::TripStarted, EventKind::TripEnded],
        Some(old) if old.is_open && !new.is_open => &[EventKind::TripEnded],
        Some(old) if old.is_open && old.segment.from == new.segment.from && old.labels == new.labels => &[],
        Some(_) => &[EventKind::TripChanged],
    }
}

pub(super) fn event(of: &StoredSegment, data: &serde_json::Value) -> NewEvent {
    NewEvent { subject: of.id.to_string(), device: Some(of.device), data: data.to_string() }
}
