//! The tail: locations that are in the log and in no chunk, by device and in the order of time.

use std::collections::HashMap;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Order, TimeRange};
use perigee_core::time::Timestamp;

use crate::codec::Point;
use crate::sql::locations::{CHUNK_FULL, Place};

/// Whose locations they are.
pub(crate) type Owner = (AccountId, DeviceId);

/// Locations in memory from which they are packed whatever their number, the fullest devices first.
pub(super) const HIGH: usize = 250_000;
/// Locations in memory at which those who submit wait until some are packed.
pub(super) const FULL: usize = 400_000;
/// Locations of devices that could fill a chunk from which these are packed without rest, and at which those who
/// submit wait: packing them is cheap now and no cheaper later.
pub(super) const RIPE_HIGH: usize = 24_000;
pub(super) const RIPE_FULL: usize = 48_000;
/// How far the oldest location may be behind the newest before it is packed, so that opening reads no more than that.
const LAG: i64 = 2_000_000;

/// The locations that wait to be packed.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    devices: HashMap<Owner, Unpacked>,
    count: usize,
    /// How many of them are of devices that could fill a chunk.
    ripe: usize,
    head: i64,
}

#[derive(Debug)]
struct Unpacked {
    /// By time and number.
    points: Vec<Point>,
    /// The lowest number among them.
    oldest: i64,
    /// When the one with that number was received.
    since: Timestamp,
}

impl Unpacked {
    fn find_oldest(&mut self) {
        if let Some(oldest) = self.points.iter().min_by_key(|point| point.number) {
            self.oldest = oldest.number;
            self.since = oldest.received_at;
        }
    }
}

/// Which devices are to be packed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// Those with few locations too.
    pub(super) everything: bool,
    /// Those whose oldest was received by then.
    pub(super) long_ago: Timestamp,
    /// Those received later than this were received before the clock was set back.
    pub(super) now: Timestamp,
}

impl Tail {
    /// How many locations there are.
    #[cfg(all(test, feature = "testing"))]
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Whether so many wait that packing must not rest.
    pub(super) const fn is_pressed(&self) -> bool {
        self.is_crowded() || self.ripe > RIPE_HIGH
    }

    /// Whether so many wait that those must go too that fill no chunk.
    pub(super) const fn is_crowded(&self) -> bool {
        self.count > HIGH
    }

    /// Whether so many wait that no more are taken before some are packed.
    pub(super) const fn is_full(&self) -> bool {
        self.count >= FULL || self.ripe >= RIPE_FULL
    }

    /// Accounts for a device that had so many locations and has so many now.
    const fn recount(&mut self, before: usize, after: usize) {
        self.count = self.count - before + after;
        self.ripe = self.ripe - ripe(before) + ripe(after);
    }

    /// How many of them are of this device.
    pub(super) fn count_of(&self, owner: Owner) -> usize {
        self.devices.get(&owner).map_or(0, |unpacked| unpacked.points.len())
    }

    /// The highest number there ever was.
    pub(super) const fn head(&self) -> i64 {
        self.head
    }

    /// The lowest number that is in no chunk.
    pub(super) fn oldest(&self) -> Option<i64> {
        self.devices.values().map(|unpacked| unpacked.oldest).min()
    }

    /// Notes a number that is taken.
    pub(super) fn pass(&mut self, number: i64) {
        self.head = self.head.max(number);
    }

    /// Adds locations of a device, in any order.
    pub(super) fn add(&mut self, owner: Owner, points: Vec<Point>) {
        let Some(first) = points.first() else { return };
        let (oldest, since) = (first.number, first.received_at);
        let unpacked =
            self.devices.entry(owner).or_insert_with(|| Unpacked { points: Vec::new(), oldest, since });
        let ordered = unpacked.points.len();
        for point in points {
            self.head = self.head.max(point.number);
            unpacked.points.push(point);
        }
        let first_new = unpacked.points.get(ordered).map(Point::key);
        let last_old = ordered.checked_sub(1).and_then(|last| unpacked.points.get(last)).map(Point::key);
        let fits = first_new > last_old && unpacked.points[ordered..].is_sorted_by_key(Point::key);
        if !fits {
            unpacked.points.sort_by_key(Point::key);
        }
        let count = unpacked.points.len();
        self.recount(ordered, count);
    }

    /// Whether the same location is there.
    pub(super) fn holds(&self, owner: Owner, point: &Point) -> bool {
        let Some(unpacked) = self.devices.get(&owner) else { return false };
        let points = &unpacked.points;
        if points.last().is_none_or(|last| last.time < point.time) {
            return false;
        }
        let begin = points.partition_point(|other| other.time < point.time);
        points[begin..].iter().take_while(|other| other.time == point.time).any(|other| other.is_same(point))
    }

    /// The first so many between two places, both left out, in this order.
    pub(crate) fn between(
        &self,
        owner: Owner,
        (after, before): (Place, Place),
        order: Order,
        wanted: usize,
    ) -> Vec<Point> {
        let Some(unpacked) = self.devices.get(&owner) else { return Vec::new() };
        let begin = unpacked.points.partition_point(|point| point.key() <= after);
        let end = unpacked.points.partition_point(|point| point.key() < before);
        let within = unpacked.points.get(begin..end).unwrap_or_default();
        match order {
            Order::Ascending => within.iter().take(wanted).cloned().collect(),
            Order::Descending => within.iter().rev().take(wanted).cloned().collect(),
        }
    }

    /// How many of a device's locations lie in this range.
    pub(crate) fn count_within(&self, owner: Owner, range: TimeRange) -> usize {
        self.devices.get(&owner).map_or(0, |unpacked| {
            let points = &unpacked.points;
            let begin = points.partition_point(|point| point.time < range.from);
            points.partition_point(|point| point.time <= range.to).saturating_sub(begin)
        })
    }

    /// The first so many of a device's locations that arrived, in the order of time.
    pub(super) fn first_arrived(&self, owner: Owner, most: usize) -> Vec<Point> {
        let Some(Unpacked { points, .. }) = self.devices.get(&owner) else { return Vec::new() };
        if points.len() <= most {
            return points.clone();
        }
        // Few of many are copied, while nobody can add to them.
        let mut numbers: Vec<i64> = points.iter().map(|point| point.number).collect();
        let (_, first_left, _) = numbers.select_nth_unstable(most);
        points.iter().filter(|point| point.number < *first_left).cloned().collect()
    }

    /// Forgets a device's locations up to this number: they are in chunks now.
    pub(super) fn drop_packed(&mut self, owner: Owner, up_to: i64) {
        self.retain(owner, |point| point.number > up_to);
    }

    /// Forgets what lies in a range and arrived up to this number.
    pub(super) fn erase(&mut self, owner: Owner, range: TimeRange, up_to: i64) {
        self.retain(owner, |point| point.number > up_to || !(range.from..=range.to).contains(&point.time));
    }

    /// Forgets a device.
    pub(super) fn forget(&mut self, owner: Owner) {
        self.retain(owner, |_| false);
    }

    fn retain(&mut self, owner: Owner, keep: impl Fn(&Point) -> bool) {
        let Some(unpacked) = self.devices.get_mut(&owner) else { return };
        let before = unpacked.points.len();
        unpacked.points.retain(keep);
        let after = unpacked.points.len();
        if after == 0 {
            self.devices.remove(&owner);
        } else {
            unpacked.find_oldest();
            if after < unpacked.points.capacity() / 4 {
                unpacked.points.shrink_to(after * 2);
            }
        }
        self.recount(before, after);
    }

    /// The devices to pack, those with the most locations first.
    pub(super) fn due(&self, due: Due) -> Vec<Owner> {
        let lagging = self.head - LAG;
        let is_due = |unpacked: &Unpacked| {
            due.everything
                || unpacked.points.len() >= CHUNK_FULL
                || unpacked.since <= due.long_ago
                || unpacked.since > due.now
                || unpacked.oldest < lagging
        };
        let mut owners: Vec<(usize, Owner)> = Vec::new();
        let mut rest: Vec<(usize, Owner)> = Vec::new();
        let mut left = self.count;
        for (owner, unpacked) in &self.devices {
            let entry = (unpacked.points.len(), *owner);
            if is_due(unpacked) {
                left -= entry.0;
                owners.push(entry);
            } else if self.count > HIGH {
                rest.push(entry);
            }
        }
        owners.sort_unstable_by(|one, other| other.cmp(one));
        rest.sort_unstable_by(|one, other| other.cmp(one));
        for (count, owner) in rest {
            if left <= HIGH / 2 {
                break;
            }
            left -= count;
            owners.push((count, owner));
        }
        owners.into_iter().map(|(_, owner)| owner).collect()
    }
}

/// How many of a device's locations count as ripe.
const fn ripe(count: usize) -> usize {
    if count < CHUNK_FULL { 0 } else { count }
}
