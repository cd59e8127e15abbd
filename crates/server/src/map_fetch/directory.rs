//! Directories of a `PMTiles` file: entries sorted by tile ID, as variable-length integers.

use super::error::{Result, not_tiles};

/// Maximum number of entries of one directory.
const ENTRIES_MAX: u64 = 1_000_000;
/// Maximum length of a tile, in bytes: as much as this server sends in one answer.
pub(super) const TILE_BYTES_MAX: u32 = 4 * 1024 * 1024;
/// Maximum length of a compressed directory, in bytes.
pub(super) const DIRECTORY_BYTES_MAX: u32 = 8 * 1024 * 1024;

/// A run of tiles with the same content, or the pointer to a further directory if the run is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: u64,
    /// From the beginning of the tiles, or of the further directories.
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) run: u32,
}

impl Entry {
    /// The tile ID after the run.
    pub(super) fn end(&self) -> u64 {
        self.id + u64::from(self.run)
    }
}

/// Reads an unpacked directory. Its IDs ascend, and its runs do not overlap.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Entry>> {
    let mut numbers = Numbers(bytes);
    let count = numbers.next()?;
    // Every entry has at least four bytes.
    if count == 0 || count > ENTRIES_MAX || count.saturating_mul(4) > bytes.len() as u64 {
        return Err(not_tiles("has a directory with too many entries, or none"));
    }
    let damaged = || not_tiles("has a damaged directory");
    let mut entries = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    let mut id = 0_u64;
    for _ in 0..count {
        id = id.checked_add(numbers.next()?).ok_or_else(damaged)?;
        entries.push(Entry { id, offset: 0, length: 0, run: 0 });
    }
    for entry in &mut entries {
        entry.run = numbers.small()?;
    }
    for entry in &mut entries {
        entry.length = numbers.small()?;
        let most = if entry.run == 0 { DIRECTORY_BYTES_MAX } else { TILE_BYTES_MAX };
        if entry.length == 0 || entry.length > most {
            return Err(not_tiles("has a tile that is empty or larger than 4 MiB"));
        }
    }
    let mut contiguous = None;
    for entry in &mut entries {
        entry.offset = match (numbers.next()?, contiguous) {
            (0, Some(after)) => after,
            (0, None) => return Err(damaged()),
            (offset, _) => offset - 1,
        };
        contiguous = Some(entry.offset.checked_add(entry.length.into()).ok_or_else(damaged)?);
    }
    let ascends = entries.windows(2).all(|pair| match pair {
        [one, next] => one.id.checked_add(u64::from(one.run.max(1))).is_some_and(|end| end <= next.id),
        _ => true,
    });
    let last_fits = entries.last().is_some_and(|last| last.id.checked_add(last.run.into()).is_some());
    if ascends && last_fits { Ok(entries) } else { Err(not_tiles("has a directory that is not sorted")) }
}

/// Writes a directory, not compressed.
pub(super) fn write(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(entries.len() * 8);
    put(&mut bytes, entries.len() as u64);
    let mut before = 0;
    for entry in entries {
        put(&mut bytes, entry.id - before);
        before = entry.id;
    }
    for entry in entries {
        put(&mut bytes, entry.run.into());
    }
    for entry in entries {
        put(&mut bytes, entry.length.into());
    }
    let mut contiguous = None;
    for entry in entries {
        let is_next = contiguous == Some(entry.offset);
        put(&mut bytes, if is_next { 0 } else { entry.offset + 1 });
        contiguous = Some(entry.offset + u64::from(entry.length));
    }
    bytes
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or(0);
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

struct Numbers<'b>(&'b [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> Result<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or_else(|| not_tiles("has a damaged directory"))?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(not_tiles("has a damaged directory"))
    }

    fn small(&mut self) -> Result<u32> {
        u32::try_from(self.next()?).map_err(|_large| not_tiles("has a damaged directory"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u64, offset: u64, length: u32, run: u32) -> Entry {
        Entry { id, offset, length, run }
    }

    #[test]
    fn a_directory_is_read_as_it_was_written() {
        let entries =
            [entry(0, 0, 10, 1), entry(1, 10, 7, 4), entry(5, 0, 10, 1), entry(1 << 40, 17, 300, 200_000)];
        assert_eq!(read(&write(&entries)).unwrap(), entries);
    }

    #[test]
    fn damaged_directories_are_refused() {
        let good = write(&[entry(3, 0, 10, 1), entry(4, 10, 7, 1)]);
        for end in 0..good.len() {
            assert!(read(&good[..end]).is_err(), "cut off at {end}");
        }
        for bad in [
            [entry(3, 0, 10, 2), entry(4, 10, 7, 1)],
            [entry(3, 0, 10, 1), entry(3, 10, 7, 1)],
            [entry(3, 0, 10, 1), entry(4, 10, 0, 1)],
            [entry(3, 0, 10, 1), entry(4, 10, TILE_BYTES_MAX + 1, 1)],
            [entry(3, 0, 10, 1), entry(u64::MAX - 1, 10, 7, 3)],
        ] {
            assert!(read(&write(&bad)).is_err(), "{bad:?}");
        }
        let mut many = Vec::new();
        put(&mut many, 100_000_000);
        assert!(read(&many).is_err(), "no memory is taken for entries that are not there");
        assert!(read(&[0x80; 20]).is_err());
    }
}
