//! The plan of a copy: one record of fixed length for each entry of the directories to be written, in a file, so that a
//! large area needs no memory.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::directory::Entry;

/// Length of a record.
pub(super) const RECORD_BYTES: u64 = 32;
const RECORD_LENGTH: usize = 32;
/// Set in the length of a record whose content is written at this point.
const NEW: u32 = 1 << 31;
/// Set beside it if the content lies before that of an earlier tile in the source.
const EARLIER: u32 = 1 << 30;

/// A run of tiles, where their content is in the source, and where it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) id: u64,
    pub(super) source: u64,
    pub(super) output: u64,
    pub(super) length: u32,
    pub(super) run: u32,
    pub(super) content: Content,
}

/// When the content of a record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// It was written for an earlier record.
    Known,
    /// With this record; in the source it follows all before.
    Next,
    /// With this record; in the source it lies before others.
    Earlier,
}

impl Record {
    pub(super) const fn entry(&self) -> Entry {
        Entry { id: self.id, offset: self.output, length: self.length, run: self.run }
    }

    fn write(&self) -> [u8; RECORD_LENGTH] {
        let mut bytes = [0; RECORD_LENGTH];
        bytes[..8].copy_from_slice(&self.id.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.source.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.output.to_le_bytes());
        let flags = match self.content {
            Content::Known => 0,
            Content::Next => NEW,
            Content::Earlier => NEW | EARLIER,
        };
        bytes[24..28].copy_from_slice(&(self.length | flags).to_le_bytes());
        bytes[28..].copy_from_slice(&self.run.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8; RECORD_LENGTH]) -> Self {
        let long =
            |at: usize| bytes[at..at + 8].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let short =
            |at: usize| bytes[at..at + 4].iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        let length = short(24);
        let content = match (length & NEW != 0, length & EARLIER != 0) {
            (false, _) => Content::Known,
            (true, false) => Content::Next,
            (true, true) => Content::Earlier,
        };
        Self {
            id: long(0),
            source: long(8),
            output: long(16),
            length: length & !(NEW | EARLIER),
            run: short(28),
            content,
        }
    }
}

/// Writes records one after the other.
pub(super) struct RecordWriter {
    file: BufWriter<File>,
    count: u64,
}

impl RecordWriter {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(Self { file: BufWriter::with_capacity(128 * 1024, file), count: 0 })
    }

    /// Adds a record and returns its number.
    pub(super) fn add(&mut self, record: &Record) -> io::Result<u64> {
        self.file.write_all(&record.write())?;
        self.count += 1;
        Ok(self.count - 1)
    }

    /// Reads up to this many records from a number on.
    pub(super) fn read(&mut self, from: u64, count: usize) -> io::Result<Vec<Record>> {
        self.file.flush()?;
        let rest = usize::try_from(self.count.saturating_sub(from)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; count.min(rest) * RECORD_LENGTH];
        self.file.get_ref().read_exact_at(&mut bytes, from * RECORD_BYTES)?;
        Ok(bytes.as_chunks().0.iter().map(Record::read).collect())
    }

    /// Writes everything to the disk and returns the number of records.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        Ok(self.count)
    }
}

/// Reads the records of a file from a number on.
pub(super) struct RecordReader(BufReader<File>);

impl RecordReader {
    pub(super) fn open(path: &Path, from: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from * RECORD_BYTES))?;
        Ok(Self(BufReader::with_capacity(128 * 1024, file)))
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Record>> {
        if self.0.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut bytes = [0; RECORD_LENGTH];
        self.0.read_exact(&mut bytes)?;
        Ok(Some(Record::read(&bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan");
        let record = |id: u64, content| Record {
            id,
            source: id * 1_000_000_007,
            output: u64::MAX - id,
            length: 4 * 1024 * 1024,
            run: u32::MAX,
            content,
        };
        let all: Vec<Record> = [Content::Next, Content::Known, Content::Earlier, Content::Next]
            .into_iter()
            .zip(7..)
            .map(|(content, id)| record(id, content))
            .collect();
        let mut writer = RecordWriter::create(&path).unwrap();
        for (number, one) in all.iter().enumerate() {
            assert_eq!(writer.add(one).unwrap(), number as u64);
        }
        assert_eq!(writer.read(1, 100).unwrap(), all[1..]);
        assert_eq!(writer.finish().unwrap(), 4);
        let mut reader = RecordReader::open(&path, 2).unwrap();
        let rest: Vec<Record> = std::iter::from_fn(|| reader.next().unwrap()).collect();
        assert_eq!(rest, all[2..]);
    }
}
