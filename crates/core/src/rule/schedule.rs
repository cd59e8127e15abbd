//! When a rule holds: weekdays and hours of a zone.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::zone::Zone;

/// Days of the week, Monday first.
pub type Weekdays = [bool; 7];

const DAY_MINUTES: u16 = 24 * 60;

/// Weekdays and a span of hours. A span that ends before it begins goes on past midnight and belongs to the day it
/// began on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The days.
    pub days: Weekdays,
    /// The minute of the day it begins.
    pub from_minute: u16,
    /// The minute of the day before which it ends; 1440 is the end of the day.
    pub to_minute: u16,
    /// Whose clock.
    pub zone: Zone,
}

impl Schedule {
    /// Whether an instant lies in it.
    pub fn contains(&self, at: Timestamp) -> bool {
        let local = self.zone.as_jiff().to_datetime(at.to_jiff());
        let minute = u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs());
        let today = usize::from(local.weekday().to_monday_zero_offset().unsigned_abs());
        let has = |day: usize| self.days.get(day % 7).copied().unwrap_or(false);
        if self.from_minute < self.to_minute.min(DAY_MINUTES) {
            return has(today) && (self.from_minute..self.to_minute).contains(&minute);
        }
        (has(today) && minute >= self.from_minute) || (has(today + 6) && minute < self.to_minute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_belong_to_the_day_they_begin_on() {
        let check = |days: &[usize], from: u16, to: u16, at: &str, expect: bool| {
            let mut weekdays = [false; 7];
            days.iter().for_each(|day| weekdays[*day] = true);
            let schedule = Schedule {
                days: weekdays,
                from_minute: from,
                to_minute: to,
                zone: "Europe/Madrid".parse().unwrap(),
            };
            assert_eq!(schedule.contains(at.parse().unwrap()), expect, "{days:?} {from}-{to} at {at}");
        };
        // The first of May 2026 is a Friday; Madrid is two hours ahead.
        check(&[4], 480, 1_020, "2026-05-01T06:00:00Z", true);
        check(&[4], 480, 1_020, "2026-05-01T05:59:59Z", false);
        check(&[4], 480, 1_020, "2026-05-01T15:00:00Z", false);
        check(&[3], 480, 1_020, "2026-05-01T06:00:00Z", false);
        check(&[4], 0, 1_440, "2026-04-30T22:00:00Z", true);
        check(&[4], 0, 1_440, "2026-05-01T22:00:00Z", false);
        check(&[4], 1_320, 360, "2026-05-01T20:00:00Z", true);
        check(&[4], 1_320, 360, "2026-05-02T03:59:00Z", true);
        check(&[4], 1_320, 360, "2026-05-02T04:00:00Z", false);
        check(&[4], 1_320, 360, "2026-05-01T03:00:00Z", false);
        // The clock goes from two to three on the 29th of March.
        check(&[6], 120, 180, "2026-03-29T01:00:00Z", false);
    }
}
