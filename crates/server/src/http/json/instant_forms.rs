//! Instants in every accepted form: RFC 3339 with any offset, without an offset (then in the user's time zone),
//! without seconds, a date alone, and the far future that means "never".

use jiff::civil::Time;
use jiff::tz::Offset;
use perigee_core::day::Date;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

/// An instant in a request, or "never".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstantOrNever {
    /// An instant within the range of [`Timestamp`].
    At(Timestamp),
    /// Never: any time after [`Timestamp::MAX`], such as `9999-12-31T23:59:59Z`, which other systems write for it.
    Never,
}

impl InstantOrNever {
    /// The instant; None for "never".
    pub fn instant(self) -> Option<Timestamp> {
        match self {
            Self::At(instant) => Some(instant),
            Self::Never => None,
        }
    }

    /// The instant; [`Timestamp::MAX`] for "never".
    pub fn or_max(self) -> Timestamp {
        self.instant().unwrap_or(Timestamp::MAX)
    }
}

/// Reads an instant; without an offset it is in `zone`.
pub fn read_instant_or_never(text: &str, zone: &Zone) -> Option<InstantOrNever> {
    if let Ok(instant) = text.parse() {
        return Some(InstantOrNever::At(instant));
    }
    let (date, rest) = text.split_at_checked(10)?;
    let date: Date = date.parse().ok()?;
    let (time, offset) = if rest.is_empty() { (Time::midnight(), "") } else { read_time(rest)? };
    let civil = date.to_jiff().to_datetime(time);
    let instant = match offset {
        "" => zone.as_jiff().to_ambiguous_timestamp(civil).compatible().ok(),
        offset => read_offset(offset)?.to_timestamp(civil).ok(),
    };
    Some(match instant.map(Timestamp::from_jiff) {
        // `from_jiff` clamps to the range of `Timestamp`, so the last instant stands for any later one as well.
        Some(instant) if instant < Timestamp::MAX => InstantOrNever::At(instant),
        _ => InstantOrNever::Never,
    })
}

/// Reads `T12:00`, `T12:00:00` or `T12:00:00.25`, and returns the rest of the text.
fn read_time(text: &str) -> Option<(Time, &str)> {
    let text = text.strip_prefix(['T', 't', ' '])?;
    let (hour, text) = read_pair(text)?;
    let (minute, text) = read_pair(text.strip_prefix(':')?)?;
    let (second, text) = match text.strip_prefix(':') {
        Some(text) => read_pair(text)?,
        None => (0, text),
    };
    let (nanosecond, text) = match text.strip_prefix(['.', ',']) {
        Some(text) => read_fraction(text)?,
        None => (0, text),
    };
    Some((Time::new(hour, minute, second, nanosecond).ok()?, text))
}

fn read_pair(text: &str) -> Option<(i8, &str)> {
    let (pair, rest) = text.split_at_checked(2)?;
    let is_number = pair.bytes().all(|digit| digit.is_ascii_digit());
    Some((pair.parse().ok().filter(|_| is_number)?, rest))
}

/// Nanoseconds of a fraction of one to nine digits.
fn read_fraction(text: &str) -> Option<(i32, &str)> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(count)?;
    let padded = format!("{digits:0<9}");
    Some((padded.parse().ok().filter(|_| (1..=9).contains(&count))?, rest))
}

fn read_offset(text: &str) -> Option<Offset> {
    if matches!(text, "Z" | "z") {
        return Some(Offset::UTC);
    }
    let (sign, text) = match text.split_at_checked(1)? {
        ("+", text) => (1, text),
        ("-", text) => (-1, text),
        _ => return None,
    };
    let (hours, text) = read_pair(text)?;
    let (minutes, rest) = match text.strip_prefix(':').unwrap_or(text) {
        "" => (0, ""),
        text => read_pair(text)?,
    };
    let seconds = sign * (i32::from(hours) * 3_600 + i32::from(minutes) * 60);
    Offset::from_seconds(seconds).ok().filter(|_| rest.is_empty() && hours < 24 && minutes < 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let zone: Zone = "Europe/Madrid".parse().unwrap();
        let found = match read_instant_or_never(text, &zone) {
            Some(InstantOrNever::At(instant)) => instant.to_string(),
            Some(InstantOrNever::Never) => "never".to_owned(),
            None => "none".to_owned(),
        };
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn a_time_without_an_offset_is_in_the_users_zone() {
        check("2026-05-01T12:00:00", "2026-05-01T10:00:00Z");
        check("2026-01-01T12:00:00.25", "2026-01-01T11:00:00.250Z");
        check("2026-05-01 12:00:00", "2026-05-01T10:00:00Z");
        check("2026-05-01T12:00", "2026-05-01T10:00:00Z");
        check("2026-05-01", "2026-04-30T22:00:00Z");
        // Clocks go forward at 02:00 and back at 03:00. A time in the repeated hour means its first occurrence.
        check("2026-03-29T02:30:00", "2026-03-29T01:30:00Z");
        check("2026-10-25T02:30:00", "2026-10-25T00:30:00Z");
    }

    #[test]
    fn an_offset_takes_precedence_over_the_zone() {
        check("2026-05-01T12:00:00Z", "2026-05-01T12:00:00Z");
        check("2026-05-01T12:00Z", "2026-05-01T12:00:00Z");
        check("2026-05-01T12:00+05:30", "2026-05-01T06:30:00Z");
        check("2026-05-01T12:00-03", "2026-05-01T15:00:00Z");
        check("2026-05-01T12:00:00.1234567Z", "2026-05-01T12:00:00.123Z");
    }

    #[test]
    fn the_first_and_last_instants_are_accepted() {
        for never in [
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59",
            "9999-12-31T23:59:59.9999999Z",
            "9999-12-31",
            "9999-12-31T23:59:59+02:00",
            "9999-12-31T00:00:00-12:00",
        ] {
            check(never, "never");
        }
        check("9999-12-30T22:00:00Z", "9999-12-30T22:00:00Z");
        // Local mean time in Madrid was 14 minutes and 44 seconds behind UTC.
        check("0001-01-01T00:00:00", "0001-01-01T00:14:44Z");
        check("0001-01-01", "0001-01-01T00:14:44Z");
        check("0001-01-01T00:00:00+02:00", "0001-01-01T00:00:00Z");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "now",
            "2026-05",
            "2026-02-30",
            "2026-05-01T",
            "2026-05-01T12",
            "2026-05-01T24:00",
            "2026-05-01T12:60",
            "2026-05-01T12:00:00.",
            "2026-05-01T12:00:00.0123456789",
            "2026-05-01T12:00:00 02:00",
            "2026-05-01T12:00:00+2",
            "2026-05-01T12:00+24:00",
            "2026-05-01T12:00:00Z ",
            "2026-05-01x12:00:00",
            "é026-05-01",
            "2026-05-01Té2:00",
            "+002026-05-01",
            "10000-01-01T00:00:00Z",
        ] {
            check(text, "none");
        }
    }
}
