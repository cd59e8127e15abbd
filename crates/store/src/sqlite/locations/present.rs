//! The present of devices: when each was last heard and where it was last, ahead of the tables that keep it.
//!
//! A commit of locations writes the log alone. What follows from them for a device is written some time later, once
//! for many of its locations, or when some of them are deleted; until then the log has it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Doubt, Fix, StoredLocation, Whereabouts};
use perigee_core::rhythm::Rhythm;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::live::Live;
use super::tail::Owner;
use crate::codec::Point;
use crate::sql::locations::{last_points, newest_packed, unreadable_readings};
use crate::sql::query::for_ids;
use crate::{Tx, params};

/// Devices in memory from which those that are in the tables too may go.
pub(super) const MANY: usize = 50_000;
/// How long a change waits to be written.
pub(super) const PATIENCE_MS: i64 = 10_000;
/// How many numbers a change may lie back before it is written, so that opening reads no more than that.
const LAG: i64 = 500_000;

/// A device's present.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// The last location that can be trusted.
    pub(crate) last: Option<Point>,
    /// When it was last heard.
    pub(crate) last_seen: Option<Timestamp>,
    /// How often it is heard.
    pub(crate) rhythm: Rhythm,
    /// What decides whether the next location is believed.
    pub(super) whereabouts: Whereabouts,
    /// Nothing after this instant is in chunks.
    pub(crate) packed_until: Option<Timestamp>,
    /// The highest number of a location that is accounted for here.
    pub(super) observed_to: i64,
    unsaved: Option<Unsaved>,
    changes: u64,
}

/// What of an entry is not in the tables.
#[derive(Clone, Copy, Debug)]
struct Unsaved {
    /// The first number that is not accounted for there.
    from: i64,
    since: Timestamp,
}

/// What was heard of a device in one commit.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) at: Timestamp,
    /// The numbers of its new locations.
    pub(super) numbers: Option<(i64, i64)>,
    /// Its last location, if that is another now, and what decides about the next.
    pub(super) moved: Option<(Option<Point>, Whereabouts)>,
}

/// The devices heard lately.
#[derive(Debug, Default)]
pub(crate) struct Present {
    entries: HashMap<Owner, Entry>,
    /// How often entries were let go: whoever read the tables before may put nothing here after.
    departures: u64,
}

impl Present {
    pub(crate) fn get(&self, owner: Owner) -> Option<&Entry> {
        self.entries.get(&owner)
    }

    pub(crate) const fn departures(&self) -> u64 {
        self.departures
    }

    /// Puts what a reader found in the tables, unless more is known or was when it began to read.
    pub(super) fn put_read(&mut self, departures: u64, owner: Owner, entry: Entry) {
        if departures == self.departures && !self.is_crowded() {
            self.put(owner, entry);
        }
    }

    /// Puts what the writer found in the tables, which nobody else changes.
    fn put(&mut self, owner: Owner, entry: Entry) {
        self.entries.entry(owner).or_insert(entry);
    }

    /// Whether some devices should go.
    pub(crate) fn is_crowded(&self) -> bool {
        self.entries.len() >= MANY
    }

    /// Lets devices go that are in the tables as they are here. The writer does it between two commits: a job counts
    /// on what it has loaded until its commit is remembered.
    pub(crate) fn make_room(&mut self) {
        let mut excess = self.entries.len().saturating_sub(MANY / 2);
        self.entries.retain(|_, entry| {
            let goes = excess > 0 && entry.unsaved.is_none();
            excess -= usize::from(goes);
            !goes
        });
        self.departures += 1;
    }

    /// Accounts for what was heard.
    pub(super) fn hear(&mut self, owner: Owner, heard: Heard) {
        let entry = self.entries.entry(owner).or_default();
        entry.changes += 1;
        entry.last_seen = entry.last_seen.max(Some(heard.at));
        entry.rhythm.hear(heard.at);
        let from = match heard.numbers {
            Some((first, last)) => {
                entry.observed_to = entry.observed_to.max(last);
                first
            }
            None => i64::MAX,
        };
        if let Some((last, whereabouts)) = heard.moved {
            entry.last = last.or(entry.last.take());
            entry.whereabouts = whereabouts;
        }
        let unsaved = entry.unsaved.get_or_insert(Unsaved { from, since: heard.at });
        unsaved.from = unsaved.from.min(from);
    }

    /// Notes up to where a device's locations are in chunks.
    pub(super) fn pack(&mut self, owner: Owner, newest: Timestamp) {
        if let Some(entry) = self.entries.get_mut(&owner) {
            entry.packed_until = entry.packed_until.max(Some(newest));
        }
    }

    /// Puts another last location in the place of one that was erased, as the tables have it.
    pub(crate) fn set_last(&mut self, owner: Owner, last: Option<&StoredLocation>) {
        if let Some(entry) = self.entries.get_mut(&owner) {
            entry.last = last.map(Point::pack);
            entry.whereabouts.last = last.map(Fix::from);
            entry.changes += 1;
        }
        self.departures += 1;
    }

    /// Lets go of a device that is gone.
    pub(super) fn forget(&mut self, owner: Owner) {
        self.entries.remove(&owner);
        self.departures += 1;
    }

    /// The lowest number that the tables do not account for.
    pub(super) fn unsaved_from(&self) -> Option<i64> {
        self.entries.values().filter_map(|entry| entry.unsaved).map(|unsaved| unsaved.from).min()
    }

    /// The devices to write: all, or those that have waited long or lie far back.
    pub(super) fn to_save(&self, everything: bool, now: Timestamp, head: i64) -> Vec<Owner> {
        let long_ago = now.plus_millis(-PATIENCE_MS);
        let is_due = |unsaved: Unsaved| {
            everything
                || unsaved.since <= long_ago
                || unsaved.since > now
                || unsaved.from.saturating_add(LAG) < head
        };
        let due = |(owner, entry): (&Owner, &Entry)| entry.unsaved.filter(|one| is_due(*one)).map(|_| *owner);
        self.entries.iter().filter_map(due).collect()
    }

    /// An entry as it is to be written, and how to tell whether it has changed since.
    pub(super) fn draft(&self, owner: Owner) -> Option<(Entry, u64)> {
        self.entries.get(&owner).map(|entry| (entry.clone(), entry.changes))
    }

    /// Notes that an entry is in the tables as it was then.
    pub(super) fn saved(&mut self, owner: Owner, observed_to: i64, changes: u64) {
        if let Some(entry) = self.entries.get_mut(&owner) {
            if entry.changes == changes {
                entry.unsaved = None;
            } else if let Some(unsaved) = &mut entry.unsaved {
                unsaved.from = unsaved.from.max(observed_to + 1);
            }
        }
    }
}

/// Has these devices in memory from now until the writer's next commit is done. For the writer alone.
pub(super) async fn load(tx: &Tx, live: &Live, owners: impl Iterator<Item = Owner>) -> Result<()> {
    let read = read_missing(tx, live, owners).await?;
    let mut present = live.present_mut();
    for (owner, entry) in read {
        present.put(owner, entry);
    }
    Ok(())
}

/// What the tables say of those of these devices that are not in memory.
pub(super) async fn read_missing(
    tx: &Tx,
    live: &Live,
    owners: impl Iterator<Item = Owner>,
) -> Result<Vec<(Owner, Entry)>> {
    let mut missing: BTreeMap<AccountId, Vec<i64>> = BTreeMap::new();
    {
        let present = live.present();
        for (account, device) in owners.filter(|owner| present.get(*owner).is_none()) {
            missing.entry(account).or_default().push(device.as_i64());
        }
    }
    let mut read = Vec::new();
    for (account, devices) in missing {
        let mut entries: HashMap<DeviceId, Entry> =
            devices.iter().map(|id| (DeviceId::from_i64(*id), Entry::default())).collect();
        for (device, last) in last_points(tx, account, &devices).await? {
            let entry = entries.entry(device).or_default();
            entry.whereabouts.last = Some(Fix::from(&last.unpack().map_err(unreadable_readings)?));
            entry.last = Some(last);
        }
        for (device, newest) in newest_packed(tx, account, &devices).await? {
            entries.entry(device).or_default().packed_until = Some(newest);
        }
        let sql = "SELECT device_id, last_seen, observed_to, rhythm, doubt FROM device_live \
                   WHERE account_id = ?1 AND device_id IN ({ids})";
        for row in for_ids(tx, sql, params![account], &devices).await? {
            let entry = entries.entry(DeviceId::from_i64(row.i64("device_id")?)).or_default();
            entry.last_seen = row.opt_timestamp("last_seen")?;
            entry.observed_to = row.i64("observed_to")?;
            entry.rhythm = Rhythm::from_bytes(row.bytes_ref("rhythm")?);
            entry.whereabouts.doubt = Doubt::from_bytes(row.bytes_ref("doubt")?);
        }
        read.extend(entries.into_iter().map(|(device, entry)| ((account, device), entry)));
    }
    Ok(read)
}

/// Notes that a device was heard that sent no location.
pub(crate) async fn hear(tx: &Tx, live: &Arc<Live>, owner: Owner) -> Result<()> {
    load(tx, live, [owner].into_iter()).await?;
    let (live, at) = (Arc::clone(live), tx.now());
    tx.after_commit(move || live.present_mut().hear(owner, Heard { at, numbers: None, moved: None }));
    Ok(())
}
