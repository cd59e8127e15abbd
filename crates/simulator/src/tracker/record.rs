//! One record of a simulated tracker.

use perigee_core::time::Timestamp;
use perigee_gateways::notation::calendar::Civil;

/// A record of a simulated tracker, which moves around a fixed point. Its position follows from its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Seconds since 1970; no two records of a tracker have the same.
    pub time_s: i64,
}

/// The fixed point, in ten-millionths of a degree.
const LATITUDE_E7: i64 = 422_406_000;
const LONGITUDE_E7: i64 = 87_207_000;
/// Seconds of one round.
const STEPS: i64 = 600;
/// The greatest distance from the fixed point in each direction, in ten-millionths of a degree.
const REACH_E7: i64 = 50_000;

impl Record {
    /// Time at which the record was made.
    pub fn time(self) -> Timestamp {
        Timestamp::from_millis(self.time_s * 1000)
    }

    /// Date and time of day in UTC.
    pub fn civil(self) -> Civil {
        Civil::of(self.time())
    }

    /// The last two digits of the year, then month, day, hour, minute and second.
    pub fn clock(self) -> [u8; 6] {
        let now = self.civil();
        let year = u8::try_from(now.year % 100).unwrap_or(0);
        [year, now.month, now.day, now.hour, now.minute, now.second]
    }

    /// Degrees north times 10,000,000; always north of the equator.
    pub fn latitude_e7(self) -> i32 {
        i32::try_from(LATITUDE_E7 + self.offset(0)).unwrap_or(0)
    }

    /// Degrees east times 10,000,000; always east of Greenwich, as some protocols write no sign.
    pub fn longitude_e7(self) -> i32 {
        i32::try_from(LONGITUDE_E7 + self.offset(STEPS / 4)).unwrap_or(0)
    }

    /// The offset from the fixed point in one direction: a triangle wave.
    fn offset(self, phase: i64) -> i64 {
        let step = (self.time_s + phase).rem_euclid(STEPS);
        let zigzag = if step < STEPS / 2 { step } else { STEPS - step };
        (zigzag * 4 - STEPS) * REACH_E7 / STEPS
    }

    /// Kilometres an hour.
    pub fn speed_kmh(self) -> u8 {
        18
    }

    /// Degrees from north.
    pub fn course(self) -> u16 {
        u16::try_from(self.time_s.rem_euclid(360)).unwrap_or(0)
    }

    /// `ddmm.mmmm` and `dddmm.mmmm` of latitude and longitude.
    pub fn degrees_minutes(self) -> (String, String) {
        let write = |e7: i32, width: usize| {
            let (degrees, rest) = (e7 / 10_000_000, i64::from(e7 % 10_000_000));
            let minutes_e4 = rest * 60 / 1_000;
            format!("{degrees:0width$}{:02}.{:04}", minutes_e4 / 10_000, minutes_e4 % 10_000)
        };
        (write(self.latitude_e7(), 2), write(self.longitude_e7(), 3))
    }

    /// Degrees with six decimals.
    pub fn degrees(self) -> (String, String) {
        let write = |e7: i32| format!("{}.{:06}", e7 / 10_000_000, e7 % 10_000_000 / 10);
        (write(self.latitude_e7()), write(self.longitude_e7()))
    }
}
