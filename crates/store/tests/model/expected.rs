//! The expected content of a store, in plain lists.

use std::collections::BTreeMap;

use perigee_core::id::DeviceId;
use perigee_core::locations::location::{
    Fix, HistoryRequest, JumpDetector, Location, Order, Outcome, StoredLocation, TimeRange, judge, supersedes,
};
use perigee_core::time::Timestamp;

/// The locations of a device, in arrival order, and the last of them. Numbers are those of the model.
#[derive(Default)]
struct Device {
    points: Vec<StoredLocation>,
    jump_detector: JumpDetector,
    last: Option<StoredLocation>,
}

#[derive(Default)]
pub(crate) struct Model {
    devices: BTreeMap<DeviceId, Device>,
    feed: Vec<(DeviceId, StoredLocation)>,
    arrived: i64,
}

impl Model {
    pub(crate) fn add_device(&mut self, device: DeviceId) {
        self.devices.insert(device, Device::default());
    }

    pub(crate) fn remove_device(&mut self, device: DeviceId) {
        self.devices.remove(&device);
        self.feed.retain(|(of, _)| *of != device);
    }

    pub(crate) fn submit(&mut self, device: DeviceId, batch: &[Location], now: Timestamp) -> Vec<Outcome> {
        let known = self.devices.get_mut(&device).unwrap();
        let mut outcomes = Vec::new();
        let mut new = Vec::new();
        for location in batch {
            let same =
                |point: &StoredLocation| point.location.time == location.time && point.location == *location;
            if known.points.iter().chain(&new).any(same) {
                outcomes.push(Outcome::Duplicate);
                continue;
            }
            self.arrived += 1;
            let trust = judge(&Fix::of(location, self.arrived), now);
            let stored =
                StoredLocation { location: location.clone(), received_at: now, trust, number: self.arrived };
            new.push(stored);
            outcomes.push(Outcome::Accepted);
        }
        new.sort_by_key(|stored| (stored.location.time, stored.number));
        for stored in &mut new {
            stored.trust.suspect = known.jump_detector.judge(Fix::from(&*stored), stored.trust.suspect);
            if known.jump_detector.last.is_some_and(|last| last.number == stored.number) {
                known.last = Some(stored.clone());
            }
        }
        new.sort_by_key(|stored| stored.number);
        self.feed.extend(new.iter().map(|stored| (device, stored.clone())));
        known.points.extend(new);
        outcomes
    }

    pub(crate) fn delete(&mut self, device: DeviceId, range: TimeRange) -> u64 {
        let within = |stored: &StoredLocation| (range.from..=range.to).contains(&stored.location.time);
        let known = self.devices.get_mut(&device).unwrap();
        let before = known.points.len();
        known.points.retain(|stored| !within(stored));
        self.feed.retain(|(of, stored)| *of != device || !within(stored));
        if known.last.as_ref().is_some_and(within) {
            let mut sorted = known.points.clone();
            sorted.sort_by_key(|stored| (stored.location.time, stored.number));
            known.last = sorted.into_iter().filter(|stored| !stored.trust.suspect).reduce(newer);
            known.jump_detector.last = known.last.as_ref().map(Fix::from);
        }
        u64::try_from(before - known.points.len()).unwrap()
    }

    /// Removes what was received before this time from the feed.
    pub(crate) fn trim(&mut self, before: Timestamp) -> u64 {
        let length = self.feed.len();
        self.feed.retain(|(_, stored)| stored.received_at >= before);
        u64::try_from(length - self.feed.len()).unwrap()
    }

    pub(crate) fn last(&self, device: DeviceId) -> Option<StoredLocation> {
        self.devices.get(&device).unwrap().last.clone()
    }

    pub(crate) fn feed(&self) -> &[(DeviceId, StoredLocation)] {
        &self.feed
    }

    /// The whole part of the history that is requested, whatever the limit.
    pub(crate) fn history(&self, device: DeviceId, request: &HistoryRequest) -> Vec<StoredLocation> {
        let range = request.range.from..=request.range.to;
        let points = self.devices.get(&device).unwrap().points.iter();
        let mut part: Vec<StoredLocation> =
            points.filter(|stored| range.contains(&stored.location.time)).cloned().collect();
        part.sort_by_key(|stored| (stored.location.time, stored.number));
        if request.order == Order::Descending {
            part.reverse();
        }
        part
    }
}

fn newer(last: StoredLocation, new: StoredLocation) -> StoredLocation {
    if supersedes(&Fix::from(&new), &Fix::from(&last)) { new } else { last }
}
