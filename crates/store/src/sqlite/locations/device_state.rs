//! The state of devices in memory: the time of the last contact and the last location. It is newer than the tables.
//!
//! A commit of locations writes the log alone. The state that follows from them is written to its tables later, once
//! for many locations of a device, or when some of them are deleted; until then it can be replayed from the log.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use perigee_core::devices::reporting_interval::ReportingInterval;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Fix, JumpDetector, StoredLocation, UnconfirmedJump};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::memory::LocationMemory;
use super::unpacked::Owner;
use crate::Tx;
use crate::codec::Point;
use crate::sql::locations::{Gap, last_points, newest_packed, state_row, unreadable_readings};

/// Entries above which those that are saved are evicted.
pub(super) const ENTRIES_MAX: usize = 50_000;
/// How long a change may stay unsaved.
pub(super) const SAVE_AFTER_MS: i64 = 10_000;
/// How many log numbers a change may lie behind the head before it is saved; bounds the replay at open.
const SAVE_LAG_MAX: i64 = 500_000;

/// The state of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceEntry {
    /// The newest location that is not suspect.
    pub(crate) last: Option<Point>,
    pub(crate) last_seen: Option<Timestamp>,
    /// The learned reporting interval.
    pub(crate) interval: ReportingInterval,
    /// Decides whether the next location is plausible.
    pub(super) jump_detector: JumpDetector,
    packed: PackedTimes,
    /// The highest log number that is included in this state.
    pub(super) observed_to: i64,
    unsaved: Option<Unsaved>,
    /// Counts changes, to notice one between reading the entry and its commit.
    changes: u64,
}

/// What is known about the times of a device's packed locations. After a commit that packs locations, this is updated
/// and the locations are dropped from memory before the next job runs. So a location that is neither in memory nor at
/// a time that [`Self::may_contain`] covers is in no chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PackedTimes {
    /// No chunk holds a location after this instant.
    until: Option<Timestamp>,
    /// No chunk holds a location in this time range. It was found when a location in it arrived.
    gap: Option<Gap>,
}

impl PackedTimes {
    /// Whether a chunk may contain a location of this time.
    pub(super) fn may_contain(&self, time: Timestamp) -> bool {
        self.until.is_some_and(|until| time <= until) && !self.gap.is_some_and(|gap| gap.contains(time))
    }
}

impl DeviceEntry {
    pub(super) const fn packed(&self) -> PackedTimes {
        self.packed
    }
}

/// The part of an entry that is not in the tables.
#[derive(Clone, Copy, Debug)]
struct Unsaved {
    /// The first log number that the tables do not include; `i64::MAX` when only the contact time changed.
    from: i64,
    since: Timestamp,
}

/// A device's contact with the service in one commit.
#[derive(Debug)]
pub(super) struct Contact {
    pub(super) at: Timestamp,
    /// The first and last log number of its new locations.
    pub(super) numbers: Option<(i64, i64)>,
    /// The new last location, if it changed, and the state with which the next one is evaluated.
    pub(super) moved: Option<(Option<Point>, JumpDetector)>,
}

/// The devices with recent contact.
#[derive(Debug, Default)]
pub(crate) struct DeviceStates {
    entries: HashMap<Owner, DeviceEntry>,
    /// Rises when entries are evicted or replaced: what a reader read from the tables before that may be out of date.
    evictions: u64,
}

impl DeviceStates {
    pub(crate) fn get(&self, owner: Owner) -> Option<&DeviceEntry> {
        self.entries.get(&owner)
    }

    pub(crate) const fn evictions(&self) -> u64 {
        self.evictions
    }

    /// Adds what a reader found in the tables, unless there is an entry already or one was evicted since it began.
    pub(super) fn put_read(&mut self, evictions: u64, owner: Owner, entry: DeviceEntry) {
        if evictions == self.evictions && !self.is_over_capacity() {
            self.put(owner, entry);
        }
    }

    /// Adds what the writer found in the tables, which it alone changes.
    fn put(&mut self, owner: Owner, entry: DeviceEntry) {
        self.entries.entry(owner).or_insert(entry);
    }

    /// Whether entries should be evicted.
    pub(crate) fn is_over_capacity(&self) -> bool {
        self.entries.len() >= ENTRIES_MAX
    }

    /// Evicts saved entries down to half the capacity. The writer calls it between two commits, because a job relies
    /// on the entries it has loaded until its own commit is applied to memory.
    pub(crate) fn evict_saved(&mut self) {
        let mut excess = self.entries.len().saturating_sub(ENTRIES_MAX / 2);
        self.entries.retain(|_, entry| {
            let is_evicted = excess > 0 && entry.unsaved.is_none();
            excess -= usize::from(is_evicted);
            !is_evicted
        });
        self.evictions += 1;
    }

    /// Moves times of contact after `now` back by `by_ms`, as in the table. Unsaved entries are later saved with the
    /// new time.
    pub(crate) fn clock_set_back(&mut self, now: Timestamp, by_ms: i64) {
        for entry in self.entries.values_mut() {
            if let Some(ahead) = entry.last_seen.filter(|last_seen| *last_seen > now) {
                entry.last_seen = Some(ahead.plus_millis(-by_ms));
                entry.changes += 1;
            }
        }
    }

    /// Records a contact, with locations or without.
    pub(super) fn record_contact(&mut self, owner: Owner, contact: Contact) {
        let entry = self.entries.entry(owner).or_default();
        entry.changes += 1;
        entry.last_seen = entry.last_seen.max(Some(contact.at));
        entry.interval.hear(contact.at);
        let from = match contact.numbers {
            Some((first, last)) => {
                entry.observed_to = entry.observed_to.max(last);
                first
            }
            None => i64::MAX,
        };
        if let Some((last, jump_detector)) = contact.moved {
            entry.last = last.or(entry.last.take());
            entry.jump_detector = jump_detector;
        }
        let unsaved = entry.unsaved.get_or_insert(Unsaved { from, since: contact.at });
        unsaved.from = unsaved.from.min(from);
    }

    /// Notes that locations of a device were packed, the newest of this time.
    pub(super) fn note_packed(&mut self, owner: Owner, newest: Timestamp) {
        if let Some(entry) = self.entries.get_mut(&owner) {
            // The gap may contain some of them.
            entry.packed = PackedTimes { until: entry.packed.until.max(Some(newest)), gap: None };
        }
    }

    /// Notes where the chunks of a device have no location.
    pub(super) fn set_gap(&mut self, owner: Owner, gap: Gap) {
        if let Some(entry) = self.entries.get_mut(&owner) {
            entry.packed.gap = Some(gap);
        }
    }

    /// Replaces a last location that was erased.
    pub(crate) fn set_last(&mut self, owner: Owner, last: Option<&StoredLocation>) {
        if let Some(entry) = self.entries.get_mut(&owner) {
            entry.last = last.map(Point::pack);
            entry.jump_detector.last = last.map(Fix::from);
            entry.changes += 1;
        }
        self.evictions += 1;
    }

    /// Removes a deleted device.
    pub(super) fn remove(&mut self, owner: Owner) {
        self.entries.remove(&owner);
        self.evictions += 1;
    }

    /// The lowest log number that the tables do not include.
    pub(super) fn unsaved_from(&self) -> Option<i64> {
        self.entries.values().filter_map(|entry| entry.unsaved).map(|unsaved| unsaved.from).min()
    }

    /// The devices to save: all, or those unsaved for long or far behind the head.
    pub(super) fn to_save(&self, everything: bool, now: Timestamp, head: i64) -> Vec<Owner> {
        let changed_by = now.plus_millis(-SAVE_AFTER_MS);
        let is_due = |unsaved: Unsaved| {
            everything
                || unsaved.since <= changed_by
                || unsaved.since > now
                || unsaved.from.saturating_add(SAVE_LAG_MAX) < head
        };
        let due =
            |(owner, entry): (&Owner, &DeviceEntry)| entry.unsaved.filter(|one| is_due(*one)).map(|_| *owner);
        self.entries.iter().filter_map(due).collect()
    }

    /// A copy of an entry to save, with its count of changes.
    pub(super) fn snapshot(&self, owner: Owner) -> Option<(DeviceEntry, u64)> {
        self.entries.get(&owner).map(|entry| (entry.clone(), entry.changes))
    }

    /// Marks an entry as saved in the state that [`Self::snapshot`] gave.
    pub(super) fn mark_saved(&mut self, owner: Owner, observed_to: i64, changes: u64) {
        if let Some(entry) = self.entries.get_mut(&owner) {
            if entry.changes == changes {
                entry.unsaved = None;
            } else if let Some(unsaved) = &mut entry.unsaved {
                unsaved.from = unsaved.from.max(observed_to + 1);
            }
        }
    }
}

/// Loads these devices; they stay in memory until the writer's next commit is done. Only the writer may call it.
pub(super) async fn load(
    tx: &Tx,
    memory: &LocationMemory,
    owners: impl Iterator<Item = Owner>,
) -> Result<()> {
    let read = read_missing(tx, memory, owners).await?;
    let mut states = memory.device_states_mut();
    for (owner, entry) in read {
        states.put(owner, entry);
    }
    Ok(())
}

/// Reads the devices that are not in memory from the tables.
pub(super) async fn read_missing(
    tx: &Tx,
    memory: &LocationMemory,
    owners: impl Iterator<Item = Owner>,
) -> Result<Vec<(Owner, DeviceEntry)>> {
    let mut missing: BTreeMap<AccountId, Vec<i64>> = BTreeMap::new();
    {
        let states = memory.device_states();
        for (account, device) in owners.filter(|owner| states.get(*owner).is_none()) {
            missing.entry(account).or_default().push(device.as_i64());
        }
    }
    let mut read = Vec::new();
    for (account, devices) in missing {
        let mut entries: HashMap<DeviceId, DeviceEntry> =
            devices.iter().map(|id| (DeviceId::from_i64(*id), DeviceEntry::default())).collect();
        for (device, last) in last_points(tx, account, &devices).await? {
            let entry = entries.entry(device).or_default();
            entry.jump_detector.last = Some(Fix::from(&last.unpack().map_err(unreadable_readings)?));
            entry.last = Some(last);
        }
        for (device, newest) in newest_packed(tx, account, &devices).await? {
            entries.entry(device).or_default().packed.until = Some(newest);
        }
        for (device, state) in state_row::read_all(tx, account, &devices).await? {
            let state = match state {
                Ok(state) => state,
                // It is rebuilt when it is saved.
                Err(damaged) => {
                    tx.damage().note(&damaged);
                    state_row::derive(tx, account, device).await?
                }
            };
            let entry = entries.entry(device).or_default();
            entry.last_seen = state.last_seen;
            entry.observed_to = state.observed_to;
            entry.interval = ReportingInterval::from_bytes(&state.interval);
            entry.jump_detector.unconfirmed = UnconfirmedJump::from_bytes(&state.unconfirmed_jump);
        }
        read.extend(entries.into_iter().map(|(device, entry)| ((account, device), entry)));
    }
    Ok(read)
}

/// Records a contact without a location.
pub(crate) async fn record_contact(tx: &Tx, memory: &Arc<LocationMemory>, owner: Owner) -> Result<()> {
    load(tx, memory, [owner].into_iter()).await?;
    let (memory, at) = (Arc::clone(memory), tx.now());
    tx.after_commit(move || {
        memory.device_states_mut().record_contact(owner, Contact { at, numbers: None, moved: None });
    });
    Ok(())
}
