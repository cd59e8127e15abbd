//! Simulated tracks: vehicles and people that turn, hurry, rest and are seen through a noisy receiver.

use perigee_core::locations::location::{
    Fix, Latitude, Location, Longitude, Milli, Readings, StoredLocation, judge,
};
use perigee_core::time::Timestamp;

use crate::Fleet;

const START: Timestamp = Timestamp::from_millis(1_780_000_000_000);
const METRES_PER_DEGREE: f64 = 111_320.0;

/// How locations reach the store.
#[derive(Clone, Copy)]
pub(crate) enum Arrival {
    /// One by one, soon after the fix, among those of a thousand other devices.
    Live,
    /// All at once, long after.
    Import,
}

/// How a kind of vehicle or person moves.
struct Habit {
    name: &'static str,
    interval_ms: i64,
    /// Whole seconds the interval varies by.
    jitter_s: u64,
    top_kmh: f64,
    noise_m: f64,
    rich: bool,
}

const HABITS: [Habit; 4] = [
    Habit {
        name: "vehicle each 10 s",
        interval_ms: 10_000,
        jitter_s: 0,
        top_kmh: 90.0,
        noise_m: 2.0,
        rich: false,
    },
    Habit {
        name: "vehicle each second, all readings",
        interval_ms: 1_000,
        jitter_s: 0,
        top_kmh: 90.0,
        noise_m: 0.3,
        rich: true,
    },
    Habit {
        name: "vessel each 30 s or so",
        interval_ms: 30_000,
        jitter_s: 3,
        top_kmh: 35.0,
        noise_m: 3.0,
        rich: false,
    },
    Habit {
        name: "hiker each hour",
        interval_ms: 3_600_000,
        jitter_s: 60,
        top_kmh: 6.0,
        noise_m: 5.0,
        rich: false,
    },
];

/// A fleet of each kind.
pub(crate) fn all() -> Vec<Fleet> {
    HABITS
        .iter()
        .map(|habit| {
            let tracks = (1..=4).map(|seed| receive(track(habit, seed, 4_096), Arrival::Live)).collect();
            Fleet { name: format!("simulated {}", habit.name), tracks }
        })
        .collect()
}

/// Gives each location its time of receipt and its number in the log.
pub(crate) fn receive(track: Vec<Location>, arrival: Arrival) -> Vec<StoredLocation> {
    let mut random = Random(99);
    let mut number = 1_000_000;
    let imported = track.last().map_or(START, |last| last.time.plus_seconds(86_400));
    let stored = track.into_iter().map(|location| {
        let (received_at, further) = match arrival {
            Arrival::Live => (location.time.plus_millis(150 + random.below(700)), 950 + random.below(100)),
            Arrival::Import => (imported, 1),
        };
        number += further;
        let trust = judge(&Fix::of(&location, number), received_at);
        StoredLocation { location, received_at, trust, number }
    });
    stored.collect()
}

fn track(habit: &Habit, seed: u64, count: usize) -> Vec<Location> {
    let mut random = Random(seed);
    let (mut time, mut north, mut east) = (START, 52.5, 13.4);
    let (mut speed_kmh, mut course, mut resting) = (0.0_f64, 90.0_f64, 0);
    let mut mileage_km = 120_000.0;
    let mut locations = Vec::with_capacity(count);
    for _ in 0..count {
        let interval_ms = habit.interval_ms + random.below(habit.jitter_s + 1) * 1_000;
        let seconds = f64::from(i32::try_from(interval_ms).unwrap_or(i32::MAX)) / 1e3;
        if resting == 0 && random.unit() < 0.004 {
            resting = 1 + random.below(80);
        }
        let aim_kmh = if resting > 0 { 0.0 } else { habit.top_kmh * (0.5 + 0.5 * random.unit()) };
        resting = (resting - 1).max(0);
        let haste = (seconds / 10.0).min(1.0);
        speed_kmh += (aim_kmh - speed_kmh) * haste * 0.7;
        let sharp = if random.unit() < 0.03 * haste { 90.0 } else { 4.0 * haste };
        course = (course + random.normal() * sharp).rem_euclid(360.0);
        let metres = speed_kmh / 3.6 * seconds;
        north += metres * course.to_radians().cos() / METRES_PER_DEGREE;
        east += metres * course.to_radians().sin() / METRES_PER_DEGREE / 0.61;
        mileage_km += metres / 1e3;
        time = time.plus_millis(interval_ms);
        let noise = habit.noise_m / METRES_PER_DEGREE;
        let rich = habit.rich.then(|| Readings {
            altitude: milli(35.0 + random.normal(), 0.1),
            accuracy: milli(3.0 + random.unit() * 2.0, 0.1),
            valid: Some(true),
            satellites: u32::try_from(9 + random.below(5)).ok(),
            hdop: milli(0.7 + random.unit() * 0.3, 0.1),
            battery: milli(98.0, 1.0),
            mileage: milli(mileage_km, 0.1),
            ignition: Some(speed_kmh > 1.0),
            ..Readings::default()
        });
        let readings = Readings {
            speed: milli(speed_kmh + random.normal() * 0.3, 0.1),
            course: milli(course, 1.0),
            ..rich.unwrap_or_default()
        };
        locations.extend(fix(
            time,
            north + random.normal() * noise,
            east + random.normal() * noise,
            readings,
        ));
    }
    locations
}

fn fix(time: Timestamp, north: f64, east: f64, readings: Readings) -> Option<Location> {
    let latitude = Latitude::from_degrees(north).ok()?;
    let longitude = Longitude::from_degrees(east).ok()?;
    Some(Location { time, latitude, longitude, readings })
}

/// A reading as a tracker reports it, in steps of its resolution.
fn milli(number: f64, step: f64) -> Option<Milli> {
    Milli::from_f64((number / step).round().abs() * step).ok()
}

/// A small generator, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> i64 {
        i64::try_from(self.next() % bound).unwrap_or_default()
    }

    fn unit(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap_or_default()) / f64::from(u32::MAX)
    }

    /// Near enough to a normal distribution of deviation one.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}
