//! Varints, texts and bits, the elements of all formats. The reader accepts only bytes that the writer can produce.

use std::collections::BTreeMap;

/// Why bytes cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// They were written by a version that this program does not know.
    #[error("packed by an unknown version ({0})")]
    Version(u8),
    /// They end too early.
    #[error("packed bytes end too early")]
    Short,
    /// They continue after the end.
    #[error("packed bytes continue after the end")]
    Long,
    /// They contain a value that is never written.
    #[error("packed bytes are not canonical")]
    Malformed,
    /// Their checksum is wrong: they were damaged.
    #[error("packed bytes do not match their checksum")]
    Checksum,
}

/// The longest varint: ten bytes of seven bits hold 64 bits.
const VARINT_MAX: u32 = 10;

/// Appends values to a buffer.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// A varint: seven bits a byte, lowest first; the high bit is set in all bytes but the last.
    pub(crate) fn unsigned(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
            number >>= 7;
        }
        self.0.push(u8::try_from(number).unwrap_or_default());
    }

    /// A zigzag varint: numbers near zero are short whatever their sign (0, -1, 1, -2 become 0, 1, 2, 3).
    pub(crate) fn signed(&mut self, number: i64) {
        self.unsigned(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    pub(crate) fn length(&mut self, length: usize) {
        self.unsigned(u64::try_from(length).unwrap_or(u64::MAX));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.length(text.len());
        self.raw(text.as_bytes());
    }

    pub(crate) fn texts(&mut self, texts: &[String]) {
        self.length(texts.len());
        for text in texts {
            self.text(text);
        }
    }

    pub(crate) fn bits(&mut self, bits: &[bool]) {
        self.length(bits.len());
        for eight in bits.chunks(8) {
            self.byte(eight.iter().rev().fold(0, |byte, bit| (byte << 1) | u8::from(*bit)));
        }
    }
}

/// Reads values back, and refuses bytes that the writer would not have written.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// A reader of the bytes between the version and the CRC-32 at the end, both of which must be correct.
    pub(super) fn checked(bytes: &'a [u8], version: u8) -> Result<Self, CodecError> {
        let (content, checksum) = bytes.split_last_chunk::<4>().ok_or(CodecError::Short)?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return Err(CodecError::Checksum);
        }
        let mut input = Self::new(content);
        match input.byte()? {
            found if found == version => Ok(input),
            other => Err(CodecError::Version(other)),
        }
    }

    /// An error unless all bytes were read.
    pub(super) const fn end(&self) -> Result<(), CodecError> {
        if self.0.is_empty() { Ok(()) } else { Err(CodecError::Long) }
    }

    pub(super) fn byte(&mut self) -> Result<u8, CodecError> {
        let (first, rest) = self.0.split_first().ok_or(CodecError::Short)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn raw(&mut self, length: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(CodecError::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn unsigned(&mut self) -> Result<u64, CodecError> {
        let mut number = 0_u64;
        for index in 0..VARINT_MAX {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            let shifted = bits << (7 * index);
            if shifted >> (7 * index) != bits || (byte == 0 && index > 0) {
                return Err(CodecError::Malformed);
            }
            number |= shifted;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(CodecError::Malformed)
    }

    pub(super) fn signed(&mut self) -> Result<i64, CodecError> {
        let folded = self.unsigned()?;
        Ok((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }

    /// Reads a count of items that take at least a byte each, so that damaged bytes cannot cause a large allocation.
    pub(super) fn length(&mut self) -> Result<usize, CodecError> {
        let length = usize::try_from(self.unsigned()?).map_err(|_too_large| CodecError::Malformed)?;
        if length > self.0.len() { Err(CodecError::Short) } else { Ok(length) }
    }

    pub(super) fn text(&mut self) -> Result<String, CodecError> {
        let length = self.length()?;
        let text = std::str::from_utf8(self.raw(length)?).map_err(|_detail| CodecError::Malformed)?;
        Ok(text.to_owned())
    }

    pub(super) fn texts(&mut self) -> Result<Vec<String>, CodecError> {
        (0..self.length()?).map(|_| self.text()).collect()
    }

    pub(super) fn bits(&mut self) -> Result<Vec<bool>, CodecError> {
        let count = usize::try_from(self.unsigned()?).map_err(|_too_large| CodecError::Malformed)?;
        let bytes = self.raw(count.div_ceil(8))?;
        let bit = |index: usize| bytes.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
        if (count..bytes.len() * 8).any(bit) {
            return Err(CodecError::Malformed);
        }
        Ok((0..count).map(bit).collect())
    }

    /// A map, whose keys must ascend.
    pub(super) fn map<T>(
        &mut self,
        mut value: impl FnMut(&mut Self) -> Result<T, CodecError>,
    ) -> Result<BTreeMap<String, T>, CodecError> {
        let mut map = BTreeMap::new();
        for _ in 0..self.length()? {
            let key = self.text()?;
            if map.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return Err(CodecError::Malformed);
            }
            map.insert(key, value(self)?);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_and_stay_short() {
        let check = |number: i64, length: usize| {
            let mut writer = Writer::default();
            writer.signed(number);
            let bytes = writer.into_bytes();
            assert_eq!(bytes.len(), length, "{number}");
            assert_eq!(Reader::new(&bytes).signed(), Ok(number));
        };
        check(0, 1);
        check(-1, 1);
        check(63, 1);
        check(-64, 1);
        check(64, 2);
        check(i64::MAX, 10);
        check(i64::MIN, 10);
    }

    #[test]
    fn refuses_what_writing_never_makes() {
        let unsigned = |bytes: &[u8]| Reader::new(bytes).unsigned();
        assert_eq!(unsigned(&[]), Err(CodecError::Short));
        assert_eq!(unsigned(&[0x80]), Err(CodecError::Short));
        assert_eq!(unsigned(&[0x80, 0x00]), Err(CodecError::Malformed));
        assert_eq!(unsigned(&[0xff; 11]), Err(CodecError::Malformed));
        assert_eq!(
            unsigned(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]),
            Err(CodecError::Malformed)
        );
        assert_eq!(Reader::new(&[3, 0b1000]).bits(), Err(CodecError::Malformed));
        assert_eq!(Reader::new(&[0xff, 0xff, 0x03]).texts(), Err(CodecError::Short));
        assert_eq!(Reader::new(&[1, 0xff]).text(), Err(CodecError::Malformed));
        let twice = [2, 1, b'a', 1, b'a'];
        assert_eq!(Reader::new(&twice).map(|_| Ok(())), Err(CodecError::Malformed));
    }
}
