//! Interpolates a track, so that a map shows the device moving.

use super::device::Track;
use super::fix::Fix;

/// A full turn of longitude, in ten-millionths of a degree.
const ROUND_E7: i64 = 3_600_000_000;
/// A full turn of a course, in tenths of a degree.
const ROUND_DDEG: i64 = 3_600;

/// Fixes at a steady interval from an instant on, interpolated linearly between the fixes of a track.
#[derive(Clone, Debug)]
pub struct Smooth {
    track: Track,
    from: Fix,
    to: Fix,
    at_ms: i64,
    step_ms: i64,
}

impl Smooth {
    /// The track from this instant on, with a fix every `step_ms`. `None` if the track has no later fix, which does
    /// not happen in this fleet.
    pub fn new(mut track: Track, at_ms: i64, step_ms: i64) -> Option<Self> {
        let mut from = track.next()?;
        loop {
            let to = track.next()?;
            if to.time_ms > at_ms {
                let at_ms = at_ms.max(from.time_ms);
                return Some(Self { track, from, to, at_ms, step_ms: step_ms.max(1) });
            }
            from = to;
        }
    }

    /// The interpolated fix at this instant.
    fn between(&self, at_ms: i64) -> Fix {
        let (done, all) = (at_ms - self.from.time_ms, (self.to.time_ms - self.from.time_ms).max(1));
        let part = |from: i32, by: i64| from.saturating_add(i32::try_from(by * done / all).unwrap_or(0));
        let straight = |from: i32, to: i32| part(from, i64::from(to) - i64::from(from));
        let longitude = i64::from(part(self.from.longitude_e7, 0))
            + short_way(self.from.longitude_e7, self.to.longitude_e7, ROUND_E7) * done / all;
        let course = i64::from(self.from.course_ddeg)
            + short_way(self.from.course_ddeg, self.to.course_ddeg, ROUND_DDEG) * done / all;
        let longitude = (longitude + ROUND_E7 / 2).rem_euclid(ROUND_E7) - ROUND_E7 / 2;
        Fix {
            time_ms: at_ms,
            latitude_e7: straight(self.from.latitude_e7, self.to.latitude_e7),
            longitude_e7: i32::try_from(longitude).unwrap_or(self.from.longitude_e7),
            altitude_dm: straight(self.from.altitude_dm, self.to.altitude_dm),
            speed_dkmh: straight(self.from.speed_dkmh, self.to.speed_dkmh),
            course_ddeg: i32::try_from(course.rem_euclid(ROUND_DDEG)).unwrap_or(self.from.course_ddeg),
            ..self.from
        }
    }
}

/// The shorter signed difference between two values on a circle of `round` units.
fn short_way(from: i32, to: i32, round: i64) -> i64 {
    (i64::from(to) - i64::from(from) + round / 2).rem_euclid(round) - round / 2
}

impl Iterator for Smooth {
    type Item = Fix;

    fn next(&mut self) -> Option<Fix> {
        self.at_ms += self.step_ms;
        while self.at_ms >= self.to.time_ms {
            self.from = std::mem::replace(&mut self.to, self.track.next()?);
        }
        Some(self.between(self.at_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::SimulatedDevice;

    const START: i64 = 1_700_000_000_000;

    #[test]
    fn it_moves_at_a_steady_pace_without_leaps() {
        for index in 0..20 {
            let mut smooth =
                Smooth::new(SimulatedDevice::new(7, index).track(START), START + 3_600_000, 5_000).unwrap();
            let mut before = smooth.next().unwrap();
            assert_eq!(before.time_ms, START + 3_605_000);
            for fix in smooth.take(2_000) {
                assert_eq!(fix.time_ms - before.time_ms, 5_000);
                let north = (i64::from(fix.latitude_e7) - i64::from(before.latitude_e7)).abs();
                // Faster than 80 m/s is nobody here: 400 m are about 0.0036 degrees.
                assert!(north < 40_000, "device {index} leapt by {north}");
                assert!((0..3_600).contains(&fix.course_ddeg));
                before = fix;
            }
        }
    }

    #[test]
    fn the_short_way_crosses_the_seam() {
        assert_eq!(short_way(1_799_999_000, -1_799_999_000, ROUND_E7), 2_000);
        assert_eq!(short_way(-1_799_999_000, 1_799_999_000, ROUND_E7), -2_000);
        assert_eq!(short_way(3_590, 10, ROUND_DDEG), 20);
        assert_eq!(short_way(10, 3_590, ROUND_DDEG), -20);
    }
}
