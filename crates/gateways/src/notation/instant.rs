//! Times as providers write them: ISO dates with or without zone, and numbers since 1970.

use perigee_core::time::Timestamp;

use crate::notation::calendar::Civil;
use crate::notation::number::whole;

/// The instant of a number since 1970 in seconds, milliseconds, microseconds or nanoseconds, recognised by its size.
pub fn epoch(number: f64) -> Option<Timestamp> {
    let size = number.abs();
    let millis = if size < 1e11 {
        number * 1e3
    } else if size < 1e14 {
        number
    } else if size < 1e17 {
        number / 1e3
    } else {
        number / 1e6
    };
    (number.is_finite() && size < 1e20).then(|| Timestamp::from_millis(whole(millis.round())))
}

/// The instant of seconds since 1970.
pub fn seconds(count: u32) -> Timestamp {
    Timestamp::from_millis(i64::from(count) * 1000)
}

/// The instant of a date and time of day: `2023-03-14T09:00:00Z`, with a fraction, a blank instead of the T, an offset with
/// or without colon, or a year of two digits. Without a zone it is UTC.
pub fn iso(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let split = text.find(['T', 't', ' '])?;
    let (date, rest) = (text.get(..split)?, text.get(split + 1..)?);
    let zone_at = rest.find(['Z', 'z', '+', '-', ' ']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at_checked(zone_at)?;
    let mut date = date.split('-');
    let mut time = clock.split(':');
    let (hour, minute) = (two(time.next()?)?, two(time.next()?)?);
    let (second, millis) = match time.next() {
        Some(second) => {
            let (second, fraction) = second.split_once(['.', ',']).unwrap_or((second, ""));
            (two(second)?, thousandths(fraction)?)
        }
        None => (0, 0),
    };
    let year =
        date.next().filter(|year| matches!(year.len(), 2 | 4) && crate::notation::fields::is_digits(year))?;
    let civil = Civil {
        year: year.parse().ok()?,
        month: two(date.next()?)?,
        day: two(date.next()?)?,
        hour,
        minute,
        second,
    };
    if date.next().is_some() || time.next().is_some() {
        return None;
    }
    Some(civil.instant()?.plus_millis(millis).plus_seconds(-60 * offset_minutes(zone.trim())?))
}

/// The instant of `25/03/2020 03:02:32 GMT`, as Globalstar writes it.
pub fn day_first(text: &str) -> Option<Timestamp> {
    let mut words = text.split_ascii_whitespace();
    let (date, time) = (words.next()?, words.next()?);
    let mut date = date.split('/');
    let (day, month, year) = (date.next()?, date.next()?, date.next()?);
    iso(&format!("{year}-{month}-{day}T{time}"))
}

/// The instant of a text in any of the forms above.
pub fn any(text: &str) -> Option<Timestamp> {
    iso(text).or_else(|| epoch(crate::notation::fields::real(text)?)).or_else(|| day_first(text))
}

fn two(digits: &str) -> Option<u8> {
    (digits.len() <= 2 && crate::notation::fields::is_digits(digits)).then(|| digits.parse().ok())?
}

fn thousandths(fraction: &str) -> Option<i64> {
    let mut millis = 0;
    for (digit, worth) in fraction.chars().zip([100, 10, 1, 0, 0, 0, 0, 0, 0]) {
        millis += i64::from(digit.to_digit(10)?) * worth;
    }
    Some(millis)
}

/// Offset from UTC in minutes.
fn offset_minutes(zone: &str) -> Option<i64> {
    if zone.is_empty() {
        return Some(0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return matches!(zone, "Z" | "z" | "UTC" | "GMT").then_some(0),
    };
    let digits = digits.replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { two(minutes)? };
    let total = i64::from(two(hours)?) * 60 + i64::from(minutes);
    (total <= 18 * 60).then_some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(any(text).map(|instant| instant.to_string()).as_deref(), expect, "{text}");
    }

    #[test]
    fn reads_what_providers_write() {
        check("2023-03-14T09:10:01Z", Some("2023-03-14T09:10:01Z"));
        check("2017-12-27T13:19:38.000Z", Some("2017-12-27T13:19:38Z"));
        check("2025-11-12T08:29:01.954236764Z", Some("2025-11-12T08:29:01.954Z"));
        check("2019-01-25 22:11:07", Some("2019-01-25T22:11:07Z"));
        check("21-10-12 10:41:45", Some("2021-10-12T10:41:45Z"));
        check("2026-01-02T03:04:05-0000", Some("2026-01-02T03:04:05Z"));
        check("2026-01-02T03:04:05+02:30", Some("2026-01-02T00:34:05Z"));
        check("2026-01-02 03:04:05 UTC", Some("2026-01-02T03:04:05Z"));
        check("2026-01-02T03:04", Some("2026-01-02T03:04:00Z"));
        check("25/03/2020 03:02:32 GMT", Some("2020-03-25T03:02:32Z"));
        check("1377177267", Some("2013-08-22T13:14:27Z"));
        check("1442068686579", Some("2015-09-12T14:38:06.579Z"));
        check("1508508510.013227", Some("2017-10-20T14:08:30.013Z"));
        for wrong in [
            "",
            "now",
            "2026-13-01T00:00:00Z",
            "2026-01-02T03:04:05+99:00",
            "2026-01-02T03:04:05X",
            "T:",
            "2026-1-2-3T00:00:00",
            "é",
            "2026-01-02T03:04:05.x",
        ] {
            check(wrong, None);
        }
    }
}
