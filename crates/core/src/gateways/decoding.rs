//! Settings of a device that change how its messages are read and its commands are written, and the detection of
//! trackers that send local time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::time::Timestamp;

/// The settings by their names, which the gateways list.
pub type Decoding = BTreeMap<String, DecodingValue>;

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DecodingValue {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A text, such as a password.
    Text(String),
    /// A JSON object, such as a template.
    Object(Map<String, Json>),
}

/// Compares the times of a device's fixes with the times of their arrival. If a tracker sends local time as UTC, all
/// its fixes are wrong by the same multiple of half an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneWatch {
    /// The zone in which the times of the fixes were read, in minutes ahead of UTC.
    zone_minutes: i64,
    /// Milliseconds by which the first fix was ahead of its arrival.
    ahead_ms: i64,
    /// Time of the last fix that counted.
    fix: Timestamp,
    /// Arrival of that fix.
    arrival: Timestamp,
    count: u8,
}

impl ZoneWatch {
    /// Number of fixes that have to agree.
    const AGREEING: u8 = 5;
    /// Fixes that arrive in quick succession count once: a tracker that empties its memory shows nothing about its
    /// current clock.
    const APART_MS: i64 = 10_000;
    /// How much agreeing fixes may differ in `ahead_ms`.
    const SPREAD_MS: i64 = 90_000;
    /// How far from a multiple of half an hour a fix may be, because messages take time to arrive.
    const DELAY_MS: i64 = 4 * 60 * 1000;
    const HALF_HOUR_MS: i64 = 30 * 60 * 1000;
    /// The farthest zone there is, in minutes.
    pub const ZONE_MAX_MINUTES: i64 = 14 * 60;

    /// The state after one fix.
    pub fn new(fix: Timestamp, arrival: Timestamp, zone_minutes: i64) -> Self {
        let ahead_ms = fix.as_millis().saturating_sub(arrival.as_millis());
        Self { zone_minutes, ahead_ms, fix, arrival, count: 1 }
    }

    /// Counts a later fix. A fix that does not agree with the earlier ones starts the count again.
    pub fn note(&mut self, fix: Timestamp, arrival: Timestamp, zone_minutes: i64) {
        let later = Self::new(fix, arrival, zone_minutes);
        let agrees =
            zone_minutes == self.zone_minutes && (later.ahead_ms - self.ahead_ms).abs() <= Self::SPREAD_MS;
        if !agrees {
            *self = later;
        } else if arrival.as_millis() - self.arrival.as_millis() >= Self::APART_MS && fix > self.fix {
            (self.fix, self.arrival) = (fix, arrival);
            self.count = self.count.saturating_add(1);
        }
    }

    /// The zone in which the fixes would have been current, in minutes ahead of UTC; `None` while they do not agree.
    pub fn zone_minutes(&self) -> Option<i64> {
        if self.count < Self::AGREEING {
            return None;
        }
        let half_hours = (self.ahead_ms + Self::HALF_HOUR_MS / 2).div_euclid(Self::HALF_HOUR_MS);
        let rest = self.ahead_ms - half_hours * Self::HALF_HOUR_MS;
        let zone = self.zone_minutes + half_hours * 30;
        (rest.abs() <= Self::DELAY_MS && zone.abs() <= Self::ZONE_MAX_MINUTES).then_some(zone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixes every 30 s, each this many seconds ahead of its arrival.
    fn watch(ahead_s: &[i64], zone: i64) -> Option<i64> {
        let begin = Timestamp::from_millis(1_800_000_000_000);
        let mut watch: Option<ZoneWatch> = None;
        for (ahead, number) in ahead_s.iter().zip(0..) {
            let arrival = begin.plus_seconds(30 * number);
            let fix = arrival.plus_seconds(*ahead);
            match &mut watch {
                Some(watch) => watch.note(fix, arrival, zone),
                None => watch = Some(ZoneWatch::new(fix, arrival, zone)),
            }
        }
        watch.unwrap().zone_minutes()
    }

    #[test]
    fn fixes_that_are_off_by_the_same_half_hours_propose_a_zone() {
        let hours = |hours: i64| hours * 3600;
        assert_eq!(watch(&[hours(8) - 3; 5], 0), Some(480));
        assert_eq!(watch(&[hours(8) - 3; 4], 0), None, "too few");
        assert_eq!(watch(&[-5, -3, -25, -2, -9], 0), Some(0), "right as they are");
        assert_eq!(watch(&[hours(-8) - 3; 5], 480), Some(0), "UTC by a protocol of Beijing");
        assert_eq!(watch(&[19_800 - 20; 6], 0), Some(330), "half hours");
        assert_eq!(watch(&[hours(3) + 900; 6], 0), None, "a quarter of an hour is no zone");
        assert_eq!(watch(&[hours(15); 6], 0), None, "there is no such zone");
        assert_eq!(watch(&[-7200, -7080, -6960, -6840, -6720, -6600], 0), None, "a memory that is emptied");
        assert_eq!(watch(&[0, 0, 0, 0, 0, 7200, 7200], 0), None, "begins again");
    }

    #[test]
    fn many_fixes_at_once_count_as_one() {
        let begin = Timestamp::from_millis(1_800_000_000_000);
        let mut watch = ZoneWatch::new(begin.plus_seconds(3600), begin, 0);
        for number in 1..9 {
            watch.note(begin.plus_seconds(3600 + number), begin.plus_seconds(number), 0);
        }
        assert_eq!(watch.zone_minutes(), None);
        // A fix that is sent again is not a later one.
        for number in 1..9 {
            watch.note(begin.plus_seconds(3600), begin.plus_seconds(10 * number), 0);
        }
        assert_eq!(watch.zone_minutes(), None);
    }
}
