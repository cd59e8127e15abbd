//! Divides a trip at the instants that people set.

use super::trip::trip;
use super::{Segment, TimelinePoint, TimelineSettings};
use crate::locations::location::{Latitude, Longitude, Milli};
use crate::time::Timestamp;

/// The parts of a trip between these instants. Each is measured by its own points; at an instant without a fix the device
/// is on the line between the fixes around it.
pub(super) fn trips(
    (from, to): (Timestamp, Timestamp),
    points: &[TimelinePoint],
    fixes: &[&TimelinePoint],
    splits: &[Timestamp],
    (settings, silence_ms): (&TimelineSettings, i64),
) -> Vec<Segment> {
    let inside = splits.iter().copied().filter(|at| from < *at && *at < to);
    let cuts: Vec<TimelinePoint> = inside.filter_map(|at| between(fixes, at)).collect();
    let (mut begin, mut parts) = (from, Vec::with_capacity(cuts.len() + 1));
    if cuts.is_empty() {
        parts.push(trip((from, to), points, fixes, settings, silence_ms));
        return parts;
    }
    let mut head: Option<&TimelinePoint> = None;
    for tail in cuts.iter().map(Some).chain([None]) {
        let end = tail.map_or(to, |tail| tail.time);
        let is_own = |point: &&TimelinePoint| {
            head.is_none_or(|head| point.time > head.time) && tail.is_none_or(|tail| point.time < tail.time)
        };
        let own_fixes: Vec<&TimelinePoint> =
            head.into_iter().chain(fixes.iter().copied().filter(is_own)).chain(tail).collect();
        let own_points: Vec<TimelinePoint> =
            head.into_iter().chain(points.iter().filter(is_own)).chain(tail).cloned().collect();
        parts.push(trip((begin, end), &own_points, &own_fixes, settings, silence_ms));
        (begin, head) = (end, tail);
    }
    parts
}

/// The device at an instant between two fixes.
fn between(fixes: &[&TimelinePoint], at: Timestamp) -> Option<TimelinePoint> {
    let next = fixes.partition_point(|fix| fix.time <= at);
    let (before, after) = (fixes.get(next.checked_sub(1)?)?, fixes.get(next)?);
    let (elapsed, length) = (
        i128::from(at.as_millis() - before.time.as_millis()),
        i128::from(after.time.as_millis() - before.time.as_millis()).max(1),
    );
    let share = |from: i64, to: i64| {
        let part = (i128::from(to) - i128::from(from)) * elapsed / length;
        from.saturating_add(i64::try_from(part).unwrap_or(0))
    };
    let e7 = |value: i64, most: i64| i32::try_from(value.clamp(-most, most)).unwrap_or_default();
    let milli = |from: Option<Milli>, to: Option<Milli>| {
        Some(Milli::from_thousandths(share(from?.as_thousandths(), to?.as_thousandths())))
    };
    let (west, mut east) = (i64::from(before.longitude.as_e7()), i64::from(after.longitude.as_e7()));
    // The shorter way may cross the antimeridian.
    if east - west > 1_800_000_000 {
        east -= 3_600_000_000;
    } else if west - east > 1_800_000_000 {
        east += 3_600_000_000;
    }
    let longitude = (share(west, east) + 1_800_000_000).rem_euclid(3_600_000_000) - 1_800_000_000;
    let latitude = share(i64::from(before.latitude.as_e7()), i64::from(after.latitude.as_e7()));
    Some(TimelinePoint {
        time: at,
        latitude: Latitude::from_e7(e7(latitude, 900_000_000)),
        longitude: Longitude::from_e7(e7(longitude, 1_800_000_000)),
        speed: milli(before.speed, after.speed),
        mileage: milli(before.mileage, after.mileage),
        ignition: before.ignition,
        rpm: before.rpm,
        accuracy: None,
        fuel: milli(before.fuel, after.fuel),
        driver_tag: None,
        source: None,
    })
}
