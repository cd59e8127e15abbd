//! A scanner for JSON in its most common form, which allocates nothing that is not requested.
//!
//! Every method gives None for invalid JSON and for valid but rare forms, such as an escape in a string. The caller
//! then starts over with [`super::parse_strict`], which decides whether the text is valid and reports the problem.

/// A position in JSON text.
#[derive(Clone, Debug)]
pub struct Scanner<'t> {
    text: &'t str,
    at: usize,
    values: usize,
}

/// A number as written: digits, optionally a sign and a decimal point, no exponent.
#[derive(Clone, Copy, Debug)]
pub struct Number<'t> {
    text: &'t str,
    /// All digits as one whole number; None if there are too many.
    digits: Option<u64>,
    /// The number of digits after the point.
    decimals: usize,
    is_negative: bool,
}

/// The most digits that always fit into 64 bits, signed or unsigned.
const SURE_DIGITS: usize = 18;
/// Whole numbers up to this one are exact as floats.
const EXACT_FLOAT: u64 = 1 << 53;
const TENS: [u64; 19] = {
    let mut tens = [1; 19];
    let mut power = 1;
    while power < tens.len() {
        tens[power] = tens[power - 1] * 10;
        power += 1;
    }
    tens
};

impl<'t> Scanner<'t> {
    /// A scanner at the beginning of this text.
    pub const fn new(text: &'t str) -> Self {
        Self { text, at: 0, values: 0 }
    }

    /// An upper bound on the number of values scanned so far.
    pub const fn values(&self) -> usize {
        self.values
    }

    /// Bytes from here to the end.
    pub const fn remaining(&self) -> usize {
        self.text.len() - self.at
    }

    /// The next byte that is not whitespace, without consuming it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Consumes this byte after whitespace; false if another byte is next.
    #[inline]
    pub fn take(&mut self, wanted: u8) -> bool {
        let is_next = self.peek() == Some(wanted);
        self.at += usize::from(is_next);
        is_next
    }

    /// Whether only whitespace follows.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Consumes the name of a member and the colon after it.
    #[inline]
    pub fn name(&mut self) -> Option<&'t str> {
        let name = self.quoted()?;
        self.take(b':').then_some(name)
    }

    /// Consumes a string without escapes.
    #[inline]
    pub fn text(&mut self) -> Option<&'t str> {
        self.values += 1;
        self.quoted()
    }

    /// Consumes `true` or `false`.
    pub fn boolean(&mut self) -> Option<bool> {
        self.values += 1;
        match self.peek()? {
            b't' => self.word("true").then_some(true),
            b'f' => self.word("false").then_some(false),
            _ => None,
        }
    }

    /// Consumes `null` if it is next.
    #[inline]
    pub fn null(&mut self) -> bool {
        let is_next = self.peek() == Some(b'n') && self.word("null");
        self.values += usize::from(is_next);
        is_next
    }

    /// Consumes a number without an exponent.
    #[inline]
    pub fn number(&mut self) -> Option<Number<'t>> {
        self.values += 1;
        self.peek()?;
        let begin = self.at;
        let is_negative = self.byte() == Some(b'-');
        self.at += usize::from(is_negative);
        let mut digits = 0_u64;
        let whole = self.digits(&mut digits);
        let leads_with_zero = self.text.as_bytes().get(self.at - whole) == Some(&b'0');
        if whole == 0 || (whole > 1 && leads_with_zero) {
            return None;
        }
        let mut decimals = 0;
        if self.byte() == Some(b'.') {
            self.at += 1;
            decimals = self.digits(&mut digits);
            if decimals == 0 {
                return None;
            }
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            return None;
        }
        Some(Number {
            text: self.text.get(begin..self.at)?,
            digits: (whole + decimals <= SURE_DIGITS).then_some(digits),
            decimals,
            is_negative,
        })
    }

    /// Consumes an object or array and returns its text, which is not validated.
    pub fn nested(&mut self) -> Option<&'t str> {
        if !matches!(self.peek()?, b'{' | b'[') {
            return None;
        }
        let bytes = self.text.as_bytes();
        let (begin, mut depth, mut quoted) = (self.at, 0_usize, false);
        while let Some(byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => quoted = !quoted,
                // An escaped quote does not end the string.
                b'\\' if quoted => self.at += 1,
                b'{' | b'[' if !quoted => depth += 1,
                b'}' | b']' if !quoted => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return self.text.get(begin..self.at);
            }
        }
        None
    }

    /// Adds to the count of values.
    pub fn count_values(&mut self, more: usize) {
        self.values += more;
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Consumes digits into the number and gives their count; the number is meaningless if there are too many.
    #[inline]
    fn digits(&mut self, number: &mut u64) -> usize {
        let begin = self.at;
        while let Some(digit @ b'0'..=b'9') = self.byte() {
            *number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        self.at - begin
    }

    fn word(&mut self, word: &str) -> bool {
        let is_next =
            self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    #[inline]
    fn quoted(&mut self) -> Option<&'t str> {
        if !self.take(b'"') {
            return None;
        }
        let begin = self.at;
        let bytes = self.text.as_bytes();
        // Compares eight bytes at a time up to the first special one.
        while let Some(eight) = bytes.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) {
            let special = special_bytes(u64::from_le_bytes(*eight));
            self.at += special.trailing_zeros() as usize / 8;
            if special != 0 {
                break;
            }
        }
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return self.text.get(begin..self.at - 1);
                }
                b'\\' | 0..0x20 => return None,
                _ => self.at += 1,
            }
        }
        None
    }
}

/// A mask with the highest bit of the first special byte among these eight: a quote, a backslash or a control
/// character. Later bytes may be marked wrongly; they are not used.
const fn special_bytes(eight: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    const fn below(eight: u64, limit: u64) -> u64 {
        eight.wrapping_sub(ONES * limit) & !eight & HIGH
    }
    below(eight, 0x20) | below(eight ^ (ONES * b'"' as u64), 1) | below(eight ^ (ONES * b'\\' as u64), 1)
}

impl Number<'_> {
    /// The number in units of 10^-`decimals`; None if it has more decimals.
    #[inline]
    pub fn scaled(self, decimals: usize) -> Option<i64> {
        let factor = TENS.get(decimals.checked_sub(self.decimals)?)?;
        let units = i64::try_from(self.digits?.checked_mul(*factor)?).ok()?;
        Some(if self.is_negative { -units } else { units })
    }

    /// The number, if it is a whole one that fits; None for minus zero.
    pub fn whole(self) -> Option<i64> {
        let is_whole = self.decimals == 0 && !(self.is_negative && self.digits == Some(0));
        if is_whole { self.scaled(0) } else { None }
    }

    /// Whether it has a decimal point.
    pub const fn has_decimals(self) -> bool {
        self.decimals > 0
    }

    /// The nearest float; `None` if the number is too large for one.
    #[expect(clippy::cast_precision_loss, reason = "both numbers are exact as floats")]
    pub fn to_f64(self) -> Option<f64> {
        match (self.digits, TENS.get(self.decimals)) {
            // Division of two exact floats is correctly rounded.
            (Some(digits), Some(tens)) if digits <= EXACT_FLOAT && *tens <= EXACT_FLOAT => {
                let size = digits as f64 / *tens as f64;
                Some(if self.is_negative { -size } else { size })
            }
            _ => self.text.parse().ok().filter(|float: &f64| float.is_finite()),
        }
    }
}

#[cfg(test)]
mod tests;
