//! A vessel: back and forth along a sea lane, with slow changes of speed and hours at anchor.

use super::fix::{Fix, Motion};
use super::geo_point::{GeoPoint, turn, turn_to};
use super::random::Random;

/// Lanes through open water, waypoint by waypoint; the straight lines between them stay at sea.
pub(super) const LANES: [&[GeoPoint]; 6] = [
    // Western Approaches, Biscay, Gibraltar, Sicily, towards Port Said.
    &[
        GeoPoint::new(48.9, -5.9),
        GeoPoint::new(45.5, -7.8),
        GeoPoint::new(43.7, -9.8),
        GeoPoint::new(42.2, -9.4),
        GeoPoint::new(38.7, -9.9),
        GeoPoint::new(36.6, -9.2),
        GeoPoint::new(35.95, -5.7),
        GeoPoint::new(36.2, -2.5),
        GeoPoint::new(37.5, 5.0),
        GeoPoint::new(37.7, 9.5),
        GeoPoint::new(37.25, 11.5),
        GeoPoint::new(35.7, 15.0),
        GeoPoint::new(34.3, 22.5),
        GeoPoint::new(32.3, 31.5),
    ],
    // Dover to the Skaw.
    &[
        GeoPoint::new(51.2, 1.7),
        GeoPoint::new(52.6, 3.2),
        GeoPoint::new(54.3, 5.6),
        GeoPoint::new(56.5, 7.0),
        GeoPoint::new(57.7, 9.0),
        GeoPoint::new(58.0, 10.6),
    ],
    // Japan to California, across the antimeridian.
    &[
        GeoPoint::new(34.6, 140.6),
        GeoPoint::new(40.0, 160.0),
        GeoPoint::new(44.0, 179.0),
        GeoPoint::new(44.8, -170.0),
        GeoPoint::new(42.0, -140.0),
        GeoPoint::new(37.6, -123.5),
    ],
    // Gulf of Aden, south of Ceylon, towards Malacca.
    &[
        GeoPoint::new(12.2, 46.5),
        GeoPoint::new(13.4, 52.0),
        GeoPoint::new(10.0, 60.0),
        GeoPoint::new(7.6, 73.0),
        GeoPoint::new(5.5, 78.5),
        GeoPoint::new(5.4, 81.5),
        GeoPoint::new(6.2, 94.5),
    ],
    // Rio to the Cape.
    &[
        GeoPoint::new(-23.9, -42.0),
        GeoPoint::new(-26.5, -20.0),
        GeoPoint::new(-32.0, 8.0),
        GeoPoint::new(-34.6, 17.6),
    ],
    // Sydney to New Zealand.
    &[GeoPoint::new(-34.0, 151.9), GeoPoint::new(-36.0, 163.0), GeoPoint::new(-38.6, 172.6)],
];
const INTERVAL_S: u32 = 180;
const KNOT_MPS: f64 = 0.514_444;
/// Distance from a waypoint, in metres, at which the vessel turns to the next one.
const ROUNDED_M: f64 = 800.0;

#[derive(Clone, Debug)]
pub(super) struct Vessel {
    random: Random,
    time_ms: i64,
    lane: &'static [GeoPoint],
    /// The waypoint steered for.
    next: usize,
    is_outbound: bool,
    position: GeoPoint,
    course: f64,
    speed_mps: f64,
    cruise_mps: f64,
    /// Fixes left at anchor.
    anchored: u32,
}

impl Vessel {
    pub(super) fn new(mut random: Random, start_ms: i64) -> Self {
        let lane = *random.pick(&LANES);
        let legs = u32::try_from(lane.len() - 1).unwrap_or(1);
        let next = random.whole(1, legs) as usize;
        let (course, metres) = lane[next - 1].towards(lane[next]);
        let along = random.between(0.0, 1.0);
        let cruise_mps = random.between(8.0, 19.0) * KNOT_MPS;
        let mut vessel = Self {
            time_ms: start_ms + i64::from(random.whole(0, 179_999)),
            lane,
            next,
            is_outbound: true,
            position: lane[next - 1],
            course,
            speed_mps: cruise_mps,
            cruise_mps,
            anchored: 0,
            random,
        };
        // In small steps, since one long straight step would leave the lane.
        for _ in 0..64 {
            let (course, _) = vessel.position.towards(lane[next]);
            vessel.position = vessel.position.step(course, along * metres / 64.0);
        }
        vessel
    }

    pub(super) fn next_fix(&mut self) -> Fix {
        let fix = self.fix();
        self.sail();
        self.time_ms += i64::from(INTERVAL_S) * 1000;
        fix
    }

    fn fix(&mut self) -> Fix {
        let swell = self.random.around_zero(1.0);
        let motion = Motion {
            position: self.position,
            altitude_m: 18.0 + swell,
            speed_mps: self.speed_mps,
            course: self.course,
        };
        let accuracy = self.random.between(2.0, 8.0);
        let satellites = self.random.whole(9, 16);
        Fix::of(self.time_ms, motion, accuracy, satellites)
    }

    fn sail(&mut self) {
        if self.anchored > 0 {
            self.anchored -= 1;
            self.speed_mps = self.random.between(0.0, 0.15);
            self.course = turn(self.course, self.random.around_zero(8.0));
            return;
        }
        if self.random.chance(0.0005) {
            self.anchored = self.random.whole(20, 200);
        }
        let (bearing, metres) = self.position.towards(self.lane[self.next]);
        if metres < ROUNDED_M.max(self.speed_mps * f64::from(INTERVAL_S)) {
            self.choose_waypoint();
        }
        let helm = turn_to(self.course, bearing).clamp(-25.0, 25.0) + self.random.around_zero(0.8);
        self.course = turn(self.course, helm);
        let wanted = self.cruise_mps * (1.0 + self.random.around_zero(0.04));
        self.speed_mps += (wanted - self.speed_mps) * 0.2;
        self.position = self.position.step(self.course, self.speed_mps * f64::from(INTERVAL_S));
    }

    fn choose_waypoint(&mut self) {
        let last = self.lane.len() - 1;
        self.is_outbound = match self.next {
            0 => true,
            next if next == last => false,
            _ => self.is_outbound,
        };
        self.next = if self.is_outbound { self.next + 1 } else { self.next - 1 };
    }
}
