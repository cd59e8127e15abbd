//! The header of a chunk: count and times of its locations, and the directory of its columns.

use perigee_core::time::Timestamp;

use super::BLOCK;
use crate::codec::bytes::{CodecError, Reader, Writer};

const VERSION: u8 = 1;
const CHECKSUM_LEN: usize = 4;

/// Count and times of the locations of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many locations it has.
    pub count: usize,
    /// The fix time of the first location.
    pub first: Timestamp,
    /// The fix time of the last location.
    pub last: Timestamp,
}

/// Reads the summary of a chunk. Neither the columns nor the checksum are read.
pub fn chunk_summary(bytes: &[u8]) -> Result<Summary, CodecError> {
    read_summary(&mut Reader::new(bytes))
}

/// A column, still packed.
pub(super) struct Column<B> {
    /// The number of the field; see [`super::field::id`].
    pub(super) id: u8,
    pub(super) body: B,
}

/// The columns of a chunk, in ascending order of their ids.
pub(super) type Columns<'a> = Vec<Column<&'a [u8]>>;

/// Writes a chunk from its packed columns.
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

/// Checks the checksum of a chunk and finds its columns.
pub(super) fn read_chunk(bytes: &[u8]) -> Result<(Summary, Columns<'_>), CodecError> {
    // The version comes first: a future one may have another checksum.
    chunk_summary(bytes)?;
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_LEN>().ok_or(CodecError::Short)?;
    if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
        return Err(CodecError::Checksum);
    }
    let mut input = Reader::new(content);
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
    // Each block of the column of times takes at least a byte; so a damaged count cannot cause a large allocation.
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
