//! Histories whose segments are known.

use super::super::derivation::PIECE_MAX;
use super::super::{Derivation, DistanceSource, Segment, SegmentKind, TimelinePoint, clip, derive};
use super::history::{BEGIN_MS, SETTINGS, at};
use crate::locations::location::Milli;
use crate::time::Timestamp;
use SegmentKind::{Gap, Stop, Trip};

/// Points each `step_s` seconds, from a place to a place in metres east, the last one excluded.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn way((from_s, to_s): (i64, i64), step_s: i64, (from_m, to_m): (f64, f64)) -> Vec<TimelinePoint> {
    let east = |second: i64| from_m + (to_m - from_m) * (second - from_s) as f64 / (to_s - from_s) as f64;
    (from_s..to_s)
        .step_by(usize::try_from(step_s).unwrap())
        .map(|second| at(second, east(second), 0.0))
        .collect()
}

fn drive(parked_s: i64, moving_s: i64, length_m: f64) -> Vec<TimelinePoint> {
    let mut points = way((0, 3_600), parked_s, (0.0, 0.0));
    points.extend(way((3_600, 7_200), moving_s, (0.0, length_m)));
    points.extend(way((7_200, 10_800), parked_s, (length_m, length_m)));
    points
}

fn kinds(points: Vec<TimelinePoint>) -> Vec<SegmentKind> {
    timeline(points).iter().map(|segment| segment.kind).collect()
}

fn timeline(mut points: Vec<TimelinePoint>) -> Vec<Segment> {
    points.sort_by(TimelinePoint::order);
    derive(points, SETTINGS())
}

#[test]
fn nothing_and_one_point_have_no_segments() {
    assert_eq!(timeline(vec![]), vec![]);
    assert_eq!(timeline(vec![at(0, 0.0, 0.0)]), vec![]);
}

#[test]
fn a_way_between_two_stops_is_a_trip() {
    for (parked_s, moving_s) in [(60, 1), (60, 10), (600, 60), (1_200, 600), (1_800, 1_800)] {
        let segments = timeline(drive(parked_s, moving_s, 40_000.0));
        let found: Vec<_> = segments.iter().map(|segment| segment.kind).collect();
        assert_eq!(found, [Stop, Trip, Stop], "{parked_s} s, {moving_s} s");
        let trip = &segments[1];
        assert!(trip.distance_m.abs_diff(40_000) < 400, "{} m", trip.distance_m);
        assert_eq!(trip.distance_source, DistanceSource::Legs);
    }
}

#[test]
fn a_light_is_part_of_the_trip() {
    let mut points = way((0, 1_800), 60, (0.0, 0.0));
    points.extend(way((1_800, 2_400), 10, (0.0, 6_000.0)));
    points.extend(way((2_400, 2_580), 10, (6_000.0, 6_000.0)));
    points.extend(way((2_580, 3_180), 10, (6_000.0, 12_000.0)));
    points.extend(way((3_180, 5_000), 60, (12_000.0, 12_000.0)));
    let segments = timeline(points);
    assert_eq!(segments.iter().map(|segment| segment.kind).collect::<Vec<_>>(), [Stop, Trip, Stop]);
    assert!((150..=260).contains(&segments[1].standing_s), "{:?}", segments[1]);
}

#[test]
fn a_silence_is_judged_by_where_the_device_is_afterwards() {
    let with_silence = |after_m: f64| {
        let mut points = way((0, 1_800), 60, (0.0, 0.0));
        points.extend(way((1_800, 2_400), 10, (0.0, 9_000.0)));
        points.extend(way((9_000, 9_600), 10, (after_m, after_m + 9_000.0)));
        points.extend(way((9_600, 12_000), 60, (after_m + 9_000.0, after_m + 9_000.0)));
        timeline(points)
    };
    let far = with_silence(30_000.0);
    assert_eq!(far.iter().map(|segment| segment.kind).collect::<Vec<_>>(), [Stop, Trip, Gap, Trip, Stop]);
    assert!(far[2].distance_m.abs_diff(21_000) < 400, "{:?}", far[2]);
    let same = with_silence(8_850.0);
    assert_eq!(same.iter().map(|segment| segment.kind).collect::<Vec<_>>(), [Stop, Trip, Stop, Trip, Stop]);
    assert!(same[2].inferred, "{:?}", same[2]);
}

#[test]
fn a_far_off_fix_is_no_trip() {
    let mut points = way((0, 7_200), 60, (0.0, 0.0));
    for (minute, metres) in [(10_u8, 400.0), (40, 900.0), (70, 50_000.0)] {
        points[usize::from(minute)] = at(i64::from(minute) * 60, metres, 0.0);
    }
    assert_eq!(kinds(points), [Stop]);
}

#[test]
fn a_vessel_at_anchor_swings() {
    let swing = |period_s: i64| -> Vec<TimelinePoint> {
        (0..100)
            .map(|index: i64| {
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                let (sin, cos) = (index as f64 * period_s as f64 / 5_000.0).sin_cos();
                at(index * period_s, 300.0 * cos, 300.0 * sin)
            })
            .collect()
    };
    for period_s in [60, 600, 1_800, 3_600] {
        assert_eq!(kinds(swing(period_s)), [Stop], "each {period_s} s");
    }
}

#[test]
fn mileage_counts_unless_it_jumps() {
    let with = |mileage: fn(usize) -> f64| {
        let mut points = drive(60, 10, 40_000.0);
        for (index, point) in points.iter_mut().enumerate() {
            point.mileage = Some(Milli::from_f64(mileage(index)).unwrap());
        }
        let segments = timeline(points);
        (segments[1].distance_source, segments[1].distance_m)
    };
    // 60 points at the stop, then 360 on the way.
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let steady = |index: usize| 500.0 + (index.clamp(60, 420) - 60) as f64 * 0.12;
    let (source, metres) = with(steady);
    assert_eq!(source, DistanceSource::Mileage);
    assert!(metres.abs_diff(43_200) < 400, "{metres}");
    assert_eq!(with(|index| if index < 200 { 500.0 } else { 90_000.0 }).0, DistanceSource::Legs);
    assert_eq!(with(|index| if index < 200 { 500.0 } else { 1.0 }).0, DistanceSource::Legs);
    assert_eq!(with(|_| 500.0).0, DistanceSource::Legs);
}

#[test]
fn an_engine_that_runs_at_a_stop_is_idling() {
    let mut points = drive(60, 10, 40_000.0);
    for (index, point) in points.iter_mut().enumerate() {
        point.ignition = Some((50..430).contains(&index));
    }
    let segments = timeline(points);
    assert!((500..=700).contains(&segments[0].idling_s), "{:?}", segments[0]);
    assert_eq!(segments[1].idling_s, 0);
    assert!((500..=700).contains(&segments[2].idling_s), "{:?}", segments[2]);
}

#[test]
fn noise_adds_no_kilometres() {
    let mut points = drive(60, 1, 20_000.0);
    for (index, point) in points.iter_mut().enumerate() {
        let shifted = i32::try_from(index * 7_919 % 200).unwrap() - 100;
        point.latitude = crate::locations::location::Latitude::from_e7(point.latitude.as_e7() + shifted * 10);
    }
    let segments = timeline(points);
    assert!(segments[1].distance_m.abs_diff(20_000) < 600, "{:?}", segments[1]);
}

#[test]
fn a_period_cuts_segments() {
    let segments = timeline(drive(60, 10, 40_000.0));
    let instant = |second: i64| Timestamp::from_millis(BEGIN_MS + second * 1_000);
    let clipped = clip(&segments, instant(3_000), instant(5_400));
    assert_eq!(clipped.iter().map(|segment| segment.kind).collect::<Vec<_>>(), [Stop, Trip]);
    assert_eq!((clipped[0].from, clipped[1].to), (instant(3_000), instant(5_400)));
    assert!(clipped[1].distance_m.abs_diff(20_000) < 400, "{:?}", clipped[1]);
    assert_eq!(clip(&segments, instant(20_000), instant(30_000)), vec![]);
}

#[test]
fn a_way_without_end_is_held_in_bounded_memory() {
    let mut points = way((0, 3_600), 60, (0.0, 0.0));
    points.extend(way((3_600, 153_600), 1, (0.0, 500_000.0)));
    points.extend(way((153_600, 157_200), 60, (500_000.0, 500_000.0)));
    points.sort_by(TimelinePoint::order);
    let mut derivation = Derivation::new(SETTINGS());
    let mut segments = Vec::new();
    let mut anchors = Vec::new();
    for point in &points {
        for closed in derivation.push(point.clone()) {
            segments.extend(closed.segments);
            anchors.push(closed.anchor);
        }
        assert!(derivation.points_held() <= PIECE_MAX);
    }
    segments.extend(derivation.finish());
    assert_eq!(segments.iter().map(|each| each.kind).collect::<Vec<_>>(), [Stop, Trip, Trip, Stop]);
    assert!(segments.windows(2).all(|pair| pair[0].to == pair[1].from));
    let distance: u64 = segments.iter().map(|each| each.distance_m).sum();
    assert!(distance.abs_diff(500_000) < 5_000, "{distance}");

    // The same after the one in the middle of the trip, and after the last anchor.
    let middle = anchors.iter().find(|anchor| anchor.stop.is_none());
    assert!(middle.is_some());
    for anchor in middle.into_iter().chain(anchors.last()) {
        let mut resumed = Derivation::resume(SETTINGS(), anchor.clone());
        let later = points.iter().filter(|point| point.time >= anchor.at).cloned();
        let mut rows: Vec<Segment> =
            later.flat_map(|point| resumed.push(point)).flat_map(|closed| closed.segments).collect();
        rows.extend(resumed.finish());
        let whole: Vec<Segment> =
            segments.iter().filter(|each| each.from >= anchor.stop_from()).cloned().collect();
        assert_eq!(rows, whole);
    }
}
