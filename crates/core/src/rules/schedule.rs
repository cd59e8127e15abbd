//! Weekly schedules: hours on days of the week, in a time zone.

use std::fmt;
use std::str::FromStr;

use jiff::civil;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::zone::Zone;

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names of the days say it")]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Weekday {
    /// Every day, Monday first.
    pub const ALL: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monday => "monday",
            Self::Tuesday => "tuesday",
            Self::Wednesday => "wednesday",
            Self::Thursday => "thursday",
            Self::Friday => "friday",
            Self::Saturday => "saturday",
            Self::Sunday => "sunday",
        }
    }

    pub(crate) fn of(date: civil::Date) -> Self {
        let index = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or(0);
        Self::ALL.get(index).copied().unwrap_or(Self::Monday)
    }
}

/// The error for a text that is not a day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a day of the week such as monday")]
pub struct ParseWeekdayError;

impl FromStr for Weekday {
    type Err = ParseWeekdayError;

    fn from_str(text: &str) -> Result<Self, ParseWeekdayError> {
        Self::ALL.into_iter().find(|day| day.name() == text).ok_or(ParseWeekdayError)
    }
}

/// A time of day in whole minutes, written `HH:MM`, from 00:00 up to 24:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay(u16);

/// The error for a text that is not a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time of day such as 08:30, up to 24:00")]
pub struct ParseTimeOfDayError;

impl TimeOfDay {
    /// The first minute of a day.
    pub const MIDNIGHT: Self = Self(0);
    /// The end of a day.
    pub const END: Self = Self(24 * 60);

    /// Minutes since midnight.
    pub const fn minutes(self) -> u16 {
        self.0
    }
}

impl FromStr for TimeOfDay {
    type Err = ParseTimeOfDayError;

    fn from_str(text: &str) -> Result<Self, ParseTimeOfDayError> {
        let &[h1, h2, b':', m1, m2] = text.as_bytes() else { return Err(ParseTimeOfDayError) };
        let digit =
            |byte: u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0')).ok_or(ParseTimeOfDayError);
        let (hours, minutes) = (digit(h1)? * 10 + digit(h2)?, digit(m1)? * 10 + digit(m2)?);
        let all = hours * 60 + minutes;
        if minutes < 60 && all <= Self::END.0 { Ok(Self(all)) } else { Err(ParseTimeOfDayError) }
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = ParseTimeOfDayError;

    fn try_from(text: String) -> Result<Self, ParseTimeOfDayError> {
        text.parse()
    }
}

impl From<TimeOfDay> for String {
    fn from(time: TimeOfDay) -> Self {
        time.to_string()
    }
}

/// Hours on days of the week. If `to` is not after `from`, the hours run into the next day and belong to the day on
/// which they begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The days on which the hours begin, ascending, each once.
    pub weekdays: Vec<Weekday>,
    /// The first minute of the hours.
    pub from: TimeOfDay,
    /// The first minute after the hours.
    pub to: TimeOfDay,
    /// Time zone of the hours; `None` uses the zone that the caller passes, for example the recipient's.
    pub time_zone: Option<Zone>,
}

impl Schedule {
    /// Whether the schedule contains this instant. `zone` is used if the schedule has no time zone of its own.
    pub fn contains(&self, instant: Timestamp, zone: &Zone) -> bool {
        let zone = self.time_zone.as_ref().unwrap_or(zone);
        let clock = zone.as_jiff().to_datetime(instant.to_jiff());
        let hour = u16::try_from(clock.hour()).unwrap_or(0);
        let minute = TimeOfDay(hour * 60 + u16::try_from(clock.minute()).unwrap_or(0));
        let today = self.weekdays.contains(&Weekday::of(clock.date()));
        if self.from < self.to {
            return today && self.from <= minute && minute < self.to;
        }
        let yesterday = clock.date().yesterday().map(Weekday::of);
        let began_yesterday = yesterday.is_ok_and(|day| self.weekdays.contains(&day));
        (today && minute >= self.from) || (began_yesterday && minute < self.to)
    }

    /// The first instant from `from` to `until`, without the latter, that the schedule does not contain.
    pub fn first_outside(&self, from: Timestamp, until: Timestamp, zone: &Zone) -> Option<Timestamp> {
        let mut at = from;
        while at < until && self.contains(at, zone) {
            // Hours last a day at most, so their end is today, tomorrow or the day after.
            let own = self.time_zone.as_ref().unwrap_or(zone).as_jiff();
            let today = own.to_datetime(at.to_jiff()).date();
            at = (0..=2_i64).find_map(|days| {
                let midnight = today.checked_add(jiff::Span::new().days(days)).ok()?.at(0, 0, 0, 0);
                let end = midnight.checked_add(jiff::Span::new().minutes(i64::from(self.to.0))).ok()?;
                let end = Timestamp::from_jiff(own.to_timestamp(end).ok()?);
                (end > at).then_some(end)
            })?;
        }
        (at < until).then_some(at)
    }

    /// The first instant from this one on that the schedule contains; `None` if it has no days.
    pub fn next(&self, instant: Timestamp, zone: &Zone) -> Option<Timestamp> {
        if self.contains(instant, zone) {
            return Some(instant);
        }
        let own = self.time_zone.as_ref().unwrap_or(zone).as_jiff();
        let today = own.to_datetime(instant.to_jiff()).date();
        // Eight days: today's hours may be over, so that the same weekday of next week is the next one.
        (0..=8_i64).find_map(|days| {
            let midnight = today.checked_add(jiff::Span::new().days(days)).ok()?.at(0, 0, 0, 0);
            let begin = midnight.checked_add(jiff::Span::new().minutes(i64::from(self.from.0))).ok()?;
            let begin = Timestamp::from_jiff(own.to_timestamp(begin).ok()?);
            (begin >= instant && self.contains(begin, zone)).then_some(begin)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(days: &[Weekday], from: &str, to: &str, at: &str, expect: bool) {
        let schedule = Schedule {
            weekdays: days.to_vec(),
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
            time_zone: None,
        };
        let zone: Zone = "Europe/Madrid".parse().unwrap();
        assert_eq!(schedule.contains(at.parse().unwrap(), &zone), expect, "{days:?} {from} {to} {at}");
    }

    #[test]
    fn hours_are_of_the_day_they_begin_on() {
        use Weekday::{Friday, Monday, Saturday};
        // 2026-05-01 is a Friday; Madrid is two hours ahead of UTC in May.
        check(&[Friday], "08:00", "18:00", "2026-05-01T06:00:00Z", true);
        check(&[Friday], "08:00", "18:00", "2026-05-01T05:59:59Z", false);
        check(&[Friday], "08:00", "18:00", "2026-05-01T16:00:00Z", false);
        check(&[Saturday], "08:00", "18:00", "2026-05-01T10:00:00Z", false);
        check(&[Friday], "22:00", "06:00", "2026-05-02T03:00:00Z", true);
        check(&[Friday], "22:00", "06:00", "2026-05-01T03:00:00Z", false);
        check(&[Saturday], "22:00", "06:00", "2026-05-02T03:00:00Z", false);
        check(&[Friday], "00:00", "24:00", "2026-05-01T21:59:59Z", true);
        check(&[Friday], "00:00", "00:00", "2026-05-01T21:59:59Z", true);
        check(&[Monday], "00:00", "24:00", "2026-05-01T12:00:00Z", false);
    }

    #[test]
    fn the_next_hours_are_found() {
        use Weekday::{Friday, Monday, Sunday};
        let check = |days: &[Weekday], from: &str, to: &str, at: &str, expect: Option<&str>| {
            let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
            let schedule = Schedule { weekdays: days.to_vec(), from, to, time_zone: None };
            let zone: Zone = "Europe/Madrid".parse().unwrap();
            let next = schedule.next(at.parse().unwrap(), &zone);
            assert_eq!(next, expect.map(|text| text.parse().unwrap()), "{schedule:?} {at}");
        };
        // 2026-05-01 is a Friday; Madrid is two hours ahead of UTC in May.
        check(&[Friday], "08:00", "18:00", "2026-05-01T07:30:00Z", Some("2026-05-01T07:30:00Z"));
        check(&[Friday], "08:00", "18:00", "2026-05-01T05:59:59Z", Some("2026-05-01T06:00:00Z"));
        check(&[Friday], "08:00", "18:00", "2026-05-01T16:00:00Z", Some("2026-05-08T06:00:00Z"));
        check(&[Friday, Monday], "08:00", "18:00", "2026-05-01T16:00:00Z", Some("2026-05-04T06:00:00Z"));
        check(&[Friday], "22:00", "06:00", "2026-05-02T04:00:00Z", Some("2026-05-08T20:00:00Z"));
        check(&[Friday], "24:00", "06:00", "2026-05-01T12:00:00Z", Some("2026-05-01T22:00:00Z"));
        check(&[], "08:00", "18:00", "2026-05-01T12:00:00Z", None);
        // The clock goes from 02:00 to 03:00 on 2026-03-29, a Sunday.
        check(&[Sunday], "02:00", "18:00", "2026-03-29T00:30:00Z", Some("2026-03-29T01:00:00Z"));
    }

    #[test]
    fn the_end_of_hours_is_found() {
        use Weekday::{Friday, Saturday};
        let check = |days: &[Weekday], from: &str, to: &str, at: &str, expect: Option<&str>| {
            let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
            let schedule = Schedule { weekdays: days.to_vec(), from, to, time_zone: None };
            let zone: Zone = "Europe/Madrid".parse().unwrap();
            let at: Timestamp = at.parse().unwrap();
            let found = schedule.first_outside(at, at.plus_seconds(36 * 3_600), &zone);
            assert_eq!(found, expect.map(|text| text.parse().unwrap()), "{schedule:?} {at}");
        };
        // 2026-05-01 is a Friday; Madrid is two hours ahead of UTC in May.
        check(&[Friday], "08:00", "18:00", "2026-05-01T05:00:00Z", Some("2026-05-01T05:00:00Z"));
        check(&[Friday], "08:00", "18:00", "2026-05-01T06:00:00Z", Some("2026-05-01T16:00:00Z"));
        check(&[Friday], "22:00", "06:00", "2026-05-01T21:00:00Z", Some("2026-05-02T04:00:00Z"));
        check(&[Friday], "22:00", "06:00", "2026-05-02T03:00:00Z", Some("2026-05-02T04:00:00Z"));
        check(&[Friday, Saturday], "00:00", "24:00", "2026-05-01T03:00:00Z", None);
        check(&[Friday], "00:00", "24:00", "2026-05-01T03:00:00Z", Some("2026-05-01T22:00:00Z"));
    }

    #[test]
    fn times_are_written_in_one_way() {
        for text in ["00:00", "08:30", "24:00"] {
            assert_eq!(text.parse::<TimeOfDay>().unwrap().to_string(), text);
        }
        for text in ["", "8:30", "24:01", "12:60", "ab:cd", "12:3é"] {
            assert_eq!(text.parse::<TimeOfDay>(), Err(ParseTimeOfDayError), "{text}");
        }
    }
}
