//! What stands before the columns: how many locations, from when to when, and where each column lies.

use perigee_core::time::Timestamp;

use super::BLOCK;
use crate::codec::bytes::{CodecError, Reader, Writer};

const VERSION: u8 = 1;
const CHECKSUM_LEN: usize = 4;

/// What a chunk holds, told by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many locations.
    pub count: usize,
    /// The time of the first.
    pub first: Timestamp,
    /// The time of the last.
    pub last: Timestamp,
}

/// Tells what a chunk holds. Only the header is read: neither the rest nor the checksum is looked at.
pub fn chunk_summary(bytes: &[u8]) -> Result<Summary, CodecError> {
    read_summary(&mut Reader::new(bytes))
}

/// A column, still packed.
pub(super) struct Column<B> {
    /// Which field it is of.
    pub(super) id: u8,
    /// Its bytes.
    pub(super) body: B,
}

/// The columns of a chunk in the order in which they lie.
pub(super) type Columns<'a> = Vec<Column<&'a [u8]>>;

/// Puts a chunk together.
pub(super) fn write_chunk(summary: Summary, columns: &[Column<Vec<u8>>]) -> Vec<u8> {
    let length: usize = columns.iter().map(|column| column.body.len() + 4).sum();
    let mut out = Writer::with_capacity(length + 32);
    out.byte(VERSION);
    out.length(summary.count);
    out.signed(summary.first.as_millis());
    out.signed(summary.last.as_millis() - summary.first.as_millis());
    out.length(columns.len());
    for column in columns {
        out.byte(column.id);
        out.length(column.body.len());
    }
    for column in columns {
        out.raw(&column.body);
    }
    let mut bytes = out.into_bytes();
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Takes a chunk apart.
pub(super) fn read_chunk(bytes: &[u8]) -> Result<(Summary, Columns<'_>), CodecError> {
    // A version to come may be checked in another way, so this goes first.
    chunk_summary(bytes)?;
    let (told, checksum) = bytes.split_last_chunk::<CHECKSUM_LEN>().ok_or(CodecError::Short)?;
    if crc32fast::hash(told) != u32::from_le_bytes(*checksum) {
        return Err(CodecError::Checksum);
    }
    let mut input = Reader::new(told);
    let summary = read_summary(&mut input)?;
    let mut directory = Vec::new();
    for _ in 0..input.length()? {
        directory.push((input.byte()?, input.length()?));
    }
    let mut columns = Vec::with_capacity(directory.len());
    for (id, length) in directory {
        columns.push(Column { id, body: input.raw(length)? });
    }
    input.end()?;
    // Each block of the times takes at least a byte, so no count can ask for more memory than was sent.
    let times = columns.first().map_or(0, |column| column.body.len());
    if summary.count > times.saturating_mul(BLOCK) {
        return Err(CodecError::Malformed);
    }
    Ok((summary, columns))
}

fn read_summary(input: &mut Reader<'_>) -> Result<Summary, CodecError> {
    let version = input.byte()?;
    if version != VERSION {
        return Err(CodecError::Version(version));
    }
    let count = usize::try_from(input.unsigned()?).map_err(|_too_large| CodecError::Malformed)?;
    let first = Timestamp::from_millis(input.signed()?);
    let last = first.plus_millis(input.signed()?);
    Ok(Summary { count, first, last })
}
