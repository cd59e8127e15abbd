//! A simulated vehicle: trips along straight and bending roads with speed limits, junctions and traffic lights, and
//! stops between the trips.

use super::fix::{Fix, Motion};
use super::geo_point::{GeoPoint, turn, turn_to};
use super::random::Random;

/// Cities to drive in, with their altitude in metres.
const HOMES: [(GeoPoint, f64); 12] = [
    (GeoPoint::new(40.4168, -3.7038), 650.0),
    (GeoPoint::new(42.2406, -8.7207), 40.0),
    (GeoPoint::new(48.8566, 2.3522), 45.0),
    (GeoPoint::new(52.5200, 13.4050), 40.0),
    (GeoPoint::new(41.0082, 28.9784), 90.0),
    (GeoPoint::new(19.4326, -99.1332), 2240.0),
    (GeoPoint::new(-23.5505, -46.6333), 760.0),
    (GeoPoint::new(39.7392, -104.9903), 1610.0),
    (GeoPoint::new(-1.2921, 36.8219), 1680.0),
    (GeoPoint::new(28.6139, 77.2090), 215.0),
    (GeoPoint::new(35.6762, 139.6503), 40.0),
    (GeoPoint::new(-33.8688, 151.2093), 35.0),
];
/// Speed limits of roads in km/h; the repeated one is the most frequent.
const LIMITS_KMH: [f64; 6] = [30.0, 50.0, 50.0, 50.0, 80.0, 110.0];
/// Metres from home beyond which the vehicle turns towards home at junctions.
const RANGE_M: f64 = 40_000.0;
/// In m/s per second, like `BRAKING`.
const ACCELERATION: f64 = 1.6;
const BRAKING: f64 = 2.2;
/// Speed at a junction in metres per second.
const JUNCTION_MPS: f64 = 6.0;
const MOVING_INTERVAL_S: u32 = 10;
const PARKED_INTERVAL_S: u32 = 300;

#[derive(Clone, Debug)]
pub(super) struct Vehicle {
    random: Random,
    time_ms: i64,
    home: GeoPoint,
    position: GeoPoint,
    altitude_m: f64,
    /// Degrees clockwise from north.
    course: f64,
    speed_mps: f64,
    /// The speed that is driven on this road, near its limit.
    cruise_mps: f64,
    to_junction_m: f64,
    /// Degrees that the road turns per hundred metres.
    bend: f64,
    /// Seconds left at a traffic light.
    waiting_s: u32,
    /// Seconds left of the trip, or of the stop while parked.
    phase_s: u32,
    is_parked: bool,
    mileage_m: f64,
}

impl Vehicle {
    pub(super) fn new(mut random: Random, start_ms: i64) -> Self {
        let (city, altitude_m) = *random.pick(&HOMES);
        let home = city.step(random.between(0.0, 360.0), random.between(500.0, 12_000.0));
        let mut vehicle = Self {
            time_ms: start_ms + i64::from(random.whole(0, 9_999)),
            home,
            position: home,
            altitude_m: altitude_m + random.between(-20.0, 60.0),
            course: random.between(0.0, 360.0),
            speed_mps: 0.0,
            // The values of the first road are set below.
            cruise_mps: 0.0,
            to_junction_m: 0.0,
            bend: 0.0,
            waiting_s: 0,
            phase_s: random.whole(300, 3600),
            is_parked: random.chance(0.3),
            mileage_m: random.between(2e6, 2e8),
            random,
        };
        vehicle.enter_road();
        vehicle
    }

    /// The current fix; then drives on until the next one is due.
    pub(super) fn next_fix(&mut self) -> Fix {
        let fix = self.fix();
        let seconds = if self.is_parked { PARKED_INTERVAL_S } else { MOVING_INTERVAL_S };
        for _ in 0..seconds {
            self.advance_one_second();
        }
        self.time_ms += i64::from(seconds) * 1000;
        fix
    }

    fn fix(&mut self) -> Fix {
        let noise_m = if self.is_parked { 0.6 } else { 1.8 };
        let position = self.position.step(self.random.between(0.0, 360.0), self.random.between(0.0, noise_m));
        let motion =
            Motion { position, altitude_m: self.altitude_m, speed_mps: self.speed_mps, course: self.course };
        let accuracy_m = self.random.between(1.5, 6.0);
        let satellites = self.random.whole(8, 19);
        Fix {
            ignition: Some(!self.is_parked),
            mileage_m: Some(whole_metres(self.mileage_m)),
            ..Fix::of(self.time_ms, motion, accuracy_m, satellites)
        }
    }

    fn advance_one_second(&mut self) {
        self.phase_s = self.phase_s.saturating_sub(1);
        if self.is_parked {
            if self.phase_s == 0 {
                self.is_parked = false;
                self.phase_s = self.random.whole(900, 5400);
            }
            return;
        }
        if self.waiting_s > 0 {
            self.waiting_s -= 1;
            return;
        }
        self.drive();
        if self.phase_s == 0 && self.speed_mps < 1.0 {
            self.speed_mps = 0.0;
            self.is_parked = true;
            self.phase_s = self.random.whole(1200, 7200);
        }
    }

    /// Drives for one second.
    fn drive(&mut self) {
        let is_arriving = self.phase_s == 0;
        let wanted = if is_arriving { 0.0 } else { self.cruise_mps };
        // The highest speed from which the vehicle can still brake to the speed at the junction.
        let before_junction = (JUNCTION_MPS.powi(2) + 2.0 * BRAKING * self.to_junction_m.max(0.0)).sqrt();
        let target_mps = wanted.min(before_junction);
        let change = (target_mps - self.speed_mps).clamp(-BRAKING, ACCELERATION);
        self.speed_mps = (self.speed_mps + change).max(0.0);
        self.course = turn(self.course, self.bend * self.speed_mps / 100.0);
        self.position = self.position.step(self.course, self.speed_mps);
        self.altitude_m = (self.altitude_m + self.random.around_zero(0.1)).max(0.0);
        self.mileage_m += self.speed_mps;
        self.to_junction_m -= self.speed_mps;
        if self.to_junction_m <= 0.0 {
            self.cross_junction();
        }
    }

    /// Chooses the next road, perhaps after a traffic light.
    fn cross_junction(&mut self) {
        let (homewards, distance_m) = self.position.towards(self.home);
        let turn_by = if distance_m > RANGE_M {
            (turn_to(self.course, homewards) / 90.0).round() * 90.0
        } else {
            *self.random.pick(&[-90.0, -45.0, 0.0, 0.0, 0.0, 45.0, 90.0])
        };
        self.course = turn(self.course, turn_by + self.random.around_zero(3.0));
        if self.random.chance(0.25) {
            self.speed_mps = 0.0;
            self.waiting_s = self.random.whole(8, 70);
        }
        self.enter_road();
    }

    fn enter_road(&mut self) {
        let limit_kmh = *self.random.pick(&LIMITS_KMH);
        self.cruise_mps = limit_kmh / 3.6 * self.random.between(0.85, 1.08);
        // The faster the road, the farther apart are its junctions: 120 m to 4.4 km.
        self.to_junction_m = limit_kmh * self.random.between(4.0, 40.0);
        self.bend = if self.random.chance(0.5) { self.random.around_zero(4.0) } else { 0.0 };
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
fn whole_metres(metres: f64) -> i64 {
    metres.round() as i64
}
