//! The fast path for instants in their most common form.

use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::instant_forms::{InstantOrNever, read_instant_or_never};

/// Reads an instant; without an offset it is in `zone`. The common form is read here, others by
/// [`read_instant_or_never`], with the same result.
pub fn read_instant(text: &str, zone: &Zone) -> Option<Timestamp> {
    common(text.as_bytes()).or_else(|| read_instant_or_never(text, zone).and_then(InstantOrNever::instant))
}

/// Reads `2026-05-01T12:00:00`, optionally with a fraction, and `Z` or an offset such as `+02:00`. Gives None for
/// anything else, and for leap seconds and early years.
fn common(text: &[u8]) -> Option<Timestamp> {
    let (shape, rest) = text.split_first_chunk::<19>()?;
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, b'T', h0, h1, b':', n0, n1, b':', s0, s1] = shape
    else {
        return None;
    };
    let year = pair(y0, y1)? * 100 + pair(y2, y3)?;
    let (month, day) = (pair(m0, m1)?, pair(d0, d1)?);
    let (hour, minute, second) = (pair(h0, h1)?, pair(n0, n1)?, pair(s0, s1)?);
    let is_common = (1970..=9000).contains(&year) && hour < 24 && minute < 60 && second < 60;
    if !is_common || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    let (millis, rest) = fraction(rest)?;
    let seconds =
        days_before(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset(rest)?;
    Some(Timestamp::from_millis(seconds * 1_000 + millis))
}

/// Two digits as a number.
fn pair(tens: u8, ones: u8) -> Option<i64> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then_some(i64::from(tens) * 10 + i64::from(ones))
}

/// Milliseconds of a fraction of up to nine digits, truncated, and the rest of the text.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some((b'.', digits)) = text.split_first() else { return Some((0, text)) };
    let count = digits.iter().take_while(|digit| digit.is_ascii_digit()).count();
    if !(1..=9).contains(&count) {
        return None;
    }
    let (digits, rest) = digits.split_at(count);
    let thousandths = digits.iter().chain(b"00").take(3);
    Some((thousandths.fold(0, |millis, digit| millis * 10 + i64::from(digit - b'0')), rest))
}

/// The offset from UTC in seconds.
fn offset(text: &[u8]) -> Option<i64> {
    match *text {
        [b'Z'] => Some(0),
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            let (hours, minutes) = (pair(h0, h1)?, pair(m0, m1)?);
            let ahead = hours * 3_600 + minutes * 60;
            (hours < 24 && minutes < 60).then_some(if sign == b'-' { -ahead } else { ahead })
        }
        _ => None,
    }
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + is_leap(year) as i64,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970 to this date of the Gregorian calendar.
const fn days_before(year: i64, month: i64, day: i64) -> i64 {
    // Counted from March, the leap day is the last of the year, and the lengths of months repeat every five.
    let shifted = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn common_forms_are_read_here() {
        for (text, expect) in [
            ("2026-05-01T12:00:00Z", "2026-05-01T12:00:00Z"),
            ("2026-05-01T12:00:00.5+02:00", "2026-05-01T10:00:00.500Z"),
            ("2024-02-29T23:59:59.999999999-23:59", "2024-03-01T23:58:59.999Z"),
            ("1970-01-01T00:00:00.0009-00:00", "1970-01-01T00:00:00Z"),
            ("2000-03-01T00:30:00+00:31", "2000-02-29T23:59:00Z"),
        ] {
            assert_eq!(
                common(text.as_bytes()).map(|instant| instant.to_string()).as_deref(),
                Some(expect),
                "{text}"
            );
        }
    }

    #[test]
    fn other_forms_are_left() {
        for text in [
            "",
            "2026-05-01",
            "2026-05-01T12:00:00",
            "2026-05-01T12:00Z",
            "2026-05-01t12:00:00z",
            "2026-05-01 12:00:00Z",
            "1969-12-31T23:59:59Z",
            "2025-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-05-01T23:59:60Z",
            "2026-05-01T24:00:00Z",
            "2026-05-01T12:00:00.Z",
            "2026-05-01T12:00:00.0123456789Z",
            "2026-05-01T12:00:00+02",
            "2026-05-01T12:00:00Z ",
            "2026-05-01T12:00:0/Z",
            "2026-05-01T12:00:00+24:00",
        ] {
            assert_eq!(common(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn both_readers_agree(
            text in "(19[67]|20[0-9]|[0-9]{3})[0-9]-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?(Z|z|[+-][0-2][0-9]:[0-6][0-9])"
        ) {
            if let Some(instant) = common(text.as_bytes()) {
                prop_assert_eq!(text.parse(), Ok(instant));
            }
        }

        #[test]
        fn every_instant_of_the_common_years_is_read_here(millis in 0_i64..221_845_305_600_000) {
            let instant = Timestamp::from_millis(millis);
            prop_assert_eq!(common(instant.to_string().as_bytes()), Some(instant));
        }
    }
}
