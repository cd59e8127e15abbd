//! Computes distance, durations and speeds of trips and gaps.

use super::outliers::seconds;
use super::plane::{Plane, metres};
use super::rows::{fuel_used, whole_seconds};
use super::{DistanceSource, Segment, SegmentKind, TimelinePoint, TimelineSettings};
use crate::locations::location::{Latitude, Longitude, Milli};
use crate::locations::sphere::distance_m;
use crate::time::Timestamp;

/// Legs shorter than this, in metres, are joined with the next. The noise of a receiver that reports each second would
/// otherwise add kilometres.
const LEAST_LEG_M: f64 = 50.0;
/// Longest leg, in seconds, for which the reported speeds decide whether the device moved.
const DENSE_S: f64 = 60.0;
/// Speed below which the device was at rest on a longer leg, in metres per second: about 1 km/h.
const REST_M_PER_S: f64 = 0.3;
/// Growth of `mileage` above which it is not used, in kilometres per second: 250 km/h.
const JUMP_KM_PER_S: f64 = 250.0 / 3_600.0;
/// Growth of `mileage` that is accepted at any rate, in kilometres, because it is often updated late.
const JUMP_KM: f64 = 1.0;
/// Speeds count as equal if the lower is at least this part of the higher.
const STEADY: f64 = 0.9;
/// Roads are rarely longer than this many times the straight distance.
const DETOUR: f64 = 1.3;
/// `mileage` is not used if it grew less than this part of the distance between positions.
const STANDSTILL: f64 = 0.7;

/// The distance travelled between positions, without the noise of the receiver, in metres.
pub(super) fn way_m(fixes: &[&TimelinePoint]) -> f64 {
    let (mut sum, mut turns, mut before) = (0.0, Turns::default(), None);
    let mut from = fixes.first();
    for to in fixes {
        let Some(start) = from else { break };
        let leg = metres(start.position(), to.position());
        if leg >= LEAST_LEG_M {
            // A leg is measured when the next one shows how the way turns at its end.
            let next = Leg { from: start, to, straight: leg };
            if let Some(leg) = before.replace(next) {
                sum += turns.measure(&leg, Some(&next));
            }
            from = Some(to);
        }
    }
    if let Some(leg) = before {
        sum += turns.measure(&leg, None);
    }
    match (from, fixes.last()) {
        (Some(from), Some(to)) => sum + metres(from.position(), to.position()),
        _ => sum,
    }
}

/// A leg between two fixes, and its straight length in metres.
#[derive(Clone, Copy, Debug)]
struct Leg<'a> {
    from: &'a TimelinePoint,
    to: &'a TimelinePoint,
    straight: f64,
}

/// How the way turned at the beginning of a leg, in radians; `None` at the first one.
#[derive(Clone, Copy, Debug, Default)]
struct Turns {
    at_start: Option<f64>,
}

impl Turns {
    /// The length of a leg. Minutes or hours apart, fixes cut the curves of the way. If the device reported the same speed
    /// at both ends, it probably kept it, and the way is as long as that takes, up to a detour that is usual on roads.
    /// Without speeds, the way is an arc that turns as the legs do.
    fn measure(&mut self, leg: &Leg<'_>, next: Option<&Leg<'_>>) -> f64 {
        let at_end = next.map(|next| turn(leg, next));
        let at_start = std::mem::replace(&mut self.at_start, at_end);
        let (seconds, straight) = (seconds(leg.from, leg.to), leg.straight);
        if seconds <= DENSE_S {
            return straight;
        }
        let (Some(before), Some(after)) = (leg.from.speed, leg.to.speed) else {
            let turned = match (at_start, at_end) {
                (Some(start), Some(end)) => f64::midpoint(start, end),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => 0.0,
            };
            return straight * arc(turned.abs());
        };
        let (before, after) = (before.as_f64() / 3.6, after.as_f64() / 3.6);
        if before.min(after) < STEADY * before.max(after) {
            return straight;
        }
        (f64::midpoint(before, after) * seconds).clamp(straight, straight * DETOUR)
    }
}

/// How many times longer an arc is than its chord if it turns by this angle, up to a detour that is usual on roads.
fn arc(turned: f64) -> f64 {
    let half = turned / 2.0;
    if half < 1e-6 { 1.0 } else { (half / half.sin()).min(DETOUR) }
}

/// The angle by which a leg turns to the left of the one before it, in radians; less than half a turn.
fn turn(leg: &Leg<'_>, next: &Leg<'_>) -> f64 {
    let heading = |leg: &Leg<'_>| {
        let (east, north) = Plane::at(leg.from.position()).offset(leg.to.position());
        north.atan2(east)
    };
    let turned = heading(next) - heading(leg);
    turned.sin().atan2(turned.cos())
}

/// A trip. `points` are all points, `fixes` those that are not far off.
pub(super) fn trip(
    limits: (Timestamp, Timestamp),
    points: &[TimelinePoint],
    fixes: &[&TimelinePoint],
    settings: &TimelineSettings,
    silence_ms: i64,
) -> Segment {
    let way = way_m(fixes);
    let mileage = mileage_m(points, way);
    let mut segment = blank(SegmentKind::Trip, limits, fixes);
    segment.distance_m = whole_metres(mileage.unwrap_or(way));
    segment.distance_source = if mileage.is_some() { DistanceSource::Mileage } else { DistanceSource::Legs };
    let (mut moving_ms, mut idling_ms, mut engine_ms, mut engine_known) = (0, 0, 0, false);
    for pair in fixes.windows(2) {
        let [from, to] = pair else { continue };
        // The device left after its last fix at the stop, and arrived before the first one there.
        let length_ms = to.time.min(limits.1).as_millis() - from.time.max(limits.0).as_millis();
        let moves = moves(from, to, settings);
        let engine_on = from.engine_on();
        engine_known |= engine_on.is_some();
        let engine_on = engine_on == Some(true) && length_ms < silence_ms;
        moving_ms += if moves { length_ms } else { 0 };
        engine_ms += if engine_on { length_ms } else { 0 };
        idling_ms += if engine_on && !moves { length_ms } else { 0 };
    }
    let total_s = whole_seconds(segment.length_ms());
    segment.moving_s = whole_seconds(moving_ms).min(total_s);
    segment.standing_s = total_s - segment.moving_s;
    segment.idling_s = whole_seconds(idling_ms).min(segment.standing_s);
    segment.engine_s = engine_known.then(|| whole_seconds(engine_ms).min(total_s));
    segment.max_speed = fixes.iter().filter_map(|fix| fix.speed).max().or_else(|| measured_speed(fixes));
    segment.fuel_used = fuel_used(
        points.iter().find_map(|point| point.fuel),
        points.iter().rev().find_map(|point| point.fuel),
    );
    segment.driver_tag = points.iter().find_map(|point| point.driver_tag.clone());
    segment
}

/// A gap, with the straight distance between its ends.
pub(super) fn gap(limits: (Timestamp, Timestamp), fixes: &[&TimelinePoint]) -> Segment {
    let mut segment = blank(SegmentKind::Gap, limits, fixes);
    segment.distance_m = whole_metres(distance_m(segment.start, segment.end));
    segment.distance_source = DistanceSource::Straight;
    segment
}

fn blank(kind: SegmentKind, (from, to): (Timestamp, Timestamp), fixes: &[&TimelinePoint]) -> Segment {
    let position = |fix: Option<&&TimelinePoint>| {
        fix.map_or((Latitude::from_e7(0), Longitude::from_e7(0)), |fix| fix.position())
    };
    Segment {
        kind,
        from,
        to,
        start: position(fixes.first()),
        end: position(fixes.last()),
        distance_m: 0,
        distance_source: DistanceSource::Legs,
        moving_s: 0,
        standing_s: 0,
        idling_s: 0,
        engine_s: None,
        max_speed: None,
        fuel_used: None,
        driver_tag: None,
        inferred: false,
    }
}

/// Whether the device was in motion from one fix to the next.
fn moves(from: &TimelinePoint, to: &TimelinePoint, settings: &TimelineSettings) -> bool {
    let seconds = seconds(from, to);
    match (from.speed, to.speed) {
        (Some(before), Some(after)) if seconds <= DENSE_S => {
            f64::midpoint(before.as_f64(), after.as_f64()) > f64::from(settings.idling_speed_kmh)
        }
        _ => {
            let way = metres(from.position(), to.position());
            way > REST_M_PER_S * seconds
                && (seconds > DENSE_S || way * 3.6 > f64::from(settings.idling_speed_kmh) * seconds)
        }
    }
}

/// The distance by `mileage`, if both ends have it and it neither jumped nor ran backwards nor stood still.
fn mileage_m(points: &[TimelinePoint], way: f64) -> Option<f64> {
    let (first, last) = (points.first()?.mileage?, points.last()?.mileage?);
    let mut before: Option<(&TimelinePoint, f64)> = None;
    for point in points {
        let Some(mileage) = point.mileage.map(Milli::as_f64) else { continue };
        if let Some((earlier, from)) = before {
            let grown = mileage - from;
            if grown < 0.0 || grown > JUMP_KM + JUMP_KM_PER_S * seconds(earlier, point) {
                return None;
            }
        }
        before = Some((point, mileage));
    }
    let metres = (last.as_f64() - first.as_f64()) * 1_000.0;
    (metres >= way * STANDSTILL - JUMP_KM * 1_000.0 && metres >= way.min(1.0)).then_some(metres)
}

/// The highest speed between fixes, in km/h.
fn measured_speed(fixes: &[&TimelinePoint]) -> Option<Milli> {
    let mut from = *fixes.first()?;
    let mut greatest = 0.0_f64;
    for to in fixes {
        let way = metres(from.position(), to.position());
        if way >= LEAST_LEG_M {
            greatest = greatest.max(way * 3.6 / seconds(from, to).max(1.0));
            from = to;
        }
    }
    Milli::from_f64(greatest).ok()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a distance, saturating")]
fn whole_metres(metres: f64) -> u64 {
    metres.round() as u64
}
