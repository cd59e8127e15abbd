//! The locations of one device in a batch of submissions, on their way to the log.

use std::collections::{BTreeMap, HashMap};

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{
    DuplicateRule, Fix, JumpDetector, Latitude, Longitude, Outcome, judge,
};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::admission::Admission;
use super::pending_location::PendingLocation;
use super::submission_queue::Submission;
use crate::codec::Point;

/// The index of a location in the batch: the index of its submission, and its index within the submission.
type BatchIndex = (usize, usize);

/// The locations of one device in the batch.
#[derive(Default)]
pub(crate) struct Arrival {
    candidates: Vec<BatchIndex>,
    /// Those that are new, in arrival order.
    pub(crate) points: Vec<Point>,
    /// The batch index of each of `points`.
    indices: Vec<BatchIndex>,
    /// The index in `points` of the new last location of the device.
    last: Option<usize>,
    /// Evaluates the next location.
    pub(crate) jump_detector: JumpDetector,
}

/// The results of a batch of submissions.
pub(crate) struct Ingested {
    /// The outcome of each location, or why its submission is refused.
    pub(crate) results: Vec<Result<Vec<Outcome>>>,
    /// See [`last_positions`].
    pub(crate) last: LastPositions,
}

/// The new last positions of devices.
pub(crate) type LastPositions = HashMap<(AccountId, DeviceId), (Latitude, Longitude)>;

/// The devices of a batch, in the order in which log numbers are assigned.
pub(crate) type Arrivals = BTreeMap<(AccountId, DeviceId), Arrival>;

/// Sorts the admitted submissions by device. An expired device has an arrival without candidates: its contact is
/// recorded all the same.
pub(crate) fn arrivals(submissions: &[Submission], admissions: &[Admission]) -> Arrivals {
    let mut arrivals = Arrivals::new();
    for (index, (submission, admission)) in submissions.iter().zip(admissions).enumerate() {
        if !matches!(admission, Admission::Active | Admission::Expired) {
            continue;
        }
        let arrival = arrivals.entry((submission.scope.account, submission.device)).or_default();
        if *admission == Admission::Active {
            arrival.candidates.extend((0..submission.locations.len()).map(|item| (index, item)));
        }
    }
    arrivals
}

/// The last positions that a batch changes, of devices that have alerts in it. They cannot be read before the commit.
pub(crate) fn last_positions(submissions: &[Submission], arrivals: &Arrivals) -> LastPositions {
    let with_alerts = submissions.iter().filter(|submission| submission.attached.is_some());
    let last = |submission: &Submission| {
        let key = (submission.scope.account, submission.device);
        let last = arrivals.get(&key)?.last()?;
        Some((key, (last.latitude, last.longitude)))
    };
    with_alerts.filter_map(last).collect()
}

impl Arrival {
    /// Takes each candidate once, unless `is_stored` is true for it.
    pub(crate) fn take_new(
        &mut self,
        submissions: &[Submission],
        received_at: Timestamp,
        is_stored: impl Fn(&Point, DuplicateRule) -> bool,
    ) {
        let mut seen = Seen::default();
        for index in std::mem::take(&mut self.candidates) {
            let Some(point) = point(submissions, index, received_at) else { continue };
            let duplicate_rule = duplicate_rule(submissions, index);
            if is_stored(&point, duplicate_rule) || seen.contains(&self.points, &point, duplicate_rule) {
                continue;
            }
            seen.add(&point, self.points.len());
            self.points.push(point);
            self.indices.push(index);
        }
    }

    /// The submitted form of the new locations, in their order.
    pub(crate) fn pending<'s>(&self, submissions: &'s [Submission]) -> Vec<&'s PendingLocation> {
        self.indices.iter().filter_map(|index| pending(submissions, *index)).collect()
    }

    /// The duplicate rule of each of the new locations, in their order.
    pub(crate) fn duplicate_rules<'s>(
        &'s self,
        submissions: &'s [Submission],
    ) -> impl Iterator<Item = DuplicateRule> + 's {
        self.indices.iter().map(|index| duplicate_rule(submissions, *index))
    }

    /// Removes the locations for which `is_stored`, which is in their order, is true.
    pub(crate) fn remove_stored(&mut self, is_stored: &[bool]) {
        let mut each = is_stored.iter();
        self.points.retain(|_| !each.next().copied().unwrap_or(false));
        let mut each = is_stored.iter();
        self.indices.retain(|_| !each.next().copied().unwrap_or(false));
    }

    /// Flags implausible jumps among the new locations, and finds the last location. The numbers must be assigned
    /// already.
    pub(crate) fn detect_jumps(&mut self, before: JumpDetector, submissions: &[Submission]) {
        let mut jump_detector = before;
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        // In time order, so that the result does not depend on the order of submission.
        order.sort_by_key(|index| self.points[*index].key());
        for index in order {
            let Some(pending) = pending(submissions, self.indices[index]) else { continue };
            let point = &mut self.points[index];
            point.trust.suspect =
                jump_detector.judge(Fix { number: point.number, ..pending.fix }, point.trust.suspect);
            if jump_detector.last != before.last
                && jump_detector.last.is_some_and(|last| last.number == point.number)
            {
                self.last = Some(index);
            }
        }
        self.jump_detector = jump_detector;
    }

    /// The device's last location, if it is one of the new ones.
    pub(crate) fn last(&self) -> Option<&Point> {
        self.last.and_then(|index| self.points.get(index))
    }

    /// Marks the new locations as accepted.
    pub(crate) fn accept(&self, results: &mut [Result<Vec<Outcome>>]) {
        for (index, item) in &self.indices {
            if let Some(Ok(outcomes)) = results.get_mut(*index)
                && let Some(outcome) = outcomes.get_mut(*item)
            {
                *outcome = Outcome::Accepted;
            }
        }
    }
}

fn pending(submissions: &[Submission], (index, item): BatchIndex) -> Option<&PendingLocation> {
    submissions.get(index).and_then(|submission| submission.locations.get(item))
}

fn duplicate_rule(submissions: &[Submission], index: BatchIndex) -> DuplicateRule {
    pending(submissions, index).map_or(DuplicateRule::Content, |pending| pending.duplicate_rule)
}

fn point(submissions: &[Submission], index: BatchIndex, received_at: Timestamp) -> Option<Point> {
    let PendingLocation { fix, readings, .. } = pending(submissions, index)?;
    Some(Point {
        time: fix.time,
        number: 0,
        received_at,
        latitude: fix.latitude,
        longitude: fix.longitude,
        trust: judge(fix, received_at),
        readings: readings.clone(),
    })
}

/// Finds duplicates among the new locations of one device. Mostly times ascend, and no lookup is needed.
#[derive(Default)]
struct Seen {
    /// Built when a time first does not ascend.
    by_time: Option<HashMap<Timestamp, Vec<usize>>>,
}

impl Seen {
    fn contains(&mut self, points: &[Point], point: &Point, duplicate_rule: DuplicateRule) -> bool {
        if self.by_time.is_none() && points.last().is_none_or(|last| last.time < point.time) {
            return false;
        }
        let by_time = self.by_time.get_or_insert_with(|| {
            let mut by_time: HashMap<Timestamp, Vec<usize>> = HashMap::with_capacity(points.len());
            for (index, point) in points.iter().enumerate() {
                by_time.entry(point.time).or_default().push(index);
            }
            by_time
        });
        by_time.get(&point.time).is_some_and(|same_time| {
            same_time
                .iter()
                .filter_map(|index| points.get(*index))
                .any(|other| other.is_same_by(point, duplicate_rule))
        })
    }

    fn add(&mut self, point: &Point, index: usize) {
        if let Some(by_time) = &mut self.by_time {
            by_time.entry(point.time).or_default().push(index);
        }
    }
}
