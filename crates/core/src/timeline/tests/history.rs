//! Makes histories for tests.

use super::super::{TimelinePoint, TimelineSettings};
use crate::locations::location::{Latitude, Longitude, Milli};
use crate::time::Timestamp;

/// Midnight of a day.
pub(super) const BEGIN_MS: i64 = 1_780_000_000_000 / 86_400_000 * 86_400_000;
/// Metres of a degree of latitude.
const DEGREE_M: f64 = 111_195.0;

pub(super) const SETTINGS: fn() -> TimelineSettings = TimelineSettings::default;

/// A point this many seconds after the beginning, so many metres east and north of 60° N, 179.95° E.
pub(super) fn at(second: i64, east_m: f64, north_m: f64) -> TimelinePoint {
    let longitude = 179.95 + east_m / DEGREE_M * 2.0;
    let longitude = if longitude >= 180.0 { longitude - 360.0 } else { longitude };
    TimelinePoint {
        time: Timestamp::from_millis(BEGIN_MS + second * 1_000),
        latitude: Latitude::from_degrees(60.0 + north_m / DEGREE_M).unwrap(),
        longitude: Longitude::from_degrees(longitude).unwrap(),
        speed: None,
        ignition: None,
        rpm: None,
        mileage: None,
        accuracy: None,
        fuel: None,
        driver_tag: None,
        source: None,
    }
}

/// Histories of a property test: a few, or as many as `PERIGEE_TIMELINE_CASES` says.
pub(super) fn cases() -> u32 {
    std::env::var("PERIGEE_TIMELINE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

/// A small random generator, so that a history is a function of its seed.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn one_of(&mut self, choices: [i64; 4]) -> i64 {
        choices[usize::try_from(self.below(4)).unwrap()]
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    pub(super) fn metres(&mut self, most: u64) -> f64 {
        self.below(2 * most + 1) as f64 - most as f64
    }
}

/// Stands and drives several times, with noise, silences, far-off fixes and readings that come and go.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_wrap, reason = "small numbers")]
pub(super) fn journey(seed: u64) -> Vec<TimelinePoint> {
    let mut random = Random(seed);
    let (mut points, mut second, mut east, mut north, mut mileage) = (Vec::new(), 0, 0.0, 0.0, 1_000.0);
    let parked_s = random.one_of([30, 60, 600, 3_600]);
    let moving_s = random.one_of([5, 10, 60, 600]);
    for leg in 0..6 + random.below(6) {
        let stands = leg % 2 == 0;
        let (step_s, pace) = if stands { (parked_s, 0.0) } else { (moving_s, 1.0 + random.below(25) as f64) };
        let end = second + (random.below(7_200) as i64).max(3 * step_s);
        let (sin, cos) = (random.below(628) as f64 / 100.0).sin_cos();
        while second < end {
            let noise = random.metres(15);
            let far = if random.below(50) == 0 { 600.0 } else { 0.0 };
            let mut point = at(second, east + noise + far, north + random.metres(15));
            point.speed = (random.below(10) > 0).then(|| Milli::from_f64(pace * 3.6).unwrap());
            point.ignition = (random.below(10) > 0).then_some(!stands || random.below(3) == 0);
            point.mileage = (random.below(10) > 0).then(|| Milli::from_f64(mileage).unwrap());
            points.push(point);
            let pause_s = if random.below(60) == 0 { random.below(20_000) as i64 } else { step_s };
            second += pause_s.max(1);
            east += cos * pace * pause_s as f64;
            north += sin * pace * pause_s as f64;
            (east, north) = (east.clamp(-900_000.0, 900_000.0), north.clamp(-900_000.0, 900_000.0));
            mileage += pace * pause_s as f64 / 1_000.0;
        }
    }
    points
}
