//! Instants in whole milliseconds, and their text form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use crate::clock::{Clock, MockClock, Monotonic, SystemClock};

/// An instant in UTC, exact to the millisecond, between the years 1 and 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// The error for a text that is not an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a date and time such as 2026-05-01T12:00:00Z")]
pub struct ParseTimestampError;

impl Timestamp {
    /// 0001-01-01T00:00:00Z, the earliest instant that can be written.
    pub const MIN: Self = Self(-62_135_596_800_000);
    /// 9999-12-30T22:00:00Z, the last whole second whose local date is in the year 9999 with any offset.
    pub const MAX: Self = Self(253_402_207_200_000);

    /// The instant this many milliseconds after 1970, clamped to [`Self::MIN`] and [`Self::MAX`].
    pub const fn from_millis(millis: i64) -> Self {
        if millis < Self::MIN.0 {
            Self::MIN
        } else if millis > Self::MAX.0 {
            Self::MAX
        } else {
            Self(millis)
        }
    }

    /// Milliseconds since 1970-01-01T00:00:00Z, negative before it.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970, rounded down.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The instant this many milliseconds later, or earlier when negative.
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// The instant this many seconds later, or earlier when negative.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        self.plus_millis(seconds.saturating_mul(1000))
    }

    /// The same instant for calendar arithmetic.
    pub fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }

    /// The instant, rounded down to the millisecond.
    pub fn from_jiff(instant: jiff::Timestamp) -> Self {
        let nanos = instant.as_nanosecond().div_euclid(1_000_000);
        Self::from_millis(i64::try_from(nanos).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC, with milliseconds only when there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let civil = jiff::tz::Offset::UTC.to_datetime(self.to_jiff());
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            civil.year(),
            civil.month(),
            civil.day(),
            civil.hour(),
            civil.minute(),
            civil.second()
        )?;
        match civil.millisecond() {
            0 => f.write_str("Z"),
            millis => write!(f, ".{millis:03}Z"),
        }
    }
}

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    /// Reads RFC 3339 with any offset; fractions below a millisecond are cut off.
    fn from_str(text: &str) -> Result<Self, ParseTimestampError> {
        let shape = text.as_bytes();
        // RFC 3339 alone: jiff would also read week dates, zone annotations and missing parts.
        let plain = shape.len() >= 20
            && shape.get(4) == Some(&b'-')
            && shape.get(7) == Some(&b'-')
            && matches!(shape.get(10), Some(b'T' | b't' | b' '))
            && shape.get(13) == Some(&b':')
            && shape.get(16) == Some(&b':')
            && !text.contains('[');
        if !plain {
            return Err(ParseTimestampError);
        }
        let instant: jiff::Timestamp = text.parse().map_err(|_detail| ParseTimestampError)?;
        let seconds = Self::MIN.as_seconds()..=Self::MAX.as_seconds();
        if seconds.contains(&instant.as_second()) {
            Ok(Self::from_jiff(instant))
        } else {
            Err(ParseTimestampError)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: Option<&str>) {
        let read = input.parse::<Timestamp>().ok().map(|instant| instant.to_string());
        assert_eq!(read.as_deref(), expect, "{input}");
    }

    #[test]
    fn reads_and_writes_rfc_3339() {
        check("2026-05-01T12:00:00Z", Some("2026-05-01T12:00:00Z"));
        check("2026-05-01T12:00:00.5+02:00", Some("2026-05-01T10:00:00.500Z"));
        check("2026-05-01t12:00:00.0009z", Some("2026-05-01T12:00:00Z"));
        check("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00Z"));
        check("9999-12-30T22:00:00Z", Some("9999-12-30T22:00:00Z"));
        check("1969-12-31T23:59:59.999Z", Some("1969-12-31T23:59:59.999Z"));
    }

    #[test]
    fn refuses_what_is_not_an_instant() {
        for input in [
            "",
            "now",
            "2026-05-01",
            "2026-05-01T12:00:00",
            "2026-13-01T00:00:00Z",
            "2026-05-01T12:00Z",
            "2026-05-01T12:00:00Z[UTC]",
            "0000-01-01T00:00:00Z",
            "+002026-05-01T12:00:00Z",
        ] {
            check(input, None);
        }
    }
}
