//! Visits of a device to geofences: the spans of time that it spent inside, as a function of its locations.
//!
//! The same locations count as in a timeline. A visit begins at the first location inside and ends at the first one
//! outside. If the device was silent for more than [`SILENCE_MS`] before that, it ends at the last location inside instead,
//! because nobody knows when the device left. A silence between two locations inside does not end a visit, and neither does
//! an absence of at most [`ABSENCE_MS`], which is the noise of a receiver at the edge. A single far-off fix is left out; only
//! its neighbours decide that.
//!
//! Everything is decided by locations near an instant, so that a period selects and cuts visits and never detects them: to
//! know the visits of a period, [`VisitWalk`] is given the locations from some time before it, found by [`VisitStart`], up
//! to some time after it, which it asks for.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::TimelinePoint;
use super::outliers::is_far_off;
use super::settings::TimelineSettings;
use crate::id::GeofenceId;
use crate::locations::geofence::{FenceIndex, Position};
use crate::locations::location::StoredLocation;
use crate::time::Timestamp;

#[cfg(test)]
mod tests;

/// Longest silence, in milliseconds, after which a device is taken to have left when it was first seen outside.
const SILENCE_MS: i64 = 30 * 60 * 1_000;
/// Longest time between two locations inside, in milliseconds, in which locations outside are ignored.
const ABSENCE_MS: i64 = 60 * 1_000;
/// Points that decide about one: two before it, and two after it.
const WINDOW: usize = 5;
const MIDDLE: usize = 2;

/// A visit, or the part of one that falls into a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The geofence that contains the device.
    pub geofence: GeofenceId,
    /// The beginning of the part.
    pub from: Timestamp,
    /// The end of the part. For a visit that has not ended, the last location.
    pub to: Timestamp,
    /// When the device entered; `None` if that was before the period.
    pub entry: Option<Timestamp>,
    /// When the device left; `None` if that was after the period, or if it has not left.
    pub exit: Option<Timestamp>,
}

/// Reads the locations before a period, the newest first, until they decide which geofences contain the device when the
/// period begins.
#[derive(Debug)]
pub struct VisitStart {
    from: Timestamp,
    /// The best points of the oldest seconds, the newest first; at most [`WINDOW`].
    seconds: VecDeque<TimelinePoint>,
    /// Number of seconds before the longest absence that is ignored.
    before: usize,
    /// Whether a point of these is not far off, so that nothing before it matters.
    is_known: bool,
}

/// Finds the visits of a period in the locations of a device, in order of their fix times.
#[derive(Debug)]
pub struct VisitWalk {
    index: Arc<FenceIndex>,
    from: Timestamp,
    to: Timestamp,
    radius_m: f64,
    /// The best point of the newest second.
    second: Option<TimelinePoint>,
    /// The newest points, at most [`WINDOW`].
    window: VecDeque<TimelinePoint>,
    /// The position of the next point to decide in the window.
    next: usize,
    inside: BTreeMap<GeofenceId, Stay>,
    visits: Vec<Visit>,
    is_done: bool,
    /// The newest point that was decided.
    at: Timestamp,
    /// CPU steps of the tests so far.
    steps: u64,
}

/// A visit that may go on.
#[derive(Clone, Copy, Debug)]
struct Stay {
    entry: Timestamp,
    last_inside: Timestamp,
    /// The first point outside after the last one inside.
    left: Option<Timestamp>,
}

impl Stay {
    fn is_absent_at(&self, at: Timestamp) -> bool {
        self.left.is_some() && at.as_millis() - self.last_inside.as_millis() > ABSENCE_MS
    }

    fn exit(&self) -> Option<Timestamp> {
        let left = self.left?;
        let was_silent = left.as_millis() - self.last_inside.as_millis() > SILENCE_MS;
        Some(if was_silent { self.last_inside } else { left })
    }
}

fn second_of(point: &TimelinePoint) -> i64 {
    point.time.as_millis().div_euclid(1_000)
}

impl VisitStart {
    /// Begins before a period.
    pub const fn new(from: Timestamp) -> Self {
        Self { from, seconds: VecDeque::new(), before: 0, is_known: false }
    }

    /// Reads older locations, the newest first. Returns whether there are enough.
    pub fn pass(&mut self, part: impl IntoIterator<Item = StoredLocation>) -> bool {
        let points = part.into_iter().filter_map(|stored| TimelinePoint::from_stored(&stored));
        let from = self.from;
        for point in points.filter(|point| point.time < from) {
            self.push(point);
            if self.is_known {
                return true;
            }
        }
        self.is_known
    }

    fn push(&mut self, point: TimelinePoint) {
        match self.seconds.back_mut() {
            Some(last) if second_of(last) == second_of(&point) => {
                if point.order(last).is_lt() {
                    *last = point;
                }
            }
            _ => {
                // The second before this one is complete now.
                self.decide();
                if self.seconds.len() >= WINDOW {
                    self.seconds.pop_front();
                }
                self.seconds.push_back(point);
            }
        }
    }

    /// Whether the oldest complete seconds include a point that is far enough before the period and not far off.
    fn decide(&mut self) {
        let early = self.from.plus_millis(-ABSENCE_MS);
        if self.seconds.back().is_some_and(|oldest| oldest.time < early) {
            self.before += 1;
        }
        if self.before < WINDOW {
            return;
        }
        let window: Vec<&TimelinePoint> = self.seconds.iter().rev().collect();
        self.is_known = is_kept(&window, MIDDLE, radius_m());
    }

    /// The fix time from which the walk reads: before it, nothing matters to the period. The beginning of the history if
    /// all of it was read.
    pub fn begin(&self) -> Timestamp {
        if self.is_known {
            self.seconds
                .back()
                .map_or(self.from, |oldest| Timestamp::from_millis(second_of(oldest).saturating_mul(1_000)))
        } else {
            Timestamp::MIN
        }
    }
}

/// The radius of a stop, by which far-off fixes are told from noise.
fn radius_m() -> f64 {
    f64::from(TimelineSettings::default().stop_radius_m)
}

/// Whether a point of a window is not far off. Those at the ends of a history are kept.
fn is_kept(window: &[&TimelinePoint], at: usize, radius_m: f64) -> bool {
    let near = |by: isize| at.checked_add_signed(by).and_then(|index| window.get(index)).copied();
    match (near(-1), near(0), near(1)) {
        (Some(before), Some(point), Some(next)) => {
            !is_far_off([before, point, next], near(-2), near(2), radius_m)
        }
        _ => true,
    }
}

impl VisitWalk {
    /// Begins to look for visits to the geofences of an index in a period, whose end does not belong to it.
    pub fn new(index: Arc<FenceIndex>, from: Timestamp, to: Timestamp) -> Self {
        Self {
            index,
            from,
            to,
            radius_m: radius_m(),
            second: None,
            window: VecDeque::with_capacity(WINDOW),
            next: 0,
            inside: BTreeMap::new(),
            visits: Vec::new(),
            is_done: false,
            at: Timestamp::MIN,
            steps: 0,
        }
    }

    /// CPU steps of all tests so far.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// The fix time up to which locations were considered.
    pub const fn at(&self) -> Timestamp {
        self.at
    }

    /// Whether all visits of the period are known.
    pub const fn is_done(&self) -> bool {
        self.is_done
    }

    /// Number of visits that were found and have not been taken.
    pub fn found(&self) -> usize {
        self.visits.len()
    }

    /// Ends the period at an earlier instant. What was found after it is left out.
    pub fn end_at(&mut self, to: Timestamp) {
        self.to = self.to.min(to);
        self.is_done |= self.at >= self.to && self.is_decided();
    }

    /// Reads locations until the visits are known or this many CPU steps were used. Returns whether it read all of them.
    pub fn pass(&mut self, part: &mut impl Iterator<Item = StoredLocation>, steps: u64) -> bool {
        let enough = self.steps.saturating_add(steps);
        while !self.is_done && self.steps < enough {
            let Some(stored) = part.next() else { return true };
            self.steps += 1;
            if let Some(point) = TimelinePoint::from_stored(&stored) {
                self.push(point);
            }
        }
        self.is_done
    }

    /// Adds the next point that counts.
    pub fn push(&mut self, point: TimelinePoint) {
        match &mut self.second {
            Some(best) if second_of(best) == second_of(&point) => {
                if point.order(best).is_lt() {
                    *best = point;
                }
            }
            second => {
                if let Some(before) = second.replace(point) {
                    self.slide(before);
                }
            }
        }
    }

    /// Adds the point of a complete second, and decides the points that have enough neighbours.
    fn slide(&mut self, point: TimelinePoint) {
        if self.window.len() == WINDOW {
            self.window.pop_front();
            self.next = self.next.saturating_sub(1);
        }
        self.window.push_back(point);
        while self.next + MIDDLE < self.window.len() {
            self.decide_next();
        }
    }

    fn decide_next(&mut self) {
        let window: Vec<&TimelinePoint> = self.window.iter().collect();
        let is_kept = is_kept(&window, self.next, self.radius_m);
        let point = self.window.get(self.next).map(|point| (point.time, point.position()));
        self.next += 1;
        if let Some((time, (latitude, longitude))) = point {
            self.at = time;
            if is_kept && !self.is_done {
                self.visit(time, Position { latitude, longitude });
            }
        }
    }

    fn visit(&mut self, time: Timestamp, position: Position) {
        let (containing, steps) = self.index.containing_with_steps(position);
        self.steps = self.steps.saturating_add(steps);
        let mut ended = Vec::new();
        for (fence, stay) in &mut self.inside {
            let is_inside = containing.binary_search(fence).is_ok();
            if stay.is_absent_at(time) {
                ended.push((*fence, *stay));
            } else if is_inside {
                (stay.last_inside, stay.left) = (time, None);
            } else {
                stay.left = stay.left.or(Some(time));
                if stay.is_absent_at(time) {
                    ended.push((*fence, *stay));
                }
            }
        }
        for (fence, stay) in ended {
            self.inside.remove(&fence);
            self.end(fence, &stay);
        }
        if time < self.to {
            for fence in containing {
                let stay = Stay { entry: time, last_inside: time, left: None };
                self.inside.entry(fence).or_insert(stay);
            }
        }
        self.is_done = time >= self.to && self.is_decided();
    }

    /// Whether later points do not matter to the period: each visit goes on after it, or the device was seen outside only
    /// after it.
    fn is_decided(&self) -> bool {
        let is_later = |at: Timestamp| at > self.to;
        self.inside.values().all(|stay| is_later(stay.last_inside) || stay.left.is_some_and(is_later))
    }

    /// Adds the part of an ended visit that falls into the period.
    fn end(&mut self, fence: GeofenceId, stay: &Stay) {
        let exit = stay.exit();
        self.add(fence, stay, exit.unwrap_or(stay.last_inside), exit);
    }

    fn add(&mut self, geofence: GeofenceId, stay: &Stay, to: Timestamp, exit: Option<Timestamp>) {
        let is_instant = stay.entry == to && stay.entry >= self.from;
        if stay.entry >= self.to || (to <= self.from && !is_instant) {
            return;
        }
        self.visits.push(Visit {
            geofence,
            from: stay.entry.max(self.from),
            to: to.min(self.to),
            entry: Some(stay.entry).filter(|entry| *entry >= self.from),
            exit: exit.filter(|exit| *exit <= self.to),
        });
    }

    /// The visits that have ended so far, in the order of their ends.
    pub fn take(&mut self) -> Vec<Visit> {
        std::mem::take(&mut self.visits)
    }

    /// All remaining visits, after the last location was read or the walk is done.
    pub fn finish(mut self) -> Vec<Visit> {
        if let Some(last) = self.second.take()
            && !self.is_done
        {
            self.slide(last);
        }
        while !self.is_done && self.next < self.window.len() {
            self.decide_next();
        }
        for (fence, stay) in std::mem::take(&mut self.inside) {
            self.end(fence, &stay);
        }
        let mut visits = self.visits;
        visits.sort_unstable_by_key(|visit| (visit.from, visit.geofence));
        visits
    }
}
