//! Calendar dates, and which instants form a date in a time zone.
//!
//! Clocks are moved forward and back, also at midnight, and islands have moved across the date line. One rule stays
//! true through all of it: **a day begins at the first instant from which its date, or a later one, stays on the
//! clock.** So the days of a zone follow each other without gap or overlap, every instant lies in exactly one day,
//! and a date that was skipped is an empty day.

use std::fmt;
use std::str::FromStr;

use jiff::civil;
use jiff::tz::AmbiguousOffset;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::zone::Zone;

/// Why a text is not a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a date such as 2026-05-01")]
pub struct ParseDateError;

/// A date of the calendar, in the years 1 to 9999, written `YYYY-MM-DD`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(civil::Date);

impl Date {
    /// 0001-01-01, the first date of the calendar used.
    pub const MIN: Self = Self(civil::Date::constant(1, 1, 1));
    /// 9999-12-31, the last date that `YYYY-MM-DD` can write.
    pub const MAX: Self = Self(civil::Date::constant(9999, 12, 31));

    /// The date with these numbers, if the calendar has it.
    pub fn new(year: i16, month: i8, day: i8) -> Option<Self> {
        civil::Date::new(year, month, day).ok().filter(|date| (1..=9999).contains(&date.year())).map(Self)
    }

    /// The day after, unless this is [`Self::MAX`].
    pub fn tomorrow(self) -> Option<Self> {
        self.0.tomorrow().ok().map(Self)
    }

    /// The day before, unless this is [`Self::MIN`].
    pub fn yesterday(self) -> Option<Self> {
        self.0.yesterday().ok().map(Self).filter(|date| *date >= Self::MIN)
    }

    /// The same date for calendar arithmetic.
    pub const fn to_jiff(self) -> civil::Date {
        self.0
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Date {
    type Err = ParseDateError;

    fn from_str(text: &str) -> Result<Self, ParseDateError> {
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
            return Err(ParseDateError);
        };
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0_i16, |number, digit| {
                digit.is_ascii_digit().then(|| number * 10 + i16::from(digit - b'0')).ok_or(ParseDateError)
            })
        };
        let small = |number: i16| i8::try_from(number).map_err(|_too_large| ParseDateError);
        let (month, day) = (small(number(&[m1, m2])?)?, small(number(&[d1, d2])?)?);
        Self::new(number(&[y1, y2, y3, y4])?, month, day).ok_or(ParseDateError)
    }
}

impl Serialize for Date {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The instants that form a date in a zone: from `starts` up to, but without, `ends`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// The date on the clock.
    pub date: Date,
    /// The first instant of the day.
    pub starts: Timestamp,
    /// The first instant after it, which is where the next date starts.
    pub ends: Timestamp,
}

impl Day {
    /// Whether the instant lies in this day.
    pub fn contains(&self, instant: Timestamp) -> bool {
        self.starts <= instant && instant < self.ends
    }

    /// Whether the zone skipped this date.
    pub fn is_empty(&self) -> bool {
        self.starts == self.ends
    }
}

/// The day an instant lies in.
pub fn day_of(instant: Timestamp, zone: &Zone) -> Day {
    let clock = zone.as_jiff().to_datetime(instant.to_jiff()).date();
    let mut date = Date(clock).clamp(Date::MIN, Date::MAX);
    // The clock may show tomorrow for a minute and then be set back across midnight: still today.
    while let Some(yesterday) = date.yesterday().filter(|_| instant < start_of(date, zone)) {
        date = yesterday;
    }
    day_on(date, zone)
}

/// The day of a date in a zone; empty if the zone skipped the date.
pub fn day_on(date: Date, zone: &Zone) -> Day {
    Day { date, starts: start_of(date, zone), ends: end_of_date(date, zone) }
}

/// The first instant after a date. What is valid through a date ends here.
pub fn end_of_date(date: Date, zone: &Zone) -> Timestamp {
    date.tomorrow().map_or(Timestamp::MAX, |tomorrow| start_of(tomorrow, zone))
}

fn start_of(date: Date, zone: &Zone) -> Timestamp {
    if date == Date::MIN {
        return Timestamp::MIN;
    }
    let zone = zone.as_jiff();
    let midnight = date.0.to_datetime(civil::Time::midnight());
    // Only a midnight beyond the last instant has no timestamp.
    let at = |offset: jiff::tz::Offset| offset.to_timestamp(midnight).unwrap_or(jiff::Timestamp::MAX);
    let start = match zone.to_ambiguous_timestamp(midnight).offset() {
        AmbiguousOffset::Unambiguous { offset } => at(offset),
        // Midnight was jumped over. The jump itself is the first instant of the date, or of a later one.
        AmbiguousOffset::Gap { before, after } => {
            zone.following(at(after)).next().map_or(at(before), |jump| jump.timestamp())
        }
        // Midnight occurred twice. The second is used, unless the date had not been left in between.
        AmbiguousOffset::Fold { before, after } => {
            let again = at(after);
            let before_it = again.as_nanosecond() - 1;
            let shown = jiff::Timestamp::from_nanosecond(before_it).map(|instant| zone.to_datetime(instant));
            if shown.is_ok_and(|shown| shown < midnight) { again } else { at(before) }
        }
    };
    Timestamp::from_jiff(start)
}

#[cfg(test)]
mod tests;
