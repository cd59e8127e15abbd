//! Fields of text protocols.

use std::str::FromStr;

/// The fields of a text between separators, read in order.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    items: Vec<&'a str>,
    at: usize,
}

impl<'a> Fields<'a> {
    /// The fields of a text.
    pub fn split(text: &'a str, separator: char) -> Self {
        Self { items: text.split(separator).collect(), at: 0 }
    }

    /// The next field; empty if there is none.
    pub fn take(&mut self) -> &'a str {
        let item = self.peek(0);
        self.at += 1;
        item
    }

    /// The field this far ahead; empty when there is none.
    pub fn peek(&self, ahead: usize) -> &'a str {
        self.items.get(self.at + ahead).copied().unwrap_or("")
    }

    /// The field of this index, counted from the first.
    pub fn get(&self, index: usize) -> &'a str {
        self.items.get(index).copied().unwrap_or("")
    }

    /// Skips this many fields.
    pub const fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Goes to the field of this index.
    pub const fn seek(&mut self, index: usize) {
        self.at = index;
    }

    /// The index of the next field.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// How many fields there are in total.
    pub const fn count(&self) -> usize {
        self.items.len()
    }

    /// The number of remaining fields.
    pub const fn remaining(&self) -> usize {
        self.items.len().saturating_sub(self.at)
    }

    /// The next field as a number; none if it is empty or not a number.
    pub fn number<T: FromStr>(&mut self) -> Option<T> {
        self.take().trim().parse().ok()
    }

    /// The next field as a finite number with or without a fraction.
    pub fn real(&mut self) -> Option<f64> {
        real(self.take())
    }

    /// The next field as a hexadecimal number.
    pub fn hex(&mut self) -> Option<u64> {
        hex(self.take())
    }
}

/// A finite number with or without a fraction.
pub fn real(text: &str) -> Option<f64> {
    let text = text.trim();
    // The standard parser also accepts "inf", "nan" and exponents, which trackers do not send.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+'));
    if plain { text.parse().ok().filter(|number: &f64| number.is_finite()) } else { None }
}

/// Reads a whole number; `None` for any other text.
pub fn integer(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// A hexadecimal number of at most 16 digits.
pub fn hex(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_hexdigit()) { u64::from_str_radix(text, 16).ok() } else { None }
}

/// Degrees of `dddmm.mmmm`: the last two digits before the point are minutes.
pub fn degrees_minutes(text: &str) -> Option<f64> {
    let text = text.trim();
    let point = text.find('.').unwrap_or(text.len());
    let (degrees, minutes) = text.split_at_checked(point.checked_sub(2)?)?;
    let degrees = if degrees.is_empty() { 0.0 } else { real(degrees)? };
    Some(degrees + real(minutes)? / 60.0)
}

/// A coordinate with the letter of its hemisphere: south and west are negative.
pub fn hemisphere(degrees: f64, letter: &str) -> f64 {
    if matches!(letter.trim(), "S" | "W" | "s" | "w") { -degrees } else { degrees }
}

/// Whether a text consists of decimal digits.
pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_that_trackers_write() {
        assert_eq!(real(" 12.50"), Some(12.5));
        assert_eq!(real("nan"), None);
        assert_eq!(real("1e5"), None);
        assert_eq!(real(""), None);
        assert_eq!(hex("FFfe"), Some(0xfffe));
        assert_eq!(hex("+1"), None);
        let near = |text: &str, expect: f64| (degrees_minutes(text).unwrap() - expect).abs() < 1e-9;
        assert!(near("2234.0297", 22.567_161_666_666_666));
        assert!(near("11354.3300", 113.905_5));
        assert!(near("05.5", 5.5 / 60.0));
        assert_eq!(degrees_minutes("5.5"), None);
        assert_eq!(degrees_minutes("x"), None);
    }

    #[test]
    fn missing_fields_are_empty() {
        let mut fields = Fields::split("a,,c", ',');
        assert_eq!((fields.take(), fields.take(), fields.take(), fields.take()), ("a", "", "c", ""));
        assert_eq!((fields.remaining(), fields.count()), (0, 3));
    }
}
