//! Fast formatting of numbers, instants and texts as bytes, with integer arithmetic only.

use std::cell::Cell;

use perigee_core::time::Timestamp;

use super::digits::{
    EIGHT_DIGITS, PAIRS, THOUSANDTHS, WHOLES, eight_digits, push_draft, trailing, without_leading,
};

const MS_PER_HOUR: i64 = 3_600_000;
/// Days from 0000-03-01, where a 400-year cycle of the calendar begins, to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;
/// Days in the 400 years after which the Gregorian calendar repeats.
const DAYS_PER_ERA: u32 = 146_097;

/// Writes a whole number.
pub(super) fn push_whole(out: &mut Vec<u8>, number: u64) {
    match u32::try_from(number) {
        Ok(short) if number < EIGHT_DIGITS => {
            let (digits, length) = without_leading(eight_digits(short));
            push_draft(out, &digits, |_unchanged| length);
        }
        _ => {
            push_whole(out, number / EIGHT_DIGITS);
            out.extend_from_slice(&eight_digits(u32::try_from(number % EIGHT_DIGITS).unwrap_or(0)));
        }
    }
}

/// Writes a whole number that may be negative.
pub(super) fn push_signed(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    push_whole(out, number.unsigned_abs());
}

/// Writes a fixed-point number, given in units of the last of `DECIMALS` (at most eight) decimals, without trailing
/// zeros and without an exponent.
pub(super) fn push_decimal<const DECIMALS: u32>(out: &mut Vec<u8>, units: i64) {
    let scale = const { 10_u64.pow(DECIMALS) };
    let magnitude = units.unsigned_abs();
    let (whole, part) = (magnitude / scale, magnitude % scale);
    // Usually there are at most three digits before the point, and the whole text is assembled in one draft.
    let whole_digits = usize::try_from(whole).ok().and_then(|whole| WHOLES.get(whole));
    let Some((digits, length)) = whole_digits else {
        if units < 0 {
            out.push(b'-');
        }
        push_whole(out, whole);
        return push_draft(out, &[b'.'; 9], |text| write_decimals::<DECIMALS>(&mut text[1..], part));
    };
    let start = usize::from(units < 0);
    let point = start + usize::from(*length);
    // Room for a sign, three digits, a point and eight decimals. It is filled with signs, and a positive number
    // overwrites the first.
    push_draft(out, &[b'-'; 16], |text| {
        text[start..start + 3].copy_from_slice(digits);
        text[point] = b'.';
        point + write_decimals::<DECIMALS>(&mut text[point + 1..], part)
    });
}

/// Writes the decimals to `text`, which begins after the point, and returns the length of point and decimals: 0 if all
/// decimals are zero, so that the point is cut off too.
fn write_decimals<const DECIMALS: u32>(text: &mut [u8], part: u64) -> usize {
    if part == 0 {
        return 0;
    }
    if DECIMALS == 3
        && let Some((digits, length)) = usize::try_from(part).ok().and_then(|part| THOUSANDTHS.get(part))
    {
        text[..3].copy_from_slice(digits);
        return 1 + usize::from(*length);
    }
    // Padded to eight decimals. The length is that of the point and of the decimals before the trailing zeros.
    let decimals = eight_digits(u32::try_from(part * const { 10_u64.pow(8 - DECIMALS) }).unwrap_or(0));
    text[..8].copy_from_slice(&decimals);
    9 - trailing(decimals)
}

/// Writes an instant as RFC 3339 in UTC, with milliseconds only if they are not zero. The characters are assembled
/// in 64-bit words, the first in the lowest byte: reading as a word what was just written as bytes stalls the
/// processor.
pub(super) fn push_time(out: &mut Vec<u8>, instant: Timestamp) {
    let pair = |number: usize| u16::from_le_bytes(PAIRS[number]);
    let millis = instant.as_millis();
    let in_hour = usize::try_from(millis.rem_euclid(MS_PER_HOUR)).unwrap_or(0);
    let (minute, second, fraction) = (in_hour / 60_000, in_hour / 1000 % 60, in_hour % 1000);
    let to_minute = cached_hour_text(millis.div_euclid(MS_PER_HOUR)) | u128::from(pair(minute)) << (8 * 14);
    let seconds = u64::from(b':') | u64::from(pair(second)) << 8;
    out.extend_from_slice(&to_minute.to_le_bytes());
    if fraction == 0 {
        let end = seconds | u64::from(b'Z') << 24;
        out.extend_from_slice(&end.to_le_bytes()[..4]);
    } else {
        // The last three of eight digits.
        let digits = u64::from_le_bytes(eight_digits(u32::try_from(fraction).unwrap_or(0))) >> (8 * 5);
        let end = seconds | u64::from(b'.') << 24 | digits << 32 | u64::from(b'Z') << 56;
        out.extend_from_slice(&end.to_le_bytes());
    }
}

/// The text of an instant up to its hour, cached: a track has many locations per hour.
fn cached_hour_text(hour: i64) -> u128 {
    thread_local! {
        static HOURS: [Cell<(i64, u128)>; 16] = const { [const { Cell::new((i64::MIN, 0)) }; 16] };
    }
    HOURS.with(|hours| {
        let slot = &hours[usize::try_from(hour.rem_euclid(16)).unwrap_or(0)];
        if slot.get().0 != hour {
            slot.set((hour, u128::from_le_bytes(hour_text(hour))));
        }
        slot.get().1
    })
}

/// Formats hours since 1970 as `2026-05-01T12:` and two zero bytes, into which `push_time` puts the minutes.
fn hour_text(hour: i64) -> [u8; 16] {
    let date = eight_digits(date_number(hour.div_euclid(24)));
    let mut text = *b"0000-00-00T00:\0\0";
    text[..4].copy_from_slice(&date[..4]);
    text[5..7].copy_from_slice(&date[4..6]);
    text[8..10].copy_from_slice(&date[6..]);
    text[11..13].copy_from_slice(&PAIRS[usize::try_from(hour.rem_euclid(24)).unwrap_or(0)]);
    text
}

/// Converts days since 1970-01-01 to a date of the Gregorian calendar, as a number such as 20260501. Years are counted
/// from March, so that the leap day is the last of a year.
fn date_number(days: i64) -> u32 {
    let days = u32::try_from(days + DAYS_TO_1970).unwrap_or(0);
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u32::from(month <= 2);
    year % 10_000 * 10_000 + month * 100 + day
}

/// Writes a text as a JSON string. The two characters that XML cannot represent are escaped as well, so that the
/// JSON can be embedded in any format.
pub(super) fn push_json_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut plain_from = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let escaped: Option<(&[u8], usize)> = match byte {
            b'"' => Some((b"\\\"", 1)),
            b'\\' => Some((b"\\\\", 1)),
            b'\n' => Some((b"\\n", 1)),
            b'\r' => Some((b"\\r", 1)),
            b'\t' => Some((b"\\t", 1)),
            0xEF if bytes[index..].starts_with("\u{fffe}".as_bytes()) => Some((b"\\ufffe", 3)),
            0xEF if bytes[index..].starts_with("\u{ffff}".as_bytes()) => Some((b"\\uffff", 3)),
            0x00..0x20 => Some((b"\\u00", 1)),
            _ => None,
        };
        let Some((escape, length)) = escaped else { continue };
        out.extend_from_slice(bytes.get(plain_from..index).unwrap_or_default());
        out.extend_from_slice(escape);
        // For control characters the table has only the first half of the escape.
        if escape == b"\\u00" {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        plain_from = index + length;
    }
    out.extend_from_slice(bytes.get(plain_from..).unwrap_or_default());
    out.push(b'"');
}

/// Writes a text as XML content or attribute value. Characters that XML cannot represent are replaced.
pub(super) fn push_xml_text(out: &mut Vec<u8>, text: &str) {
    let mut bytes = [0; 4];
    for character in text.chars() {
        let escaped: &[u8] = match character {
            '&' => b"&amp;",
            '<' => b"&lt;",
            '>' => b"&gt;",
            '"' => b"&quot;",
            '\'' => b"&apos;",
            // Unescaped, XML parsers would normalise them to spaces or line feeds.
            '\t' => b"&#9;",
            '\n' => b"&#10;",
            '\r' => b"&#13;",
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => "\u{fffd}".as_bytes(),
            other => other.encode_utf8(&mut bytes).as_bytes(),
        };
        out.extend_from_slice(escaped);
    }
}

/// Writes a text as a quoted CSV cell (RFC 4180).
pub(super) fn push_quoted_cell(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for byte in text {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn decimals_have_the_digits_they_need() {
        let degrees = |units, expect: &str| assert_eq!(written(|out| push_decimal::<7>(out, units)), expect);
        degrees(0, "0");
        degrees(1, "0.0000001");
        degrees(-1, "-0.0000001");
        degrees(10_000_000, "1");
        degrees(-411_220_612, "-41.1220612");
        degrees(3_000_000, "0.3");
        degrees(-1_800_000_000, "-180");
        let thousandths =
            |units, expect: &str| assert_eq!(written(|out| push_decimal::<3>(out, units)), expect);
        thousandths(100_000, "100");
        thousandths(-500, "-0.5");
        thousandths(999_999_999_999, "999999999.999");
        thousandths(i64::MIN, "-9223372036854775.808");
    }

    #[test]
    fn json_escapes_what_json_and_xml_cannot_carry() {
        let text = "a\"\\/\n\r\t\u{0}\u{1f}\u{7f}é\u{fffd}\u{fffe}\u{ffff}⛵";
        let json = written(|out| push_json_text(out, text));
        assert_eq!(json, "\"a\\\"\\\\/\\n\\r\\t\\u0000\\u001f\u{7f}é\u{fffd}\\ufffe\\uffff⛵\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn xml_escapes_markup_and_spaces_that_would_change() {
        let text = written(|out| push_xml_text(out, "<a b='c' d=\"e\">&\t\r\n\u{1}\u{ffff}⛵"));
        assert_eq!(text, "&lt;a b=&apos;c&apos; d=&quot;e&quot;&gt;&amp;&#9;&#13;&#10;\u{fffd}\u{fffd}⛵");
    }

    #[test]
    fn instants_at_the_edges() {
        for text in [
            "0001-01-01T00:00:00Z",
            "1600-02-29T23:59:59.999Z",
            "1969-12-31T23:59:59.999Z",
            "1970-01-01T00:00:00Z",
            "2000-02-29T00:00:00Z",
            "2000-03-01T00:00:00.010Z",
            "2026-05-01T12:34:56Z",
            "2026-05-01T12:59:59Z",
            "2100-02-28T12:34:56.789Z",
            "9999-12-30T22:00:00Z",
        ] {
            let instant: Timestamp = text.parse().unwrap();
            assert_eq!(written(|out| push_time(out, instant)), text);
        }
    }

    proptest! {
        #[test]
        fn any_instant_is_written_like_its_display_form(
            millis in Timestamp::MIN.as_millis()..=Timestamp::MAX.as_millis(),
        ) {
            // The second value is in the same hour, which is cached by then.
            for millis in [millis, millis - millis.rem_euclid(1000)] {
                let instant = Timestamp::from_millis(millis);
                prop_assert_eq!(written(|out| push_time(out, instant)), instant.to_string());
            }
        }

        #[test]
        fn any_whole_number_is_written(number: i64) {
            prop_assert_eq!(written(|out| push_signed(out, number)), number.to_string());
            prop_assert_eq!(written(|out| push_whole(out, number.unsigned_abs())), number.unsigned_abs().to_string());
        }

        #[test]
        fn any_decimal_is_read_back(
            units in prop_oneof![-2_000_000_000_i64..2_000_000_000, any::<i64>(), -2_000_i64..2_000],
        ) {
            for (text, decimals) in [
                (written(|out| push_decimal::<3>(out, units)), 3),
                (written(|out| push_decimal::<7>(out, units)), 7),
            ] {
                let has_trailing_zeros = text.contains('.') && text.ends_with(['.', '0']);
                prop_assert!(!has_trailing_zeros, "{}", text);
                let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
                let back: i64 = format!("{whole}{part:0<decimals$}").parse().unwrap();
                prop_assert_eq!(back, units);
            }
        }

        #[test]
        fn any_text_is_read_back_from_json(text: String) {
            let json = written(|out| push_json_text(out, &text));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
