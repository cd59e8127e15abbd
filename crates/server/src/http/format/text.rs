//! Numbers, instants and texts as bytes, made from whole numbers: no float is formatted, no calendar is asked.

use perigee_core::time::Timestamp;

const MS_PER_DAY: i64 = 86_400_000;
/// Days from 0000-03-01, where the calendar's cycles begin, to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;
const DAYS_PER_ERA: i64 = 146_097;

/// The two digits of every number under a hundred.
const PAIRS: [[u8; 2]; 100] = pairs();

const fn pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[b'0'; 2]; 100];
    let mut tens = 0_u8;
    while tens < 10 {
        let mut ones = 0_u8;
        while ones < 10 {
            pairs[(tens * 10 + ones) as usize] = [b'0' + tens, b'0' + ones];
            ones += 1;
        }
        tens += 1;
    }
    pairs
}

/// The digits of a number under a hundred.
fn pair(number: u64) -> [u8; 2] {
    usize::try_from(number).ok().and_then(|index| PAIRS.get(index)).copied().unwrap_or(*b"00")
}

/// Writes a whole number.
pub(super) fn push_whole(out: &mut Vec<u8>, number: u64) {
    if number < 10 {
        out.push(pair(number)[1]);
        return;
    }
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    let mut rest = number;
    while rest >= 10 {
        start -= 2;
        digits[start..start + 2].copy_from_slice(&pair(rest % 100));
        rest /= 100;
    }
    if rest > 0 {
        start -= 1;
        digits[start] = pair(rest)[1];
    }
    out.extend_from_slice(digits.get(start..).unwrap_or_default());
}

/// Writes a whole number that may be negative.
pub(super) fn push_signed(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    push_whole(out, number.unsigned_abs());
}

/// Writes a count of units of a power of ten below one: as many decimals as it needs, never an exponent.
pub(super) fn push_decimal<const DECIMALS: u32>(out: &mut Vec<u8>, units: i64) {
    let scale = const { 10_u64.pow(DECIMALS) };
    if units < 0 {
        out.push(b'-');
    }
    let magnitude = units.unsigned_abs();
    push_whole(out, magnitude / scale);
    let part = magnitude % scale;
    if part == 0 {
        return;
    }
    // Padded to eight decimals, so that they come in four pairs.
    let padded = part * const { 10_u64.pow(8 - DECIMALS) };
    let mut digits = [b'.'; 9];
    for (index, divisor) in [1_000_000, 10_000, 100, 1].into_iter().enumerate() {
        digits[1 + 2 * index..3 + 2 * index].copy_from_slice(&pair(padded / divisor % 100));
    }
    let end = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    out.extend_from_slice(digits.get(..end).unwrap_or_default());
}

/// Writes an instant as RFC 3339 in UTC, with milliseconds only when there are any.
pub(super) fn push_time(out: &mut Vec<u8>, instant: Timestamp) {
    let millis = instant.as_millis();
    let (day, in_day) = (millis.div_euclid(MS_PER_DAY), millis.rem_euclid(MS_PER_DAY).unsigned_abs());
    let (year, month, day) = civil(day);
    let (seconds, fraction) = (in_day / 1000, in_day % 1000);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    for (at, number) in [
        (0, year / 100),
        (2, year % 100),
        (5, month),
        (8, day),
        (11, seconds / 3600),
        (14, seconds / 60 % 60),
        (17, seconds % 60),
    ] {
        text[at..at + 2].copy_from_slice(&pair(number));
    }
    if fraction == 0 {
        text[19] = b'Z';
        out.extend_from_slice(&text[..20]);
    } else {
        text[20] = pair(fraction / 100)[1];
        text[21..23].copy_from_slice(&pair(fraction % 100));
        out.extend_from_slice(&text);
    }
}

/// Year, month and day of the day this many after 1970-01-01, in the Gregorian calendar. Years are counted from
/// March, so that the leap day is a year's last.
fn civil(days: i64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year.unsigned_abs(), month.unsigned_abs(), day.unsigned_abs())
}

/// Writes a text as a JSON string. The two characters that XML cannot carry at all are escaped as well, so that
/// any text lies safe in any format once it is JSON.
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
        if escape == b"\\u00" {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        plain_from = index + length;
    }
    out.extend_from_slice(bytes.get(plain_from..).unwrap_or_default());
    out.push(b'"');
}

/// Writes a text between the tags of XML or into an attribute. What XML cannot carry is replaced.
pub(super) fn push_xml_text(out: &mut Vec<u8>, text: &str) {
    let mut bytes = [0; 4];
    for character in text.chars() {
        let escaped: &[u8] = match character {
            '&' => b"&amp;",
            '<' => b"&lt;",
            '>' => b"&gt;",
            '"' => b"&quot;",
            '\'' => b"&apos;",
            // Written as they are, readers would turn them into spaces or line feeds.
            '\t' => b"&#9;",
            '\n' => b"&#10;",
            '\r' => b"&#13;",
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => "\u{fffd}".as_bytes(),
            other => other.encode_utf8(&mut bytes).as_bytes(),
        };
        out.extend_from_slice(escaped);
    }
}

/// Writes a text as a quoted cell of CSV, as RFC 4180 has it.
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
            "2100-02-28T12:34:56.789Z",
            "9999-12-30T22:00:00Z",
        ] {
            let instant: Timestamp = text.parse().unwrap();
            assert_eq!(written(|out| push_time(out, instant)), text);
        }
    }

    proptest! {
        #[test]
        fn any_instant_is_written_as_the_calendar_has_it(
            millis in Timestamp::MIN.as_millis()..=Timestamp::MAX.as_millis(),
        ) {
            let instant = Timestamp::from_millis(millis);
            prop_assert_eq!(written(|out| push_time(out, instant)), instant.to_string());
        }

        #[test]
        fn any_whole_number_is_written(number: i64) {
            prop_assert_eq!(written(|out| push_signed(out, number)), number.to_string());
            prop_assert_eq!(written(|out| push_whole(out, number.unsigned_abs())), number.unsigned_abs().to_string());
        }

        #[test]
        fn any_decimal_is_read_back(units in -1_000_000_000_000_i64..1_000_000_000_000) {
            let text = written(|out| push_decimal::<3>(out, units));
            let wasteful = text.contains('.') && text.ends_with(['.', '0']);
            prop_assert!(!wasteful, "{}", text);
            let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
            let back: i64 = format!("{whole}{part:0<3}").parse().unwrap();
            prop_assert_eq!(back, units);
        }

        #[test]
        fn any_text_is_read_back_from_json(text: String) {
            let json = written(|out| push_json_text(out, &text));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
