//! Corrections of a timeline by hand: trips that are divided or joined.
//!
//! Edits are stored apart from segments and are an input of the derivation, so that they survive it. An edit names
//! instants, not segments: which segments it concerns follows from the locations and the settings alone.

use serde::{Deserialize, Serialize};

use super::{DistanceSource, Segment, SegmentKind};
use crate::id::{AccountId, DeviceId, EditId, UserId};
use crate::locations::location::{Milli, TimeRange};
use crate::time::Timestamp;

/// What an edit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EditKind {
    /// Divides a trip at an instant.
    Split,
    /// Joins the trips before and after a time, and what lies between them.
    Merge,
}

/// A correction that a person made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineEdit {
    /// Assigned by the service; never changes.
    pub id: EditId,
    /// The account of the device.
    pub account: AccountId,
    /// The device whose timeline is corrected.
    pub device: DeviceId,
    /// What it does.
    pub kind: EditKind,
    /// The instant of a split, twice; or the time between the trips that are joined.
    pub range: TimeRange,
    /// Who made it; `None` for an operator.
    pub user: Option<UserId>,
    /// When it was made.
    pub created: Timestamp,
}

/// The edits of a device, as the derivation reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    splits: Vec<Timestamp>,
    merges: Vec<TimeRange>,
}

impl EditKind {
    /// Every kind, in the order of the API document.
    pub const ALL: [Self; 2] = [Self::Split, Self::Merge];

    /// The name of the kind in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Merge => "merge",
        }
    }
}

impl TimelineEdit {
    /// The most edits of a device.
    pub const COUNT_MAX: u32 = 1_000;
    /// The most trips that one edit joins.
    pub const TRIPS_MAX: usize = 20;
    /// The longest time between the trips that one edit joins: 48 hours. A derivation does not begin within it.
    pub const MERGE_MAX_MS: i64 = 48 * 3_600_000;
}

impl Edits {
    /// Collects edits, in any order. A split inside of a merge has no effect, so that a merge can undo it.
    pub fn new(edits: impl IntoIterator<Item = (EditKind, TimeRange)>) -> Self {
        let (mut splits, mut merges) = (Vec::new(), Vec::new());
        for (kind, range) in edits {
            match kind {
                EditKind::Split => splits.push(range.from),
                EditKind::Merge => merges.push(range),
            }
        }
        splits.retain(|at| !merges.iter().any(|merge| merge.from <= *at && *at <= merge.to));
        splits.sort_unstable();
        splits.dedup();
        merges.sort_unstable_by_key(|merge| (merge.from, merge.to));
        Self { splits, merges }
    }

    /// The instants at which trips are divided, in order.
    pub(super) fn splits(&self) -> &[Timestamp] {
        &self.splits
    }

    /// Whether an instant may be in a stop that belongs to a merged trip. A derivation must not begin or end there,
    /// because the trip before and the one after are one row.
    ///
    /// At least three quarters of a break that belongs to a merged trip lie in the time of an edit, so no instant of the
    /// break is further from it than a third of its length.
    pub(super) fn covers(&self, instant: Timestamp) -> bool {
        self.merges.iter().map(covered).any(|range| range.from <= instant && instant <= range.to)
    }

    /// The times in which no derivation begins or ends.
    pub fn covered(&self) -> Vec<TimeRange> {
        self.merges.iter().map(covered).collect()
    }

    /// Joins derived trips. The segments are those of a whole history, or of a part of it that begins and ends at
    /// instants that are not covered.
    pub fn merge(&self, segments: Vec<Segment>) -> Vec<Segment> {
        if self.merges.is_empty() {
            return segments;
        }
        let mut merged: Vec<Segment> = Vec::with_capacity(segments.len());
        // Where the segments after the latest trip begin.
        let mut after_trip: Option<usize> = None;
        for segment in segments {
            if segment.kind != SegmentKind::Trip {
                merged.push(segment);
                continue;
            }
            let trip = after_trip.and_then(|after| merged.get(after.checked_sub(1)?));
            if let Some(after) = after_trip
                && trip.is_some_and(|trip| self.joins(TimeRange { from: trip.to, to: segment.from }))
            {
                let between = merged.split_off(after);
                if let Some(trip) = merged.last_mut() {
                    for part in between.into_iter().chain([segment]) {
                        extend(trip, part);
                    }
                }
            } else {
                merged.push(segment);
            }
            after_trip = Some(merged.len());
        }
        merged
    }

    /// Whether at least three quarters of the time between two trips are in the time of one edit.
    fn joins(&self, between: TimeRange) -> bool {
        self.merges.iter().any(|merge| {
            let common_ms = between.to.min(merge.to).as_millis() - between.from.max(merge.from).as_millis();
            common_ms >= 0 && common_ms.saturating_mul(4) >= length_ms(between).saturating_mul(3)
        })
    }
}

/// A third of the length of a merge before and after it belong to what it covers.
fn covered(merge: &TimeRange) -> TimeRange {
    let margin_ms = length_ms(*merge) / 3 + 1;
    TimeRange { from: merge.from.plus_millis(-margin_ms), to: merge.to.plus_millis(margin_ms) }
}

fn length_ms(range: TimeRange) -> i64 {
    range.to.as_millis().saturating_sub(range.from.as_millis())
}

/// Adds a segment to the trip before it. Stops and gaps are standing time of the trip.
fn extend(trip: &mut Segment, part: Segment) {
    let is_trip = part.kind == SegmentKind::Trip;
    trip.to = part.to;
    trip.end = part.end;
    if is_trip {
        trip.distance_m += part.distance_m;
        if part.distance_source != trip.distance_source {
            trip.distance_source = DistanceSource::Legs;
        }
        trip.moving_s += part.moving_s;
        trip.max_speed = trip.max_speed.max(part.max_speed);
    }
    let total_s = u64::try_from(trip.length_ms() / 1_000).unwrap_or(0);
    trip.moving_s = trip.moving_s.min(total_s);
    trip.standing_s = total_s - trip.moving_s;
    trip.idling_s = (trip.idling_s + part.idling_s).min(trip.standing_s);
    trip.engine_s = match (trip.engine_s, part.engine_s) {
        (Some(trip), Some(part)) => Some((trip + part).min(total_s)),
        (trip, part) => trip.or(part),
    };
    trip.fuel_used = match (trip.fuel_used, part.fuel_used) {
        (Some(trip), Some(part)) => {
            Some(Milli::from_thousandths(trip.as_thousandths() + part.as_thousandths()))
        }
        // A tank that was filled at the stop between two trips makes the sum unknown only if a trip does not know its part.
        (used, None) if !is_trip => used,
        _ => None,
    };
    trip.driver_tag = trip.driver_tag.take().or(part.driver_tag);
}
