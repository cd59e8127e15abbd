//! A hiker with a satellite messenger: a fix an hour, walking by day, resting by night, a battery that drains.

use super::fix::{Fix, Motion};
use super::geo_point::{GeoPoint, turn, turn_to};
use super::random::Random;

/// Mountains, with the height of the valleys in metres.
const TRAILS: [(GeoPoint, f64); 8] = [
    (GeoPoint::new(45.92, 7.65), 2100.0),
    (GeoPoint::new(42.66, 0.55), 1700.0),
    (GeoPoint::new(61.55, 8.45), 1100.0),
    (GeoPoint::new(27.90, 86.70), 3900.0),
    (GeoPoint::new(37.20, -118.60), 2700.0),
    (GeoPoint::new(-50.95, -73.05), 400.0),
    (GeoPoint::new(-44.60, 168.40), 600.0),
    (GeoPoint::new(-3.10, 37.30), 2800.0),
];
const INTERVAL_S: u32 = 3600;
const HOUR_MS: i64 = 3_600_000;
/// Metres from the trailhead at which the way back begins.
const RANGE_M: f64 = 25_000.0;

#[derive(Clone, Debug)]
pub(super) struct Hiker {
    random: Random,
    time_ms: i64,
    trailhead: GeoPoint,
    valley_m: f64,
    position: GeoPoint,
    altitude_m: f64,
    course: f64,
    speed_mps: f64,
    battery: f64,
}

impl Hiker {
    pub(super) fn new(mut random: Random, start_ms: i64) -> Self {
        let (trail, valley_m) = *random.pick(&TRAILS);
        let trailhead = trail.step(random.between(0.0, 360.0), random.between(0.0, 6_000.0));
        Self {
            time_ms: start_ms + i64::from(random.whole(0, 3_599_999)),
            trailhead,
            valley_m,
            position: trailhead,
            altitude_m: valley_m + random.between(0.0, 200.0),
            course: random.between(0.0, 360.0),
            speed_mps: 0.0,
            battery: random.between(60.0, 100.0),
            random,
        }
    }

    pub(super) fn next_fix(&mut self) -> Fix {
        let fix = self.fix();
        self.hour();
        // A satellite messenger reports when it has a view of the sky, so its interval varies.
        self.time_ms += i64::from(INTERVAL_S) * 1000 + i64::from(self.random.whole(0, 60_000)) - 30_000;
        fix
    }

    fn fix(&mut self) -> Fix {
        let position = self.position.step(self.random.between(0.0, 360.0), self.random.between(0.0, 6.0));
        let motion =
            Motion { position, altitude_m: self.altitude_m, speed_mps: self.speed_mps, course: self.course };
        let accuracy = self.random.between(4.0, 30.0);
        let satellites = self.random.whole(4, 11);
        let battery = (1..=100).rev().find(|percent| f64::from(*percent) <= self.battery).unwrap_or(0);
        Fix { battery: Some(battery), ..Fix::of(self.time_ms, motion, accuracy, satellites) }
    }

    fn hour(&mut self) {
        self.battery -= self.random.between(0.3, 0.9);
        if self.battery < 5.0 {
            self.battery = 100.0;
        }
        self.speed_mps =
            if self.is_day() && !self.random.chance(0.15) { self.random.between(0.5, 1.4) } else { 0.0 };
        let (homewards, metres) = self.position.towards(self.trailhead);
        if metres > RANGE_M {
            self.course = homewards;
        }
        // A trail winds: an hour's walk is a dozen short legs.
        for _ in 0..12 {
            let by = self.random.around_zero(20.0);
            self.course = turn(self.course, by + turn_to(self.course, self.course + by) * 0.2);
            self.position = self.position.step(self.course, self.speed_mps * 300.0 * 0.8);
        }
        let climb = self.speed_mps * self.random.around_zero(130.0);
        self.altitude_m = (self.altitude_m + climb).clamp(self.valley_m, self.valley_m + 1800.0);
    }

    /// Whether it is day at the hiker's position: from 7:00 to 18:00 of solar time.
    fn is_day(&self) -> bool {
        let hour_utc = self.time_ms.div_euclid(HOUR_MS).rem_euclid(24);
        let hour_utc = f64::from(i32::try_from(hour_utc).unwrap_or(0));
        let local = (hour_utc + self.position.longitude / 15.0).rem_euclid(24.0);
        (7.0..18.0).contains(&local)
    }
}
