//! Derives a part of a timeline from a history that is read in parts, and finds the instant from which stored segments
//! stay valid.

use super::{Anchor, Derivation, Edits, Segment, TimelinePoint, TimelineSettings};
use crate::locations::location::StoredLocation;
use crate::time::Timestamp;

/// Where a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEnd {
    /// After the newest location: the last segment is open.
    Newest,
    /// At an anchor that was stored before: stored segments from the first instant on stay valid. The second instant is
    /// the fix time of the anchor.
    Joined(Timestamp, Timestamp),
    /// At a new anchor, because enough locations were read: segments from the first instant on are derived by a later
    /// walk, from the locations after the second instant.
    Part(Timestamp, Timestamp),
}

/// Where a walk begins, and where it may end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WalkPlan {
    /// The newest stored anchor that no new or deleted location invalidates; `None` for the beginning of the history.
    pub resume: Option<Anchor>,
    /// The fix time of the last new or deleted location.
    pub changed_to: Option<Timestamp>,
    /// Stored anchors after it. The walk ends at the first of them that it finds again.
    pub later: Vec<Anchor>,
    /// What people corrected.
    pub edits: Edits,
    /// Locations after which the walk ends at the next anchor; `None` for no limit.
    pub limit: Option<usize>,
}

/// A derivation over the parts of a history.
#[derive(Clone, Debug)]
pub struct Walk {
    derivation: Derivation,
    edits: Edits,
    changed_to: Timestamp,
    later: Vec<Anchor>,
    limit: usize,
    /// The first of the points with the newest fix time so far, by [`TimelinePoint::order`].
    next: Option<TimelinePoint>,
    segments: Vec<Segment>,
    anchors: Vec<Anchor>,
    locations: usize,
}

impl Walk {
    /// Begins at an anchor or at the beginning of a history.
    pub fn new(settings: TimelineSettings, plan: WalkPlan) -> Self {
        let derivation = match plan.resume {
            Some(anchor) => Derivation::resume(settings, anchor),
            None => Derivation::new(settings),
        };
        Self {
            derivation: derivation.dividing(&plan.edits),
            edits: plan.edits,
            changed_to: plan.changed_to.unwrap_or(Timestamp::MAX),
            later: plan.later,
            limit: plan.limit.unwrap_or(usize::MAX),
            next: None,
            segments: Vec::new(),
            anchors: Vec::new(),
            locations: 0,
        }
    }

    /// Number of locations that were read.
    pub const fn locations(&self) -> usize {
        self.locations
    }

    /// Reads locations in order of their fix times, from that of the anchor on. Returns where the walk ends if it ends
    /// among them.
    pub fn pass(&mut self, part: impl IntoIterator<Item = StoredLocation>) -> Option<WalkEnd> {
        for stored in part {
            self.locations += 1;
            let Some(point) = TimelinePoint::from_stored(&stored) else { continue };
            match &mut self.next {
                // The store sorts locations of one time by arrival, on which a timeline must not depend.
                Some(next) if next.time == point.time => {
                    if point.order(next).is_lt() {
                        *next = point;
                    }
                }
                next => {
                    if let Some(before) = next.replace(point)
                        && let Some(end) = self.push(before)
                    {
                        return Some(end);
                    }
                }
            }
        }
        None
    }

    pub(super) fn push(&mut self, point: TimelinePoint) -> Option<WalkEnd> {
        for closed in self.derivation.push(point) {
            self.segments.extend(closed.segments);
            let anchor = closed.anchor;
            if self.edits.covers(anchor.at) {
                continue;
            }
            let (from, at, settled) = (anchor.stop_from(), anchor.at, anchor.settled);
            if at > self.changed_to && self.later.contains(&anchor) {
                return Some(WalkEnd::Joined(from, at));
            }
            self.anchors.push(anchor);
            if self.locations >= self.limit {
                return Some(WalkEnd::Part(from, settled));
            }
        }
        None
    }

    /// The new segments and anchors of a walk that ended as [`Self::pass`] returned, or after the newest location.
    pub fn finish(mut self, end: WalkEnd) -> (Vec<Segment>, Vec<Anchor>) {
        if end == WalkEnd::Newest {
            // All locations were read, so anchors need not be compared with stored ones.
            if let Some(last) = self.next.take() {
                for closed in self.derivation.push(last) {
                    self.segments.extend(closed.segments);
                    if !self.edits.covers(closed.anchor.at) {
                        self.anchors.push(closed.anchor);
                    }
                }
            }
            self.segments.extend(self.derivation.finish());
        }
        (self.edits.merge(self.segments), self.anchors)
    }
}
