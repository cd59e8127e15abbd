//! A column of texts or other byte strings: dictionaries of distinct texts, and for each text its index in a
//! dictionary.

use std::collections::HashMap;

use super::numbers::{Numbers, write_numbers};
use crate::codec::bytes::{CodecError, Reader, Writer};

/// How many texts share one dictionary. The limit bounds the memory that a reader of damaged bytes can take.
const TEXTS_PER_DICTIONARY: usize = 1_024;

/// Writes the texts. Their count is not written.
pub(super) fn write_texts(out: &mut Writer, texts: &[Vec<u8>]) {
    for part in texts.chunks(TEXTS_PER_DICTIONARY) {
        let mut index_of = HashMap::new();
        let mut distinct = Vec::new();
        let mut codes = Vec::with_capacity(part.len());
        for text in part {
            let code = *index_of.entry(text).or_insert_with(|| {
                distinct.push(text);
                i64::try_from(distinct.len() - 1).unwrap_or_default()
            });
            codes.push(code);
        }
        out.length(distinct.len());
        for text in distinct {
            out.length(text.len());
            out.raw(text);
        }
        let mut packed = Writer::default();
        write_numbers(&mut packed, &codes);
        let packed = packed.into_bytes();
        out.length(packed.len());
        out.raw(&packed);
    }
}

/// Reads a column of texts back.
pub(super) struct Texts<'a> {
    input: Reader<'a>,
    distinct: Vec<&'a [u8]>,
    codes: Numbers<'a>,
    /// Unread texts that share the current dictionary.
    unread: usize,
    /// Texts that use later dictionaries.
    left: usize,
}

impl<'a> Texts<'a> {
    /// Opens a column of `count` texts.
    pub(super) fn open(input: Reader<'a>, count: usize) -> Result<Self, CodecError> {
        let codes = Numbers::open(Reader::new(&[]), 0)?;
        Ok(Self { input, distinct: Vec::new(), codes, unread: 0, left: count })
    }

    /// The next text; an error after the last.
    pub(super) fn next(&mut self) -> Result<&'a [u8], CodecError> {
        if self.unread == 0 {
            self.fill()?;
        }
        self.unread -= 1;
        let code = usize::try_from(self.codes.next()?).map_err(|_negative| CodecError::Malformed)?;
        self.distinct.get(code).copied().ok_or(CodecError::Malformed)
    }

    /// An error unless all texts were read.
    pub(super) fn end(&self) -> Result<(), CodecError> {
        self.codes.end()?;
        if self.left > 0 || self.unread > 0 { Err(CodecError::Long) } else { self.input.end() }
    }

    /// Opens the next dictionary.
    fn fill(&mut self) -> Result<(), CodecError> {
        let count = self.left.min(TEXTS_PER_DICTIONARY);
        if count == 0 {
            return Err(CodecError::Short);
        }
        self.codes.end()?;
        self.distinct.clear();
        for _ in 0..self.input.length()? {
            let length = self.input.length()?;
            self.distinct.push(self.input.raw(length)?);
        }
        let length = self.input.length()?;
        self.codes = Numbers::open(Reader::new(self.input.raw(length)?), count)?;
        self.unread = count;
        self.left -= count;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Writes and reads back a column; returns its size in bytes.
    fn round_trip_size(texts: &[Vec<u8>]) -> usize {
        let mut out = Writer::default();
        write_texts(&mut out, texts);
        let bytes = out.into_bytes();
        let mut column = Texts::open(Reader::new(&bytes), texts.len()).unwrap();
        for text in texts {
            assert_eq!(column.next(), Ok(&text[..]));
        }
        assert_eq!(column.end(), Ok(()));
        assert_eq!(column.next(), Err(CodecError::Short));
        bytes.len()
    }

    #[test]
    fn repeated_texts_are_written_once() {
        let texts: Vec<Vec<u8>> =
            (0..1_024).map(|index| format!("state {}", index / 300).into_bytes()).collect();
        assert!(round_trip_size(&texts) < 150);
    }

    proptest! {
        #[test]
        fn any_texts_come_back(
            few in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 1..5),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..2_100),
        ) {
            let texts: Vec<Vec<u8>> = order.iter().map(|index| index.get(&few).clone()).collect();
            round_trip_size(&texts);
        }
    }
}
