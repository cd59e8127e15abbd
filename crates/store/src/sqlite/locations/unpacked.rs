//! Unpacked locations: those in the log and in no chunk yet, kept in memory by device and in time order.

use std::collections::HashMap;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{DuplicateRule, Order, TimeRange};
use perigee_core::time::Timestamp;

use crate::codec::Point;
use crate::sql::locations::LocationKey;

/// The account and device that locations belong to.
pub(crate) type Owner = (AccountId, DeviceId);

/// Bytes of readings that count as one location: many more than trackers send, so that ordinary locations weigh one.
/// The thresholds below are weights, so that locations with long texts cannot fill the memory.
const WEIGHT_BYTES: usize = 256;
/// Locations in a full chunk.
pub(super) const FULL_CHUNK: usize = 1_024;
/// The weight above which devices with less than a full chunk are packed too, those with the most first.
pub(super) const PACK_ALL_ABOVE: usize = 250_000;
/// The weight at which submitters wait for compaction.
pub(super) const FULL_AT: usize = 400_000;
/// The weight of devices with at least a full chunk, above which compaction runs without pause and at which submitters
/// wait. Waiting longer would not make packing them cheaper.
pub(super) const CHUNKABLE_PRESSED_ABOVE: usize = 24_000;
pub(super) const CHUNKABLE_FULL_AT: usize = 48_000;
/// How many log numbers the oldest unpacked location may lie behind the newest; bounds the replay at open.
const LAG_MAX: i64 = 2_000_000;

/// Up to this many locations are inserted one by one; more are sorted, which takes as long as a few insertions.
const INSERTED_SINGLY_MAX: usize = 4;

/// The unpacked locations of all devices.
#[derive(Debug, Default)]
pub(crate) struct UnpackedLocations {
    devices: HashMap<Owner, DeviceLocations>,
    weight: usize,
    /// How much of `weight` belongs to devices with at least a full chunk.
    chunkable: usize,
    /// The highest log number ever assigned.
    head: i64,
}

#[derive(Debug)]
struct DeviceLocations {
    /// Sorted by time and number.
    points: Vec<Point>,
    weight: usize,
    /// The lowest number among them.
    oldest: i64,
    /// When the one with that number was received.
    since: Timestamp,
}

/// The memory that a location takes, as a number of ordinary locations.
pub(super) fn weight(point: &Point) -> usize {
    1 + point.readings.len() / WEIGHT_BYTES
}

impl DeviceLocations {
    /// The weight that counts as chunkable.
    const fn chunkable(&self) -> usize {
        if self.points.len() < FULL_CHUNK { 0 } else { self.weight }
    }

    /// Adds locations in order.
    fn merge(&mut self, points: Vec<Point>) {
        let last_old = self.points.last().map(Point::key);
        let fits = points.first().map(Point::key) > last_old && points.is_sorted_by_key(Point::key);
        if fits {
            self.points.extend(points);
        } else if points.len() <= INSERTED_SINGLY_MAX {
            for point in points {
                let index = self.points.partition_point(|other| other.key() < point.key());
                self.points.insert(index, point);
            }
        } else {
            self.points.extend(points);
            self.points.sort_by_key(Point::key);
        }
    }

    fn find_oldest(&mut self) {
        if let Some(oldest) = self.points.iter().min_by_key(|point| point.number) {
            self.oldest = oldest.number;
            self.since = oldest.received_at;
        }
    }
}

/// Selects the devices to pack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// Whether devices with few locations are included.
    pub(super) everything: bool,
    /// Devices whose oldest location was received by then are included.
    pub(super) received_by: Timestamp,
    /// Devices with a later receipt time are included: the clock was set back since.
    pub(super) now: Timestamp,
}

impl UnpackedLocations {
    #[cfg(all(test, feature = "testing"))]
    pub(super) fn count(&self) -> usize {
        self.devices.values().map(|device| device.points.len()).sum()
    }

    /// Whether compaction must run without pause.
    pub(super) const fn is_pressed(&self) -> bool {
        self.must_pack_all() || self.chunkable > CHUNKABLE_PRESSED_ABOVE
    }

    /// Whether devices with less than a full chunk must be packed too.
    pub(super) const fn must_pack_all(&self) -> bool {
        self.weight > PACK_ALL_ABOVE
    }

    /// Whether submitters must wait for compaction.
    pub(super) const fn is_full(&self) -> bool {
        self.weight >= FULL_AT || self.chunkable >= CHUNKABLE_FULL_AT
    }

    /// Changes the locations of a device, which is dropped when it has none left, and updates the totals.
    fn change(&mut self, owner: Owner, change: impl FnOnce(&mut DeviceLocations)) {
        let Some(device) = self.devices.get_mut(&owner) else { return };
        let before = (device.weight, device.chunkable());
        change(device);
        let after = (device.weight, device.chunkable());
        if device.points.is_empty() {
            self.devices.remove(&owner);
        }
        self.weight = self.weight - before.0 + after.0;
        self.chunkable = self.chunkable - before.1 + after.1;
    }

    /// How many of this device's locations weigh as much as `most` ordinary ones.
    pub(super) fn count_weighing(&self, owner: Owner, most: usize) -> usize {
        let average = |device: &DeviceLocations| device.weight.div_ceil(device.points.len().max(1));
        self.devices.get(&owner).map_or(most, |device| (most / average(device).max(1)).max(1))
    }

    /// Number of unpacked locations of this device.
    pub(super) fn count_of(&self, owner: Owner) -> usize {
        self.devices.get(&owner).map_or(0, |device| device.points.len())
    }

    /// The highest log number ever assigned.
    pub(super) const fn head(&self) -> i64 {
        self.head
    }

    /// The lowest log number that is in no chunk.
    pub(super) fn oldest(&self) -> Option<i64> {
        self.devices.values().map(|device| device.oldest).min()
    }

    /// Raises the head to a number that was assigned.
    pub(super) fn raise_head(&mut self, number: i64) {
        self.head = self.head.max(number);
    }

    /// Adds locations of a device, in any order.
    pub(super) fn add(&mut self, owner: Owner, points: Vec<Point>) {
        let Some(first) = points.first() else { return };
        let (oldest, since) = (first.number, first.received_at);
        let newest = points.iter().map(|point| point.number).max();
        self.head = self.head.max(newest.unwrap_or(0));
        let none = DeviceLocations { points: Vec::new(), weight: 0, oldest, since };
        self.devices.entry(owner).or_insert(none);
        self.change(owner, |device| {
            device.weight += points.iter().map(weight).sum::<usize>();
            device.merge(points);
        });
    }

    /// Whether a location that is the same by `duplicate_rule` is unpacked.
    pub(super) fn holds(&self, owner: Owner, point: &Point, duplicate_rule: DuplicateRule) -> bool {
        let Some(device) = self.devices.get(&owner) else { return false };
        let points = &device.points;
        if points.last().is_none_or(|last| last.time < point.time) {
            return false;
        }
        let begin = points.partition_point(|other| other.time < point.time);
        let mut same_time = points[begin..].iter().take_while(|other| other.time == point.time);
        same_time.any(|other| other.is_same_by(point, duplicate_rule))
    }

    /// Up to `wanted` locations between two keys, both exclusive, in this order.
    pub(crate) fn between(
        &self,
        owner: Owner,
        (after, before): (LocationKey, LocationKey),
        order: Order,
        wanted: usize,
    ) -> Vec<Point> {
        let Some(device) = self.devices.get(&owner) else { return Vec::new() };
        let begin = device.points.partition_point(|point| point.key() <= after);
        let end = device.points.partition_point(|point| point.key() < before);
        let within = device.points.get(begin..end).unwrap_or_default();
        match order {
            Order::Ascending => within.iter().take(wanted).cloned().collect(),
            Order::Descending => within.iter().rev().take(wanted).cloned().collect(),
        }
    }

    /// How many of a device's locations lie in this range.
    pub(crate) fn count_within(&self, owner: Owner, range: TimeRange) -> usize {
        self.devices.get(&owner).map_or(0, |device| {
            let points = &device.points;
            let begin = points.partition_point(|point| point.time < range.from);
            points.partition_point(|point| point.time <= range.to).saturating_sub(begin)
        })
    }

    /// The `most` locations of a device with the lowest log numbers, in time order.
    pub(super) fn first_arrived(&self, owner: Owner, most: usize) -> Vec<Point> {
        let Some(DeviceLocations { points, .. }) = self.devices.get(&owner) else { return Vec::new() };
        if points.len() <= most {
            return points.clone();
        }
        // Selecting before copying keeps the time short for which the lock is held.
        let mut numbers: Vec<i64> = points.iter().map(|point| point.number).collect();
        let (_, first_left, _) = numbers.select_nth_unstable(most);
        points.iter().filter(|point| point.number < *first_left).cloned().collect()
    }

    /// Drops a device's locations up to this number: they are in chunks now.
    pub(super) fn drop_packed(&mut self, owner: Owner, up_to: i64) {
        self.retain(owner, |point| point.number > up_to);
    }

    /// Drops the locations within a time range up to this log number.
    pub(super) fn erase(&mut self, owner: Owner, range: TimeRange, up_to: i64) {
        self.retain(owner, |point| point.number > up_to || !(range.from..=range.to).contains(&point.time));
    }

    pub(super) fn remove(&mut self, owner: Owner) {
        self.retain(owner, |_| false);
    }

    fn retain(&mut self, owner: Owner, keep: impl Fn(&Point) -> bool) {
        self.change(owner, |device| {
            device.points.retain(keep);
            device.weight = device.points.iter().map(weight).sum();
            let left = device.points.len();
            if left > 0 {
                device.find_oldest();
                if left < device.points.capacity() / 4 {
                    device.points.shrink_to(left * 2);
                }
            }
        });
    }

    /// The devices to pack, those with the most locations first.
    pub(super) fn due(&self, due: Due) -> Vec<Owner> {
        let lagging = self.head - LAG_MAX;
        let is_due = |device: &DeviceLocations| {
            due.everything
                || device.points.len() >= FULL_CHUNK
                || device.since <= due.received_by
                || device.since > due.now
                || device.oldest < lagging
        };
        let mut owners: Vec<(usize, Owner)> = Vec::new();
        let mut rest: Vec<(usize, Owner)> = Vec::new();
        let mut left = self.weight;
        for (owner, device) in &self.devices {
            let entry = (device.weight, *owner);
            if is_due(device) {
                left -= entry.0;
                owners.push(entry);
            } else if self.weight > PACK_ALL_ABOVE {
                rest.push(entry);
            }
        }
        owners.sort_unstable_by(|one, other| other.cmp(one));
        rest.sort_unstable_by(|one, other| other.cmp(one));
        for (weight, owner) in rest {
            if left <= PACK_ALL_ABOVE / 2 {
                break;
            }
            left -= weight;
            owners.push((weight, owner));
        }
        owners.into_iter().map(|(_, owner)| owner).collect()
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::locations::location::{Latitude, Longitude, Trust};

    use super::*;

    const OWNER: Owner = (AccountId::from_i64(1), DeviceId::from_i64(2));

    fn points(count: i64, readings: usize) -> Vec<Point> {
        let readings = bytes::Bytes::from(vec![0; readings]);
        let point = |number| Point {
            time: Timestamp::from_millis(number),
            number,
            received_at: Timestamp::from_millis(number),
            latitude: Latitude::from_degrees(0.0).unwrap(),
            longitude: Longitude::from_degrees(0.0).unwrap(),
            trust: Trust::default(),
            readings: readings.clone(),
        };
        (1..=count).map(point).collect()
    }

    /// Locations that arrive late are kept in the order of time, whether few or many of them.
    #[test]
    fn late_locations_are_put_in_order() {
        for late in [1, INSERTED_SINGLY_MAX, INSERTED_SINGLY_MAX + 1, 50] {
            let mut unpacked = UnpackedLocations::default();
            let all = points(100, 0);
            let (first, rest) = all.split_at(10);
            let (middle, last) = rest.split_at(late);
            unpacked.add(OWNER, last.to_vec());
            unpacked.add(OWNER, middle.iter().rev().cloned().collect());
            unpacked.add(OWNER, first.to_vec());
            assert_eq!(unpacked.first_arrived(OWNER, 100), all, "{late} late");
            assert_eq!(unpacked.weight, 100);
        }
    }

    #[test]
    fn long_readings_fill_the_memory_sooner() {
        let mut unpacked = UnpackedLocations::default();
        unpacked.add(OWNER, points(900, 100));
        assert_eq!((unpacked.weight, unpacked.chunkable), (900, 0));
        unpacked.remove(OWNER);
        unpacked.add(OWNER, points(900, 256 * 500));
        assert!(unpacked.is_full(), "{} of weight in less than a chunk", unpacked.weight);
        assert_eq!(unpacked.count_weighing(OWNER, 4_096), 8);
        unpacked.drop_packed(OWNER, 899);
        assert_eq!((unpacked.weight, unpacked.chunkable, unpacked.is_full()), (501, 0, false));
        unpacked.remove(OWNER);
        assert_eq!(unpacked.weight, 0);
    }
}
