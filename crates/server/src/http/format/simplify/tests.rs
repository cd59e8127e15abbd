//! Tests of which locations of a line are kept.

use perigee_core::locations::location::{Latitude, Location, Longitude, Readings, Trust};
use perigee_core::time::Timestamp;
use proptest::prelude::*;

use super::*;

fn at(degrees: &[(f64, f64)]) -> Vec<StoredLocation> {
    let stored = |(number, (latitude, longitude)): (i64, &(f64, f64))| StoredLocation {
        location: Location {
            time: Timestamp::from_millis(number),
            latitude: Latitude::from_degrees(*latitude).unwrap(),
            longitude: Longitude::from_degrees(*longitude).unwrap(),
            readings: Readings::default(),
        },
        received_at: Timestamp::from_millis(0),
        trust: Trust::default(),
        number,
    };
    (0..).zip(degrees).map(stored).collect()
}

fn kept(metres: f64, degrees: &[(f64, f64)]) -> Vec<i64> {
    Simplifier::new(metres).thin(at(degrees)).iter().map(|stored| stored.number).collect()
}

#[test]
fn points_on_the_line_are_left_out() {
    assert_eq!(kept(10.0, &[]), [0_i64; 0]);
    assert_eq!(kept(10.0, &[(1.0, 1.0)]), [0]);
    assert_eq!(kept(10.0, &[(1.0, 1.0), (1.0, 1.0)]), [0, 1]);
    let still = [(1.0, 1.0); 5];
    assert_eq!(kept(10.0, &still), [0, 4]);
    // Along the equator and a meridian, which are great circles.
    assert_eq!(kept(0.1, &[(0.0, 1.0), (0.0, 2.0), (0.0, 40.0)]), [0, 2]);
    assert_eq!(kept(0.1, &[(10.0, 5.0), (50.0, 5.0), (60.0, 5.0)]), [0, 2]);
    // A degree of latitude is about 111 km: a step aside of 0.001 is 111 m.
    assert_eq!(kept(112.0, &[(0.0, 0.0), (0.001, 1.0), (0.0, 2.0)]), [0, 2]);
    assert_eq!(kept(110.0, &[(0.0, 0.0), (0.001, 1.0), (0.0, 2.0)]), [0, 1, 2]);
    // There and back again: the turning point is far from both ends.
    assert_eq!(kept(10.0, &[(0.0, 0.0), (0.0, 1.0), (0.0, 0.0)]), [0, 1, 2]);
    assert_eq!(kept(10.0, &[(0.0, 0.0), (0.0, -0.5), (0.0, 1.0)]), [0, 1, 2]);
}

#[test]
fn the_antimeridian_and_the_poles_are_nothing_special() {
    let across = [(0.0, 179.0), (0.0, 179.9), (0.0, -179.9), (0.0, -179.0)];
    assert_eq!(kept(1.0, &across), [0, 3]);
    let beside = [(0.0, 179.0), (0.001, -180.0), (0.0, -179.0)];
    assert_eq!(kept(110.0, &beside), [0, 1, 2]);
    assert_eq!(kept(112.0, &beside), [0, 2]);
    let over_the_pole = [(80.0, 0.0), (90.0, 0.0), (80.0, 180.0)];
    assert_eq!(kept(1.0, &over_the_pole), [0, 2]);
}

#[test]
fn small_steps_are_distinguished() {
    // About a metre a step, a metre aside in the middle.
    let steps = [(52.0, 13.0), (52.000_01, 13.000_01), (52.0, 13.000_02)];
    assert_eq!(kept(0.5, &steps), [0, 1, 2]);
    assert_eq!(kept(1.5, &steps), [0, 2]);
}

#[test]
fn parts_join() {
    let line: Vec<(f64, f64)> = (0..30).map(|step| (0.0, f64::from(step) / 100.0)).collect();
    let mut simplifier = Simplifier::new(1.0);
    let numbers = at(&line)
        .chunks(10)
        .flat_map(|part| simplifier.thin(part.to_vec()))
        .map(|stored| stored.number)
        .collect::<Vec<_>>();
    assert_eq!(numbers, [0, 9, 19, 29], "each part's last is kept");
}

proptest! {
    #[test]
    fn nothing_left_out_is_further_away_than_allowed(
        start in (-89.0..89.0_f64, -180.0..180.0_f64),
        steps in prop::collection::vec((-0.01..0.01_f64, -0.01..0.01_f64), 1..60),
        metres in 1.0..2_000.0_f64,
        part in 1..40_usize,
    ) {
        let mut corner = start;
        let mut line = vec![start];
        for (north, east) in steps {
            corner = ((corner.0 + north).clamp(-90.0, 90.0), (corner.1 + east + 540.0).rem_euclid(360.0) - 180.0);
            line.push(corner);
        }
        let all = at(&line);
        let mut simplifier = Simplifier::new(metres);
        let kept: Vec<StoredLocation> =
            all.chunks(part).flat_map(|part| simplifier.thin(part.to_vec())).collect();
        prop_assert_eq!(kept.first(), all.first());
        prop_assert_eq!(kept.last(), all.last());
        prop_assert!(kept.is_sorted_by_key(|stored| stored.number));
        for stored in &all {
            let stretch = |pair: &[StoredLocation]| {
                let is_between = pair[0].number <= stored.number && stored.number <= pair[1].number;
                is_between.then(|| {
                    Arc::new(position(&pair[0]), position(&pair[1])).distance_m(position(stored))
                })
            };
            let distance = kept.windows(2).find_map(stretch).unwrap_or(0.0);
            prop_assert!(distance <= metres + 1e-6, "{} is {} m away", stored.number, distance);
        }
    }
}
