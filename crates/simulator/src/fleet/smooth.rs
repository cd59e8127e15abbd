//! Interpolates a track, so that a device moves smoothly on a map.

use super::device::Track;
use super::fix::Fix;

/// 360 degrees of longitude, in ten-millionths of a degree.
const FULL_CIRCLE_E7: i64 = 3_600_000_000;
/// 360 degrees of course, in tenths of a degree.
const FULL_CIRCLE_DDEG: i64 = 3_600;

/// Fixes at a constant interval from an instant on, interpolated linearly between the fixes of a track.
#[derive(Clone, Debug)]
pub struct SmoothTrack {
    track: Track,
    /// The fixes of the track before and after `at_ms`.
    from: Fix,
    to: Fix,
    /// Time of the fix that was returned last.
    at_ms: i64,
    step_ms: i64,
}

impl SmoothTrack {
    /// The track after this instant, with a fix every `step_ms`. `None` if the track ends before it; tracks of
    /// simulated devices never end.
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

    /// The fix at this instant. Values that are not interpolated, such as the ignition, are those of the fix before.
    fn interpolate(&self, at_ms: i64) -> Fix {
        let elapsed_ms = at_ms - self.from.time_ms;
        let total_ms = (self.to.time_ms - self.from.time_ms).max(1);
        let linear = |from: i32, to: i32| {
            let change = (i64::from(to) - i64::from(from)) * elapsed_ms / total_ms;
            from.saturating_add(i32::try_from(change).unwrap_or(0))
        };
        let longitude = i64::from(self.from.longitude_e7)
            + short_way(self.from.longitude_e7, self.to.longitude_e7, FULL_CIRCLE_E7) * elapsed_ms / total_ms;
        let course = i64::from(self.from.course_ddeg)
            + short_way(self.from.course_ddeg, self.to.course_ddeg, FULL_CIRCLE_DDEG) * elapsed_ms / total_ms;
        // Back into -180 to 180 degrees, if the way crossed the antimeridian.
        let longitude = (longitude + FULL_CIRCLE_E7 / 2).rem_euclid(FULL_CIRCLE_E7) - FULL_CIRCLE_E7 / 2;
        Fix {
            time_ms: at_ms,
            latitude_e7: linear(self.from.latitude_e7, self.to.latitude_e7),
            longitude_e7: i32::try_from(longitude).unwrap_or(self.from.longitude_e7),
            altitude_dm: linear(self.from.altitude_dm, self.to.altitude_dm),
            speed_dkmh: linear(self.from.speed_dkmh, self.to.speed_dkmh),
            course_ddeg: i32::try_from(course.rem_euclid(FULL_CIRCLE_DDEG)).unwrap_or(self.from.course_ddeg),
            ..self.from
        }
    }
}

/// The signed difference between two values on a circle of `full_circle` units, the shorter way round.
fn short_way(from: i32, to: i32, full_circle: i64) -> i64 {
    (i64::from(to) - i64::from(from) + full_circle / 2).rem_euclid(full_circle) - full_circle / 2
}

impl Iterator for SmoothTrack {
    type Item = Fix;

    fn next(&mut self) -> Option<Fix> {
        self.at_ms += self.step_ms;
        while self.at_ms >= self.to.time_ms {
            self.from = std::mem::replace(&mut self.to, self.track.next()?);
        }
        Some(self.interpolate(self.at_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::SimulatedDevice;

    const START: i64 = 1_700_000_000_000;

    #[test]
    fn fixes_have_a_constant_interval_and_no_jumps() {
        for index in 0..20 {
            let mut smooth =
                SmoothTrack::new(SimulatedDevice::new(7, index).track(START), START + 3_600_000, 5_000)
                    .unwrap();
            let mut before = smooth.next().unwrap();
            assert_eq!(before.time_ms, START + 3_605_000);
            for fix in smooth.take(2_000) {
                assert_eq!(fix.time_ms - before.time_ms, 5_000);
                let north = (i64::from(fix.latitude_e7) - i64::from(before.latitude_e7)).abs();
                // No device is faster than 80 m/s: 400 m in five seconds, which are about 0.0036 degrees of latitude.
                assert!(north < 40_000, "device {index} jumped by {north}");
                assert!((0..3_600).contains(&fix.course_ddeg));
                before = fix;
            }
        }
    }

    #[test]
    fn the_short_way_crosses_the_antimeridian_and_north() {
        assert_eq!(short_way(1_799_999_000, -1_799_999_000, FULL_CIRCLE_E7), 2_000);
        assert_eq!(short_way(-1_799_999_000, 1_799_999_000, FULL_CIRCLE_E7), -2_000);
        assert_eq!(short_way(3_590, 10, FULL_CIRCLE_DDEG), 20);
        assert_eq!(short_way(10, 3_590, FULL_CIRCLE_DDEG), -20);
    }
}
