//! Reads a chunk: it is opened once, and only the requested columns are unpacked.

use perigee_core::locations::location::{StoredLocation, TimeRange};

use super::field::{CORE, id};
use super::header::{Column, Columns, Summary, read_chunk};
use super::numbers::Numbers;
use super::position::{Positions, Times};
use super::presence::Presence;
use super::row::{Received, Rows};
use crate::codec::bytes::{CodecError, Reader};

/// An opened chunk: its checksum was verified and its columns were found.
pub struct ChunkReader<'a> {
    summary: Summary,
    columns: Columns<'a>,
}

impl<'a> ChunkReader<'a> {
    /// Verifies the checksum and reads the directory.
    pub fn open(bytes: &'a [u8]) -> Result<Self, CodecError> {
        let (summary, columns) = read_chunk(bytes)?;
        Ok(Self { summary, columns })
    }

    /// Count and times of its locations.
    pub const fn summary(&self) -> Summary {
        self.summary
    }

    /// The locations within a range, with all fields.
    pub fn rows(&self, range: TimeRange) -> Result<Rows<'a>, CodecError> {
        let received = match self.numbers(id::DELAY) {
            Ok(delays) => Received::After(delays),
            Err(_absent) => Received::At(self.numbers(id::RECEIVED_AT)?),
        };
        let core = |column: &&Column<_>| CORE.contains(&column.id);
        let rest: Vec<_> = self.columns.iter().filter(|column| !core(column)).collect();
        Rows::open(self.positions(range)?, self.numbers(id::NUMBER)?, received, &rest)
    }

    /// Only the fix times, oldest first.
    pub(crate) fn times(&self) -> Result<Times<'a>, CodecError> {
        Ok(Times { left: self.summary.count, times: self.numbers(id::TIME)? })
    }

    /// Only times and coordinates, within a range.
    pub fn positions(&self, range: TimeRange) -> Result<Positions<'a>, CodecError> {
        Ok(Positions {
            range,
            left: self.summary.count,
            times: self.numbers(id::TIME)?,
            latitudes: self.numbers(id::LATITUDE)?,
            longitudes: self.numbers(id::LONGITUDE)?,
        })
    }

    /// A column that every location has.
    fn numbers(&self, id: u8) -> Result<Numbers<'a>, CodecError> {
        let count = self.summary.count;
        if count == 0 {
            return Numbers::open(Reader::new(&[]), 0);
        }
        let column = self.columns.iter().find(|column| column.id == id).ok_or(CodecError::Malformed)?;
        let mut input = Reader::new(column.body);
        match Presence::open(&mut input, count)? {
            (Presence::All, _) => Numbers::open(input, count),
            _ => Err(CodecError::Malformed),
        }
    }
}

/// Unpacks what [`super::pack_chunk`] made.
pub fn unpack_chunk(bytes: &[u8]) -> Result<Vec<StoredLocation>, CodecError> {
    let chunk = ChunkReader::open(bytes)?;
    let mut rows = chunk.rows(TimeRange::ALL)?;
    let mut locations = Vec::with_capacity(chunk.summary.count);
    while let Some(row) = rows.next()? {
        locations.push(row.clone());
    }
    let times = |summary: Summary| (summary.first, summary.last);
    if let (Some(first), Some(last)) = (locations.first(), locations.last())
        && times(chunk.summary) != (first.location.time, last.location.time)
    {
        return Err(CodecError::Malformed);
    }
    Ok(locations)
}
