//! A cursor over bytes whose every read is checked.

use std::fmt::Write as _;

use crate::decoded::DecodeError;

/// A cursor over the unread bytes of a frame. A read past the end is [`DecodeError::Short`] and consumes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
}

macro_rules! integers {
    ($($name:ident, $name_le:ident: $type:ty, $width:literal;)*) => {$(
        #[doc = concat!("Reads a big-endian `", stringify!($type), "`.")]
        pub fn $name(&mut self) -> Result<$type, DecodeError> {
            self.array::<$width>().map(<$type>::from_be_bytes)
        }
        #[doc = concat!("Reads a little-endian `", stringify!($type), "`.")]
        pub fn $name_le(&mut self) -> Result<$type, DecodeError> {
            self.array::<$width>().map(<$type>::from_le_bytes)
        }
    )*};
}

impl<'a> Reader<'a> {
    /// A cursor at the first byte.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, length: bytes.len() }
    }

    integers! {
        u16, u16_le: u16, 2;
        i16, i16_le: i16, 2;
        u32, u32_le: u32, 4;
        i32, i32_le: i32, 4;
        u64, u64_le: u64, 8;
        i64, i64_le: i64, 8;
        f32, f32_le: f32, 4;
        f64, f64_le: f64, 8;
    }

    /// Bytes not read yet.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether everything was read.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Bytes read so far.
    pub const fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    /// The bytes that are not read yet, without reading them.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The byte this far ahead, without reading it.
    pub fn peek(&self, ahead: usize) -> Option<u8> {
        self.rest.get(ahead).copied()
    }

    /// The big-endian number of two bytes this far ahead, without reading it.
    pub fn peek_u16(&self, ahead: usize) -> Option<u16> {
        Some(u16::from_be_bytes([self.peek(ahead)?, self.peek(ahead + 1)?]))
    }

    /// Reads this many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(DecodeError::Short)?;
        self.rest = rest;
        Ok(head)
    }

    /// Reads all remaining bytes.
    pub const fn take_rest(&mut self) -> &'a [u8] {
        let rest = self.rest;
        self.rest = &[];
        rest
    }

    /// Reads this many bytes into a cursor of their own.
    pub fn sub(&mut self, count: usize) -> Result<Reader<'a>, DecodeError> {
        self.take(count).map(Reader::new)
    }

    /// Skips this many bytes.
    pub fn skip(&mut self, count: usize) -> Result<(), DecodeError> {
        self.take(count).map(|_passed| ())
    }

    /// Reads `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(DecodeError::Short)?;
        self.rest = rest;
        Ok(*head)
    }

    /// Reads one byte.
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        let (head, rest) = self.rest.split_first().ok_or(DecodeError::Short)?;
        self.rest = rest;
        Ok(*head)
    }

    /// Reads one byte with its sign.
    pub fn i8(&mut self) -> Result<i8, DecodeError> {
        self.array().map(i8::from_be_bytes)
    }

    /// Reads a big-endian number of three bytes.
    pub fn u24(&mut self) -> Result<u32, DecodeError> {
        let [high, middle, low] = self.array()?;
        Ok(u32::from_be_bytes([0, high, middle, low]))
    }

    /// Reads a big-endian number of this many bytes, at most eight.
    pub fn uint(&mut self, width: usize) -> Result<u64, DecodeError> {
        if width > 8 {
            return Err(DecodeError::Malformed("a number has more than eight bytes"));
        }
        Ok(self.take(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Reads two decimal digits of packed BCD; anything else is malformed.
    pub fn bcd(&mut self) -> Result<u8, DecodeError> {
        let byte = self.u8()?;
        let (tens, ones) = (byte >> 4, byte & 0x0f);
        if tens > 9 || ones > 9 {
            return Err(DecodeError::Malformed("a character is not a decimal digit"));
        }
        Ok(tens * 10 + ones)
    }

    /// Reads this many bytes as lower-case hexadecimal digits.
    pub fn hex(&mut self, count: usize) -> Result<String, DecodeError> {
        Ok(hex_digits(self.take(count)?))
    }

    /// Reads this many bytes as text; invalid UTF-8 is replaced.
    pub fn text(&mut self, count: usize) -> Result<String, DecodeError> {
        Ok(String::from_utf8_lossy(self.take(count)?).into_owned())
    }
}

/// Lower-case hexadecimal digits.
pub fn hex_digits(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a `String` never fails.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_only_what_is_there() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.u32(), Err(DecodeError::Short));
        assert_eq!(reader.u16(), Ok(0x0102));
        assert_eq!((reader.position(), reader.remaining()), (2, 1));
        assert_eq!(reader.peek_u16(0), None);
        assert_eq!(reader.u8(), Ok(3));
        assert_eq!(reader.u8(), Err(DecodeError::Short));
        assert!(reader.is_empty());
    }

    #[test]
    fn reads_odd_widths_and_digits() {
        assert_eq!(Reader::new(&[1, 0, 2]).u24(), Ok(0x01_0002));
        assert_eq!(Reader::new(&[0x12, 0x34, 0x56]).uint(3), Ok(0x12_3456));
        assert_eq!(Reader::new(&[0x59]).bcd(), Ok(59));
        assert!(Reader::new(&[0x5a]).bcd().is_err());
        assert_eq!(Reader::new(&[0xab, 0x01]).hex(2), Ok("ab01".to_owned()));
    }
}
