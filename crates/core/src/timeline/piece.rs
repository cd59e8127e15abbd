//! Derives the segments of a piece: the points between two quiet points, or at either end of a history.

use super::outliers::{kept, seconds};
use super::plane::metres;
use super::rows::Rows;
use super::split::trips;
use super::stays::{Stay, stays};
use super::trip::{gap, way_m};
use super::{Position, SegmentKind, TimelinePoint, TimelineSettings};
use crate::locations::location::Milli;
use crate::time::Timestamp;

/// Number of legs in motion from which the usual interval of a device is learned.
const ENOUGH_LEGS: usize = 3;
/// While the usual interval is unknown, a silence counts as long from this many times the shortest gap.
const UNKNOWN_TIMES: i64 = 12;
/// Speed above which a device is driven and does not drift, in km/h.
const DRIFT_KMH: f64 = 5.0;

/// If the fixes around a departure or an arrival are at most this many milliseconds apart, it is at the fix of the stop.
const SOON_MS: u64 = 60_000;

/// Points that are derived together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) points: &'a [TimelinePoint],
    /// Instants at which trips are divided, in order.
    pub(super) splits: &'a [Timestamp],
    /// Whether the first point is known to be in a stop.
    pub(super) begins_quiet: bool,
    /// Whether the last point is known to be in a stop.
    pub(super) ends_quiet: bool,
}

/// A segment by the indices of its first and last point. Neighbours share a point.
#[derive(Clone, Copy, Debug)]
struct Part {
    kind: SegmentKind,
    first: usize,
    last: usize,
}

impl Piece<'_> {
    pub(super) fn derive(self, rows: &mut Rows) {
        let quiet = (self.begins_quiet, self.ends_quiet);
        let settings = rows.settings;
        let radius = f64::from(settings.stop_radius_m);
        let kept = kept(self.points, quiet, radius);
        let fixes: Vec<&TimelinePoint> = kept.iter().filter_map(|index| self.points.get(*index)).collect();
        let Some(end) = fixes.len().checked_sub(1) else { return };
        let mut parts = alternate(&stays(&fixes, quiet, &settings), end);
        let usual_ms = usual_interval(&fixes, &parts, rows.usual_interval_ms);
        let silence_ms = silence_ms(&settings, usual_ms);
        if let Some(learned_ms) = learned(&fixes, &parts) {
            rows.usual_interval_ms = Some(learned_ms);
        }
        parts = split_at_gaps(&fixes, &parts, silence_ms, radius);
        absorb(&fixes, &mut parts, &settings);
        let parts = joined(&parts);
        let limits = limits(&fixes, &parts, (self.points.first(), self.points.last()));
        for (part, (from, to)) in parts.iter().zip(limits) {
            // Far-off points still report the state of the engine.
            let raw = |at: usize, outer: usize| kept.get(at).copied().unwrap_or(outer);
            let (first, last) = (
                if part.first == 0 { 0 } else { raw(part.first, 0) },
                if part.last == end { self.points.len() - 1 } else { raw(part.last, self.points.len() - 1) },
            );
            let (Some(points), Some(fixes)) =
                (self.points.get(first..=last), fixes.get(part.first..=part.last))
            else {
                continue;
            };
            match part.kind {
                SegmentKind::Stop => {
                    // The quiet point at the beginning was counted by the piece before.
                    let counted = usize::from(self.begins_quiet && part.first == 0 && rows.has_stop());
                    let positions: Vec<Position> =
                        fixes.iter().skip(counted).map(|fix| fix.position()).collect();
                    rows.stand(points, &positions, silence_ms, (from, to));
                }
                SegmentKind::Trip => {
                    for part in trips((from, to), points, fixes, self.splits, (&settings, silence_ms)) {
                        rows.add(part);
                    }
                }
                SegmentKind::Gap => rows.add(gap((from, to), fixes)),
            }
        }
    }
}

/// Stops for the stays, and trips between them.
fn alternate(stays: &[Stay], end: usize) -> Vec<Part> {
    let mut parts = Vec::with_capacity(2 * stays.len() + 1);
    let mut at = 0;
    for stay in stays {
        if at < stay.first {
            parts.push(Part { kind: SegmentKind::Trip, first: at, last: stay.first });
        }
        parts.push(Part { kind: SegmentKind::Stop, first: stay.first, last: stay.last });
        at = stay.last;
    }
    if at < end || parts.is_empty() {
        parts.push(Part { kind: SegmentKind::Trip, first: at, last: end });
    }
    parts
}

/// The lengths of the legs between stays, in milliseconds, sorted.
fn moving_legs(fixes: &[&TimelinePoint], parts: &[Part]) -> Vec<i64> {
    let trips = parts.iter().filter(|part| part.kind == SegmentKind::Trip);
    let mut legs: Vec<i64> =
        trips.filter_map(|part| fixes.get(part.first..=part.last)).flat_map(legs_ms).collect();
    legs.sort_unstable();
    legs
}

fn legs_ms(fixes: &[&TimelinePoint]) -> impl Iterator<Item = i64> {
    fixes.iter().zip(fixes.iter().skip(1)).map(|(from, to)| to.time.as_millis() - from.time.as_millis())
}

/// The lower median, so that a silence is not the median of two legs.
fn median(sorted: &[i64]) -> Option<i64> {
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// The usual interval of the device in motion: of the trips of this piece, else of the latest longer trip before it, else
/// of all points of this piece.
fn usual_interval(fixes: &[&TimelinePoint], parts: &[Part], learned_ms: Option<i64>) -> Option<i64> {
    let moving = moving_legs(fixes, parts);
    if moving.len() >= ENOUGH_LEGS {
        return median(&moving);
    }
    learned_ms.or_else(|| {
        let mut all: Vec<i64> = legs_ms(fixes).collect();
        all.sort_unstable();
        // A single leg cannot be unusual.
        (all.len() > 1 && !moving.is_empty()).then(|| median(&all)).flatten()
    })
}

/// The usual interval that later pieces may use, if this piece has enough legs in motion.
fn learned(fixes: &[&TimelinePoint], parts: &[Part]) -> Option<i64> {
    let moving = moving_legs(fixes, parts);
    (moving.len() >= ENOUGH_LEGS).then(|| median(&moving)).flatten()
}

/// The shortest silence that is a gap, or that makes a stop inferred.
fn silence_ms(settings: &TimelineSettings, usual_ms: Option<i64>) -> i64 {
    let least_ms = i64::from(settings.least_gap_s) * 1_000;
    match usual_ms {
        Some(usual_ms) => usual_ms.saturating_mul(settings.gap_intervals.into()).max(least_ms),
        None => least_ms * UNKNOWN_TIMES,
    }
}

/// Splits trips at long silences, which become gaps.
fn split_at_gaps(fixes: &[&TimelinePoint], parts: &[Part], silence_ms: i64, radius: f64) -> Vec<Part> {
    let mut split = Vec::with_capacity(parts.len());
    for part in parts {
        let mut first = part.first;
        for at in part.first..part.last {
            let (Some(from), Some(to)) = (fixes.get(at), fixes.get(at + 1)) else { continue };
            let is_gap = part.kind == SegmentKind::Trip
                && to.time.as_millis() - from.time.as_millis() >= silence_ms
                && metres(from.position(), to.position()) > radius;
            if is_gap {
                if first < at {
                    split.push(Part { kind: part.kind, first, last: at });
                }
                split.push(Part { kind: SegmentKind::Gap, first: at, last: at + 1 });
                first = at + 1;
            }
        }
        if first < part.last || part.kind == SegmentKind::Stop {
            split.push(Part { kind: part.kind, first, last: part.last });
        }
    }
    split
}

/// Turns moves that are too short for a trip into a part of the stop beside them.
fn absorb(fixes: &[&TimelinePoint], parts: &mut [Part], settings: &TimelineSettings) {
    let is_stop = |part: Option<&Part>| part.is_some_and(|part| part.kind == SegmentKind::Stop);
    let absorbed: Vec<bool> = parts
        .iter()
        .enumerate()
        .map(|(at, part)| {
            let before = is_stop(at.checked_sub(1).and_then(|before| parts.get(before)));
            let after = is_stop(parts.get(at + 1));
            let alone = parts.len() == 1;
            part.kind == SegmentKind::Trip
                && (before || after || alone)
                && fixes.get(part.first..=part.last).is_some_and(|fixes| {
                    way_m(fixes) < f64::from(settings.least_trip_m)
                        || (before && after && drifts(fixes, settings))
                })
        })
        .collect();
    for (part, absorbed) in parts.iter_mut().zip(absorbed) {
        if absorbed {
            part.kind = SegmentKind::Stop;
        }
    }
}

/// Whether a device stayed near the position that it left and returned to, and no fix shows that it was driven.
fn drifts(fixes: &[&TimelinePoint], settings: &TimelineSettings) -> bool {
    let Some(first) = fixes.first() else { return true };
    let radius = f64::from(settings.anchored_radius_m.max(settings.stop_radius_m));
    let is_near = fixes.iter().all(|fix| metres(first.position(), fix.position()) <= radius);
    let is_driven = fixes.windows(2).any(|pair| {
        let [from, to] = pair else { return false };
        let way = metres(from.position(), to.position());
        let reported = to.speed.map_or(0.0, Milli::as_f64);
        reported > DRIFT_KMH
            || (way > f64::from(settings.stop_radius_m) && way * 3.6 > DRIFT_KMH * seconds(from, to))
    });
    is_near && !is_driven
}

/// The beginning and the end of each part. A device that reports rarely while parked leaves some time after its last fix
/// there; the speed at the next fix shows how long the way to it took. Arrivals are estimated in the same way.
fn limits(
    fixes: &[&TimelinePoint],
    parts: &[Part],
    ends: (Option<&TimelinePoint>, Option<&TimelinePoint>),
) -> Vec<(Timestamp, Timestamp)> {
    let time = |point: Option<&TimelinePoint>| point.map_or(Timestamp::MIN, |point| point.time);
    let mut from = time(ends.0);
    let mut limits = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let next = parts.get(at + 1);
        let to = match next.map(|next| (part.kind, next.kind)) {
            None => time(ends.1),
            Some((SegmentKind::Stop, SegmentKind::Trip)) => {
                let inner = next.map_or(part.last, |next| next.last);
                passing(fixes, [part.last, part.last + 1, part.last + 2], inner)
            }
            Some((SegmentKind::Trip, SegmentKind::Stop)) => {
                let before = |steps: usize| part.last.checked_sub(steps).filter(|index| *index > part.first);
                match (before(1), before(2).or(Some(part.first))) {
                    (Some(last), Some(earlier)) => passing(fixes, [part.last, last, earlier], part.last),
                    _ => time(fixes.get(part.last).copied()),
                }
            }
            Some(_) => time(fixes.get(part.last).copied()),
        };
        let to = to.max(from);
        limits.push((from, to));
        from = to;
    }
    limits
}

/// Estimates the time at which a device left a stop, from the indices `[stop, first, second]` of the last fix of the stop
/// and the two after it; for an arrival, the indices are in reverse order. `most` is the last index of the trip.
fn passing(fixes: &[&TimelinePoint], [stop, first, second]: [usize; 3], most: usize) -> Timestamp {
    let (Some(stop), Some(first_fix)) = (fixes.get(stop), fixes.get(first)) else { return Timestamp::MIN };
    let leg_ms = stop.time.as_millis().abs_diff(first_fix.time.as_millis());
    let measured = fixes.get(second).filter(|_| first < most && second <= most).map(|second| {
        metres(first_fix.position(), second.position()) / seconds(first_fix, second).abs().max(1.0)
    });
    let reported = first_fix.speed.map(|speed| speed.as_f64() / 3.6);
    let speed = reported.filter(|speed| *speed * 3.6 > DRIFT_KMH).or(measured).unwrap_or(0.0);
    if leg_ms <= SOON_MS || speed * 3.6 < 1.0 {
        return stop.time;
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded by the leg below")]
    let way_ms = (metres(stop.position(), first_fix.position()) / speed * 1_000.0) as i64;
    // On whole seconds, and at least one second from the fix that was in motion.
    let way_ms = (way_ms / 1_000 * 1_000).clamp(1_000, i64::try_from(leg_ms).unwrap_or(i64::MAX));
    if stop.time < first_fix.time {
        first_fix.time.plus_millis(-way_ms)
    } else {
        first_fix.time.plus_millis(way_ms)
    }
}

/// Joins neighbouring stops.
fn joined(parts: &[Part]) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match joined.last_mut() {
            Some(last) if last.kind == SegmentKind::Stop && part.kind == SegmentKind::Stop => {
                last.last = part.last;
            }
            _ => joined.push(*part),
        }
    }
    joined
}
