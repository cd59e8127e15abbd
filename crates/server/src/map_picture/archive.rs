//! Reads single tiles of a `PMTiles` file whose directory has one level, as that of the bundled map.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

const HEADER_BYTES: usize = 127;
/// Maximum number of bytes of the packed directory, and of an unpacked one.
const DIRECTORY_MAX: u64 = 4 * 1024 * 1024;
/// Maximum number of bytes of a packed tile, and of an unpacked one.
const TILE_MAX: u64 = 4 * 1024 * 1024;
/// Maximum number of entries of a directory.
const ENTRIES_MAX: u64 = 100_000;

/// A run of tiles with the same bytes.
#[derive(Clone, Copy, Debug)]
struct Entry {
    first: u64,
    run: u64,
    offset: u64,
    length: u64,
}

/// The directory of a file of tiles.
#[derive(Debug)]
pub(super) struct Archive {
    path: PathBuf,
    entries: Vec<Entry>,
    tiles_at: u64,
    levels: Vec<u8>,
}

impl Archive {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0)?;
        let number = |at: usize| {
            let bytes = header.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        // Gzip for the directory and for tiles, which are vector tiles.
        if !header.starts_with(b"PMTiles\x03") || header[97] != 2 || header[98] != 2 || header[99] != 1 {
            return Err(io::Error::other("not a file of gzipped vector tiles"));
        }
        let packed = read_at(&file, number(8), number(16), DIRECTORY_MAX)?;
        let directory = unpack(&packed, DIRECTORY_MAX)?;
        let entries =
            read_directory(&directory).ok_or_else(|| io::Error::other("the directory is damaged"))?;
        let mut levels: Vec<u8> = entries.iter().map(|entry| level_of(entry.first)).collect();
        levels.sort_unstable();
        levels.dedup();
        Ok(Self { path: path.to_owned(), entries, tiles_at: number(56), levels })
    }

    /// The level of the tiles that are drawn at this zoom: two zooms share the coarser tiles.
    pub(super) fn level_for(&self, zoom: u8) -> u8 {
        let coarse = self.levels.iter().rev().find(|level| **level <= zoom);
        coarse.or(self.levels.first()).copied().unwrap_or(0)
    }

    /// The bytes of a tile; `None` if there is none, or it cannot be read.
    pub(super) fn tile(&self, level: u8, x: i32, y: i32) -> Option<Vec<u8>> {
        let id = tile_id(level, u64::try_from(x).ok()?, u64::try_from(y).ok()?);
        let after = self.entries.partition_point(|entry| entry.first <= id);
        let entry = self.entries.get(after.checked_sub(1)?)?;
        if id - entry.first >= entry.run {
            return None;
        }
        let file = File::open(&self.path).ok()?;
        let packed = read_at(&file, self.tiles_at.checked_add(entry.offset)?, entry.length, TILE_MAX).ok()?;
        unpack(&packed, TILE_MAX).ok()
    }
}

fn read_at(file: &File, offset: u64, length: u64, most: u64) -> io::Result<Vec<u8>> {
    if length > most {
        return Err(io::Error::other("a part of the file is too long"));
    }
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

fn unpack(bytes: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes).take(most).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

fn read_directory(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut at = 0;
    let mut next = || super::tile::varint(bytes, &mut at);
    let count = next().filter(|count| *count <= ENTRIES_MAX)?;
    let mut entries = Vec::new();
    let mut first = 0_u64;
    for _ in 0..count {
        first = first.checked_add(next()?)?;
        entries.push(Entry { first, run: 0, offset: 0, length: 0 });
    }
    for entry in &mut entries {
        entry.run = next()?;
    }
    for entry in &mut entries {
        entry.length = next()?;
    }
    let mut end = 0_u64;
    for entry in &mut entries {
        // 0 stands for "after the previous one".
        entry.offset = match next()? {
            0 => end,
            offset => offset - 1,
        };
        end = entry.offset.checked_add(entry.length)?;
    }
    Some(entries)
}

/// Tiles of all levels below this one.
fn below(level: u8) -> u64 {
    (0..level).map(|level| 1_u64 << (2 * u32::from(level))).sum()
}

fn level_of(id: u64) -> u8 {
    (0..=20).rev().find(|level| below(*level) <= id).unwrap_or(0)
}

/// The number of a tile: levels one after the other, each along a Hilbert curve.
fn tile_id(level: u8, mut x: u64, mut y: u64) -> u64 {
    let mut along = 0;
    let mut half = (1_u64 << level) / 2;
    while half > 0 {
        let (right, down) = (u64::from(x & half > 0), u64::from(y & half > 0));
        along += half * half * ((3 * right) ^ down);
        if down == 0 {
            if right == 1 {
                (x, y) = ((half - 1).wrapping_sub(x), (half - 1).wrapping_sub(y));
            }
            (x, y) = (y, x);
        }
        half /= 2;
    }
    below(level) + along
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_numbered_along_the_curve() {
        let check = |(level, x, y), id| assert_eq!(tile_id(level, x, y), id, "{level}/{x}/{y}");
        check((0, 0, 0), 0);
        check((1, 0, 0), 1);
        check((1, 0, 1), 2);
        check((1, 1, 1), 3);
        check((1, 1, 0), 4);
        check((2, 0, 0), 5);
        assert_eq!((level_of(0), level_of(4), level_of(5)), (0, 1, 2));
        let mut ids: Vec<u64> = (0..64).map(|at| tile_id(3, at % 8, at / 8)).collect();
        ids.sort_unstable();
        assert_eq!(ids, (21..85).collect::<Vec<_>>());
    }
}
