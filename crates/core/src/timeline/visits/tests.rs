//! Cases of visits, and properties: neither the order of arrival nor the cut of a period matters.

use proptest::prelude::*;

use super::*;
use crate::locations::geofence::Shape;
use crate::locations::location::{Latitude, Location, Longitude, Readings};

const HOUR_MS: i64 = 3_600_000;

fn position(north_m: f64) -> (Latitude, Longitude) {
    let degrees = 42.0 + north_m / 111_195.0;
    (Latitude::from_degrees(degrees).unwrap(), Longitude::from_degrees(-8.0).unwrap())
}

/// A circle of 500 m around the origin, and one of 200 m that touches its edge from within.
fn index() -> Arc<FenceIndex> {
    let circle = |north_m: f64, radius_m: f64| {
        let (latitude, longitude) = position(north_m);
        Shape::Circle { centre: Position { latitude, longitude }, radius_m }
    };
    let shapes = [circle(0.0, 500.0), circle(300.0, 200.0)];
    let fences = shapes.iter().zip(1..).map(|(shape, id)| (GeofenceId::from_i64(id), shape));
    Arc::new(FenceIndex::new(fences))
}

/// A point at this many milliseconds, this many metres north of the origin.
fn point(ms: i64, north_m: f64) -> TimelinePoint {
    let (latitude, longitude) = position(north_m);
    let readings = Readings::default();
    TimelinePoint::of(&Location { time: Timestamp::from_millis(ms), latitude, longitude, readings })
}

/// The visits of a period, found as a reader of a store finds them: some points before the period and after it. The points
/// are sorted by time; those of one time are in order of arrival.
fn visits(points: &[TimelinePoint], from: i64, to: i64, reads_before: bool) -> Vec<Visit> {
    let (from, to) = (Timestamp::from_millis(from), Timestamp::from_millis(to));
    let mut start = VisitStart::new(from);
    let mut begin = from;
    if reads_before {
        for point in points.iter().rev().filter(|point| point.time < from) {
            start.push(point.clone());
            if start.is_known {
                break;
            }
        }
        begin = start.begin();
    }
    let mut walk = VisitWalk::new(index(), from, to);
    for point in points.iter().filter(|point| point.time >= begin) {
        walk.push(point.clone());
        if walk.is_done() {
            break;
        }
    }
    walk.finish()
}

fn whole(points: &[TimelinePoint]) -> Vec<Visit> {
    visits(points, 0, i64::MAX / 4, true)
}

/// What a period of these visits has.
fn clip(visits: &[Visit], from: i64, to: i64) -> Vec<Visit> {
    let (from, to) = (Timestamp::from_millis(from), Timestamp::from_millis(to));
    let overlaps = |visit: &&Visit| {
        let is_instant = visit.from == visit.to && visit.from >= from;
        visit.from < to && (visit.to > from || is_instant)
    };
    let cut = |visit: &Visit| Visit {
        from: visit.from.max(from),
        to: visit.to.min(to),
        entry: visit.entry.filter(|entry| *entry >= from),
        exit: visit.exit.filter(|exit| *exit <= to),
        ..*visit
    };
    let mut cut: Vec<Visit> = visits.iter().filter(overlaps).map(cut).collect();
    cut.sort_unstable_by_key(|visit| (visit.from, visit.geofence));
    cut
}

/// The beginnings, ends and exits of the visits to the large circle, in minutes.
fn of_large(points: &[(i64, f64)]) -> Vec<(i64, i64, bool)> {
    let points: Vec<_> = points.iter().map(|(minute, north_m)| point(minute * 60_000, *north_m)).collect();
    let large = |visit: &Visit| visit.geofence == GeofenceId::from_i64(1);
    let minutes = |at: Timestamp| at.as_millis() / 60_000;
    let found = whole(&points).into_iter().filter(large);
    found.map(|visit| (minutes(visit.from), minutes(visit.to), visit.exit.is_some())).collect()
}

#[test]
fn a_visit_is_from_the_first_location_inside_to_the_first_outside() {
    let far = 5_000.0;
    assert_eq!(of_large(&[(0, far), (5, 100.0), (10, 0.0), (15, far), (20, far)]), [(5, 15, true)]);
    assert_eq!(of_large(&[(0, far), (5, 100.0), (10, 0.0)]), [(5, 10, false)], "it has not left");
    assert_eq!(of_large(&[(0, far), (5, far)]), []);
    assert_eq!(of_large(&[(0, 0.0), (5, 0.0), (300, 0.0), (305, far), (310, far)]), [(0, 305, true)]);
    let left_in_silence = [(0, 0.0), (5, 0.0), (10, 10.0), (300, far), (305, far), (310, far)];
    assert_eq!(of_large(&left_in_silence), [(0, 10, true)]);
}

#[test]
fn noise_at_the_edge_and_far_off_fixes_do_not_divide_a_visit() {
    let flicker: Vec<_> =
        (0..600).map(|second| point(second * 1_000, if second % 7 == 0 { 520.0 } else { 480.0 })).collect();
    let large = |visits: Vec<Visit>| {
        visits.into_iter().filter(|visit| visit.geofence == GeofenceId::from_i64(1)).count()
    };
    assert_eq!(large(whole(&flicker)), 1);
    let jump: Vec<_> = (0..20).map(|at| point(at * 60_000, if at == 10 { 1_400.0 } else { 0.0 })).collect();
    assert_eq!(large(whole(&jump)), 1);
    let away: Vec<_> =
        (0..20).map(|at| point(at * 60_000, if (9..12).contains(&at) { 1_400.0 } else { 0.0 })).collect();
    assert_eq!(large(whole(&away)), 2);
}

#[test]
fn a_month_of_one_second_is_read_once() {
    let mut walk = VisitWalk::new(index(), Timestamp::from_millis(0), Timestamp::from_millis(60 * HOUR_MS));
    for second in 0..100_000 {
        let north_m = if second % 10_000 < 5_000 { 0.0 } else { 2_000.0 };
        walk.push(point(second * 1_000, north_m));
        assert!(walk.window.len() <= WINDOW && walk.inside.len() <= 2);
    }
    walk.end_at(walk.at());
    assert!(!walk.take().is_empty());
}

/// Histories of few positions in and around the fences, with intervals that matter.
fn history() -> impl Strategy<Value = Vec<TimelinePoint>> {
    let step = (
        prop::sample::select(vec![0_i64, 300, 1_000, 7_000, 20_000, 61_000, 600_000, 3_000_000]),
        prop::sample::select(vec![0.0, 120.0, 300.0, 480.0, 520.0, 900.0, 1_600.0, 40_000.0]),
    );
    prop::collection::vec(step, 1..60).prop_map(|steps| {
        let mut ms = 1_000_000;
        let next = |(by, north_m): (i64, f64)| {
            ms += by;
            point(ms, north_m)
        };
        steps.into_iter().map(next).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_period_cuts_visits_and_never_detects_them(points in history(), cuts in (0.0_f64..1.0, 0.0_f64..1.0)) {
        let all = whole(&points);
        let (first, last) = (1_000_000, points.last().unwrap().time.as_millis());
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "times of a test")]
        let at = |share: f64| first + ((last - first) as f64 * share) as i64;
        let (a, b) = (at(cuts.0.min(cuts.1)), at(cuts.0.max(cuts.1)) + 1);
        prop_assert_eq!(visits(&points, a, b, true), clip(&all, a, b));
        // On a point itself.
        let on = points[points.len() / 2].time.as_millis();
        prop_assert_eq!(visits(&points, on, last + 1, true), clip(&all, on, last + 1));
        prop_assert_eq!(visits(&points, 0, on, true), clip(&all, 0, on));
    }

    #[test]
    fn points_of_one_second_count_in_any_order(points in history(), seed in any::<u64>()) {
        let mut shuffled: Vec<(u64, TimelinePoint)> = points
            .iter()
            .zip(0_u64..)
            .map(|(point, number)| (number.wrapping_mul(seed | 1).rotate_left(17), point.clone()))
            .collect();
        shuffled.sort_by_key(|(dice, point)| (point.time, *dice));
        let shuffled: Vec<TimelinePoint> = shuffled.into_iter().map(|(_, point)| point).collect();
        prop_assert_eq!(whole(&shuffled), whole(&points));
    }

    /// A reader that ends a page where it has enough finds the same with the rest.
    #[test]
    fn pages_add_up(points in history(), after in 1_usize..40) {
        let all = whole(&points);
        let (from, to) = (Timestamp::from_millis(0), points.last().unwrap().time.plus_millis(1));
        let mut walk = VisitWalk::new(index(), from, to);
        let mut ends = to;
        for (count, point) in points.iter().enumerate() {
            walk.push(point.clone());
            if count == after && walk.at() > from {
                ends = walk.at();
                walk.end_at(ends);
            }
            if walk.is_done() {
                break;
            }
        }
        let (end, last) = (ends.as_millis(), to.as_millis());
        prop_assert_eq!(walk.finish(), clip(&all, 0, end));
        prop_assert_eq!(visits(&points, end, last, true), clip(&all, end, last));
    }
}

/// A reader that begins at the period is caught by the property.
#[test]
fn a_reader_without_the_past_is_wrong() {
    let points: Vec<_> = (0..10).map(|minute| point(minute * 60_000, 0.0)).collect();
    let (from, to) = (90_000, 400_000);
    assert_ne!(visits(&points, from, to, false), clip(&whole(&points), from, to));
    assert_eq!(visits(&points, from, to, true), clip(&whole(&points), from, to));
}
