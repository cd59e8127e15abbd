//! Reads points in the order of time and closes segments at quiet points.
//!
//! A point is quiet if the device stayed within the radius of a stop around it, for the length of a stop before and
//! after it. Only its neighbours decide that, never segments that were derived before. The time between two quiet
//! points is a piece. Each piece begins and ends in a stop, and pieces are derived independently of each other.

use super::piece::Piece;
use super::plane::Plane;
use super::rows::Rows;
use super::{Anchor, Edits, OpenStop, Segment, TimelinePoint, TimelineSettings};
use crate::time::Timestamp;

/// In a long stop there is an anchor each day, so that its newest part can be derived alone.
const DAY_MS: i64 = 86_400_000;
/// Maximum number of points of a piece, which bounds the memory of a derivation. The trip of a device that does not stop
/// for so long is split.
pub(super) const PIECE_MAX: usize = 100_000;

/// Segments that are final unless a point before the anchor is added or deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    /// The segments since the previous anchor that end before the stop of this anchor, oldest first.
    pub segments: Vec<Segment>,
    /// Where the derivation can be resumed.
    pub anchor: Anchor,
}

/// Derives a timeline from points in the order of [`TimelinePoint::order`].
#[derive(Clone, Debug)]
pub struct Derivation {
    settings: TimelineSettings,
    /// Instants at which trips are divided, in order.
    splits: Vec<Timestamp>,
    /// The points since the latest quiet point, that one first.
    points: Vec<TimelinePoint>,
    /// Index of the next point that may be quiet.
    candidate: usize,
    /// Whether the first of `points` is quiet, and not merely the first of the history.
    begins_quiet: bool,
    usual_interval_ms: Option<i64>,
    stop: Option<OpenStop>,
    /// Segments of pieces that ended without a quiet point since the previous anchor.
    ended: Vec<Segment>,
}

/// The whole timeline of a history. The points must be sorted by [`TimelinePoint::order`].
pub fn derive(points: impl IntoIterator<Item = TimelinePoint>, settings: TimelineSettings) -> Vec<Segment> {
    derive_edited(points, settings, &Edits::default())
}

/// The whole timeline of a history that people corrected.
pub fn derive_edited(
    points: impl IntoIterator<Item = TimelinePoint>,
    settings: TimelineSettings,
    edits: &Edits,
) -> Vec<Segment> {
    let mut derivation = Derivation::new(settings).dividing(edits);
    let mut segments = Vec::new();
    for point in points {
        for closed in derivation.push(point) {
            segments.extend(closed.segments);
        }
    }
    segments.extend(derivation.finish());
    edits.merge(segments)
}

impl Derivation {
    /// Begins with the first point of a history.
    pub const fn new(settings: TimelineSettings) -> Self {
        Self {
            settings,
            splits: Vec::new(),
            points: Vec::new(),
            candidate: 1,
            begins_quiet: false,
            usual_interval_ms: None,
            stop: None,
            ended: Vec::new(),
        }
    }

    /// Continues at an anchor. The next point must be the one at [`Anchor::at`].
    pub fn resume(settings: TimelineSettings, anchor: Anchor) -> Self {
        Self {
            begins_quiet: anchor.stop.is_some(),
            usual_interval_ms: anchor.usual_interval_ms,
            stop: anchor.stop,
            ..Self::new(settings)
        }
    }

    /// Divides trips where people did. Joining them is left to [`Edits::merge`].
    #[must_use]
    pub fn dividing(self, edits: &Edits) -> Self {
        Self { splits: edits.splits().to_vec(), ..self }
    }

    /// Reads the next point. Of the points of one second, only the first counts: the work for a second is bounded, and
    /// seconds are absolute, so that the same points count wherever a derivation began.
    pub fn push(&mut self, point: TimelinePoint) -> Vec<Closed> {
        let mut closed = Vec::new();
        let second = |point: &TimelinePoint| point.time.as_millis().div_euclid(1_000);
        if self.points.last().is_some_and(|last| second(&point) <= second(last)) {
            return closed;
        }
        let settled_until = point.time.plus_millis(-self.window_ms());
        self.points.push(point);
        while let Some(candidate) = self.points.get(self.candidate) {
            if candidate.time > settled_until {
                break;
            }
            if self.is_first_of_slot(self.candidate) && self.is_quiet(self.candidate) {
                closed.extend(self.cut(self.candidate));
            } else {
                self.candidate += 1;
            }
        }
        if self.points.len() >= PIECE_MAX {
            closed.extend(self.end_long_piece());
        }
        closed
    }

    /// The segments of the open tail, up to the latest point. Further points may change them.
    pub fn finish(mut self) -> Vec<Segment> {
        self.end_piece();
        self.ended
    }

    /// Ends a piece that has the most points, so that a device that never stands still is derived again from here. How
    /// many points there are since a quiet point does not depend on where the derivation began.
    fn end_long_piece(&mut self) -> Option<Closed> {
        self.end_piece();
        let at = self.points.first()?.time;
        let segments = std::mem::take(&mut self.ended);
        let usual_interval_ms = self.usual_interval_ms;
        Some(Closed { segments, anchor: Anchor { at, settled: at, usual_interval_ms, stop: None } })
    }

    /// Derives the points since the latest quiet point as they are. The next piece begins with the last of them; like
    /// the number of points since a quiet point, that does not depend on where the derivation began.
    fn end_piece(&mut self) {
        let mut rows = Rows::new(self.settings, self.stop.take(), self.usual_interval_ms);
        let piece = Piece {
            points: &self.points,
            splits: &self.splits,
            begins_quiet: self.begins_quiet,
            ends_quiet: false,
        };
        piece.derive(&mut rows);
        self.ended.extend(rows.finish(self.points.last()));
        self.points.drain(..self.points.len().saturating_sub(1));
        self.candidate = 1;
        self.begins_quiet = false;
    }

    /// Points in memory.
    #[cfg(test)]
    pub(super) const fn points_held(&self) -> usize {
        self.points.len()
    }

    fn window_ms(&self) -> i64 {
        i64::from(self.settings.least_stop_s) * 1_000
    }

    /// Whether a point is the first of its time slot; only such points are examined. Slots are absolute, so the same
    /// points are examined wherever a derivation began.
    fn is_first_of_slot(&self, index: usize) -> bool {
        let slot = |point: &TimelinePoint| point.time.as_millis().div_euclid(self.window_ms());
        let before = index.checked_sub(1).and_then(|before| self.points.get(before));
        match (before, self.points.get(index)) {
            (Some(before), Some(point)) => slot(before) != slot(point),
            _ => false,
        }
    }

    /// Whether the device stayed around a point for the length of a stop before and after it. Points before the latest
    /// quiet point are not considered, because a resumed derivation does not have them. The caller makes sure that the
    /// newest point is late enough.
    fn is_quiet(&self, index: usize) -> bool {
        let Some((point, after)) = self.points.get(index..).and_then(<[_]>::split_first) else {
            return false;
        };
        let Some(before) = self.points.get(..index) else { return false };
        let plane = Plane::at(point.position());
        let radius = f64::from(self.settings.stop_radius_m);
        let is_near = |other: &TimelinePoint| plane.distance(other.position()) <= radius;
        // The newest first: it is the farthest of a device in motion.
        if !after.iter().rev().all(is_near) {
            return false;
        }
        let since = point.time.plus_millis(-self.window_ms());
        for earlier in before.iter().rev() {
            if !is_near(earlier) {
                return false;
            }
            if earlier.time <= since {
                return true;
            }
        }
        self.begins_quiet
    }

    /// Derives the piece that ends with a quiet point.
    fn cut(&mut self, index: usize) -> Option<Closed> {
        let (points, settled) = (self.points.get(..=index)?, self.points.last()?.time);
        let (from, at) = (points.first()?.time, points.last()?.time);
        let had_stop = self.stop.is_some();
        let mut rows = Rows::new(self.settings, self.stop.take(), self.usual_interval_ms);
        let piece = Piece { points, splits: &self.splits, begins_quiet: self.begins_quiet, ends_quiet: true };
        piece.derive(&mut rows);
        let (closed, stop, usual_interval_ms) = rows.split();
        let stop = stop?;
        let mut segments = std::mem::take(&mut self.ended);
        segments.extend(closed);
        let day = |time: Timestamp| time.as_millis().div_euclid(DAY_MS);
        let is_anchor = !had_stop || !segments.is_empty() || day(from) != day(at);
        self.points.drain(..index);
        self.candidate = 1;
        self.begins_quiet = true;
        self.usual_interval_ms = usual_interval_ms;
        self.stop = Some(stop.clone());
        let anchor = Anchor { at, settled, usual_interval_ms, stop: Some(stop) };
        is_anchor.then_some(Closed { segments, anchor })
    }
}
