//! Finds where a device stayed: runs of points around one centre for at least the length of a stop.

use super::outliers::seconds;
use super::plane::{Plane, metres};
use super::{Position, TimelinePoint, TimelineSettings};
use crate::locations::location::Milli;

/// Time after which a drifting vessel counts as at anchor, in seconds. A shorter stay must keep to the radius of a stop.
const ANCHORED_S: f64 = 3_600.0;
/// Highest speed of a vessel that swings at anchor, in metres per second: about two knots.
const SWING_M_PER_S: f64 = 1.0;
/// Noise of a receiver, in metres. No speed is computed from shorter legs.
const NOISE_M: f64 = 50.0;
/// Part of the radius within which the first and the last point of a stay must be, so that the way there is not part of
/// the stay.
const CORE: f64 = 0.4;

/// A run of points, by the indices of the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stay {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// The stays among points, in order, without overlap. Neighbours may touch.
pub(super) fn stays(
    points: &[&TimelinePoint],
    quiet: (bool, bool),
    settings: &TimelineSettings,
) -> Vec<Stay> {
    let radius = f64::from(settings.stop_radius_m);
    let least_s = f64::from(settings.least_stop_s);
    let mut found = ends(points, quiet, radius);
    let mut first = 0;
    while first < points.len() {
        let (last, centre) = grow(points, first, radius);
        let stay = trim(points, Stay { first, last }, centre, radius * CORE);
        if lasts(points, stay, least_s) {
            found.push(stay);
            first = last + 1;
        } else {
            first += 1;
        }
    }
    found.extend(anchorages(points, settings));
    united(found)
}

/// A quiet end is a stay of its own, however short, because the neighbouring piece continues it.
fn ends(points: &[&TimelinePoint], quiet: (bool, bool), radius: f64) -> Vec<Stay> {
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    let near = |end: usize, index: &usize| match (points.get(end), points.get(*index)) {
        (Some(end), Some(point)) => metres(end.position(), point.position()) <= radius * CORE,
        _ => false,
    };
    let mut stays = Vec::new();
    if quiet.0 {
        stays
            .push(Stay { first: 0, last: (0..=last).take_while(|index| near(0, index)).last().unwrap_or(0) });
    }
    if quiet.1 {
        let first = (0..=last).rev().take_while(|index| near(last, index)).last().unwrap_or(last);
        stays.push(Stay { first, last });
    }
    stays
}

/// Long stays within the radius of a vessel at anchor: no leg is faster than a vessel swings.
fn anchorages(points: &[&TimelinePoint], settings: &TimelineSettings) -> Vec<Stay> {
    let radius = f64::from(settings.anchored_radius_m);
    let mut found = Vec::new();
    let (mut first, mut calm) = (0, 0);
    while first < points.len() {
        calm = calm.max(first);
        while calm + 1 < points.len() && is_calm(points, calm, settings) {
            calm += 1;
        }
        let window = points.get(..=calm).unwrap_or_default();
        if !lasts(points, Stay { first, last: calm }, ANCHORED_S) {
            first = calm + 1;
            continue;
        }
        let last = boxed(window, first, 2.0 * radius);
        let stay = Stay { first, last };
        if lasts(points, stay, ANCHORED_S) && is_alternating(points, stay, settings) {
            found.push(stay);
            first = last + 1;
        } else {
            first += 1;
        }
    }
    found
}

/// Whether a device swings rather than travels: the distance between both ends is small compared with the sum of its
/// legs, or within the radius of a stop.
fn is_alternating(points: &[&TimelinePoint], stay: Stay, settings: &TimelineSettings) -> bool {
    let Some(run) = points.get(stay.first..=stay.last) else { return false };
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return false };
    let way: f64 = run.windows(2).map(|pair| leg(pair).0).sum();
    let net = metres(first.position(), last.position());
    run.len() >= 4 && (way >= 1.5 * net || net <= f64::from(settings.stop_radius_m))
}

fn is_calm(points: &[&TimelinePoint], index: usize, settings: &TimelineSettings) -> bool {
    let Some(pair) = points.get(index..index + 2) else { return false };
    let (metres, seconds) = leg(pair);
    let reported = pair.iter().filter_map(|point| point.speed).map(Milli::as_f64).fold(0.0, f64::max);
    let least_kmh = f64::from(settings.idling_speed_kmh).max(SWING_M_PER_S * 3.6);
    reported <= least_kmh && (metres <= NOISE_M || metres <= SWING_M_PER_S * seconds)
}

fn leg(pair: &[&TimelinePoint]) -> (f64, f64) {
    let [from, to] = pair else { return (0.0, 0.0) };
    (metres(from.position(), to.position()), seconds(from, to))
}

/// The last point of the longest run that begins at a point and fits into a square. The extent decides, and not the
/// distance from the mean, which is off centre while a swing has just begun.
fn boxed(points: &[&TimelinePoint], first: usize, width: f64) -> usize {
    let Some(origin) = points.get(first) else { return first };
    let plane = Plane::at(origin.position());
    let (mut low, mut high) = ((0.0_f64, 0.0_f64), (0.0_f64, 0.0_f64));
    let mut last = first;
    for (index, point) in points.iter().enumerate().skip(first + 1) {
        let (east, north) = plane.offset(point.position());
        low = (low.0.min(east), low.1.min(north));
        high = (high.0.max(east), high.1.max(north));
        if high.0 - low.0 > width || high.1 - low.1 > width {
            break;
        }
        last = index;
    }
    last
}

/// The longest run that begins at a point and stays within the radius around the mean of its positions, and that mean.
fn grow(points: &[&TimelinePoint], first: usize, radius: f64) -> (usize, Centre) {
    let Some(origin) = points.get(first) else { return (first, Centre::default()) };
    let plane = Plane::at(origin.position());
    let (mut sum, mut count) = ((0.0, 0.0), 1.0);
    let mut last = first;
    for (index, point) in points.iter().enumerate().skip(first + 1) {
        let offset = plane.offset(point.position());
        if (offset.0 - sum.0 / count).hypot(offset.1 - sum.1 / count) > radius {
            break;
        }
        sum = (sum.0 + offset.0, sum.1 + offset.1);
        count += 1.0;
        last = index;
    }
    (last, Centre { origin: Some(origin.position()), offset: (sum.0 / count, sum.1 / count) })
}

/// The mean of positions, relative to the first of them.
#[derive(Clone, Copy, Debug, Default)]
struct Centre {
    origin: Option<Position>,
    offset: (f64, f64),
}

/// Leaves out the points before the device arrived and after it left.
fn trim(points: &[&TimelinePoint], stay: Stay, centre: Centre, core: f64) -> Stay {
    let Some(origin) = centre.origin else { return stay };
    let plane = Plane::at(origin);
    // These points shift the mean, but not the median as long as most points belong to the stay.
    let offsets: Vec<_> = points
        .get(stay.first..=stay.last)
        .unwrap_or_default()
        .iter()
        .map(|point| plane.offset(point.position()))
        .collect();
    if offsets.len() < 3 {
        return stay;
    }
    let middle = median(&offsets).unwrap_or(centre.offset);
    let is_core = |offset: &(f64, f64)| (offset.0 - middle.0).hypot(offset.1 - middle.1) <= core;
    let (Some(head), Some(tail)) = (offsets.iter().position(is_core), offsets.iter().rposition(is_core))
    else {
        return stay;
    };
    Stay { first: stay.first + head, last: stay.first + tail }
}

fn median(offsets: &[(f64, f64)]) -> Option<(f64, f64)> {
    let of = |axis: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = offsets.iter().map(axis).collect();
        let middle = values.len() / 2;
        let (_, value, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
        *value
    };
    (!offsets.is_empty()).then(|| (of(|offset| offset.0), of(|offset| offset.1)))
}

fn lasts(points: &[&TimelinePoint], stay: Stay, least_s: f64) -> bool {
    match (points.get(stay.first), points.get(stay.last)) {
        (Some(first), Some(last)) => seconds(first, last) >= least_s,
        _ => false,
    }
}

/// Sorts stays and joins those that overlap.
fn united(mut stays: Vec<Stay>) -> Vec<Stay> {
    stays.sort_by_key(|stay| (stay.first, stay.last));
    let mut joined: Vec<Stay> = Vec::with_capacity(stays.len());
    for stay in stays {
        match joined.last_mut() {
            Some(last) if stay.first <= last.last => last.last = last.last.max(stay.last),
            _ => joined.push(stay),
        }
    }
    joined
}
