//! The operator's file of map tiles (`PMTiles`, version 3), read by byte ranges.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::config::{ConfigError, Map};

/// Length of the header of a `PMTiles` file.
const HEADER_BYTES: usize = 127;
/// Bytes of one range at most. A tile or a directory is far smaller.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// A file of map tiles.
#[derive(Clone, Debug)]
pub struct Tiles {
    path: PathBuf,
    facts: TileFacts,
}

/// The header of a tile file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TileFacts {
    /// Whether its tiles are vector tiles, not images.
    pub is_vector: bool,
    /// The first zoom that has tiles.
    pub min_zoom: u8,
    /// The last zoom that has tiles.
    pub max_zoom: u8,
    /// West, south, east and north, in degrees; none for the world.
    pub bounds: Option<[f64; 4]>,
}

impl Tiles {
    /// The file in the settings, if one is set.
    pub fn open(map: &Map) -> Result<Option<Self>, ConfigError> {
        if map.pmtiles.as_os_str().is_empty() {
            return Ok(None);
        }
        let opened = Self::of_file(&map.pmtiles);
        opened.map(Some).map_err(|problem| ConfigError { key: "map.pmtiles", problem })
    }

    /// Opens the file at this path, or returns what is wrong with it.
    pub fn of_file(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let header = read_header(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let facts = TileFacts::of(&header).ok_or_else(|| {
            format!("{shown} is not a PMTiles file of version 3 with vector or image tiles")
        })?;
        Ok(Self { path: path.to_owned(), facts })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tile type, zoom levels and bounds from the header of the file.
    pub const fn facts(&self) -> TileFacts {
        self.facts
    }

    /// Reads a range of the file. If the range is outside the file, returns the size of the file. The file is opened
    /// each time, because the operator may replace it; the tag then changes.
    pub fn read(&self, range: ByteRange) -> io::Result<Result<TilePart, u64>> {
        let file = File::open(&self.path)?;
        let about = file.metadata()?;
        let size = about.len();
        let Some((first, length)) = range.within(size) else { return Ok(Err(size)) };
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file.read_exact_at(&mut bytes, first)?;
        let changed = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Ok(Ok(TilePart { bytes, first, size, tag: format!("\"{changed:x}-{size:x}\"") }))
    }
}

fn read_header(path: &Path) -> io::Result<[u8; HEADER_BYTES]> {
    let mut header = [0; HEADER_BYTES];
    File::open(path)?.read_exact_at(&mut header, 0)?;
    Ok(header)
}

impl TileFacts {
    fn of(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let degrees = |at: usize| {
            let bytes = header.get(at..at + 4)?.try_into().ok()?;
            Some(f64::from(i32::from_le_bytes(bytes)) / 1e7)
        };
        let is_vector = match header[99] {
            1 => true,
            2..=5 => false,
            _ => return None,
        };
        let bounds = [degrees(102)?, degrees(106)?, degrees(110)?, degrees(114)?];
        header.starts_with(b"PMTiles\x03").then_some(Self {
            is_vector,
            min_zoom: header[100],
            max_zoom: header[101],
            bounds: Some(bounds),
        })
    }
}

/// A range of the file, and the version of the file it was read from.
#[derive(Debug)]
pub struct TilePart {
    /// The bytes of the range.
    pub bytes: Vec<u8>,
    /// Offset of the first byte.
    pub first: u64,
    /// Size of the whole file.
    pub size: u64,
    /// Entity tag, which changes when the file is replaced.
    pub tag: String,
}

/// One range of bytes, as RFC 9110 (section 14.1.2) defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// From the first offset to the second, inclusive; to the end without a second.
    From(u64, Option<u64>),
    /// This many bytes at the end of the file.
    Last(u64),
}

impl ByteRange {
    /// Reads the value of a `Range` header with one range.
    pub fn read(text: &str) -> Option<Self> {
        let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
        match (first.trim(), last.trim()) {
            ("", last) => last.parse().ok().map(Self::Last),
            (first, "") => Some(Self::From(first.parse().ok()?, None)),
            (first, last) => {
                let (first, last) = (first.parse().ok()?, last.parse().ok()?);
                (first <= last).then_some(Self::From(first, Some(last)))
            }
        }
    }

    /// Offset and length within a file of this size; `None` if the range is outside of it.
    fn within(self, size: u64) -> Option<(u64, u64)> {
        let (first, end) = match self {
            Self::From(first, last) => (first, last.map_or(size, |last| last.saturating_add(1).min(size))),
            Self::Last(count) => (size.saturating_sub(count), size),
        };
        (first < end).then(|| (first, (end - first).min(MOST_BYTES)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_to_the_file() {
        let check = |text: &str, expect: Option<(u64, u64)>| {
            assert_eq!(ByteRange::read(text).and_then(|range| range.within(1_000)), expect, "{text}");
        };
        check("bytes=0-0", Some((0, 1)));
        check("bytes=10-19", Some((10, 10)));
        check("bytes=990-2000", Some((990, 10)));
        check("bytes=0-18446744073709551615", Some((0, 1_000)));
        check("bytes=-10", Some((990, 10)));
        check("bytes=-5000", Some((0, 1_000)));
        check("bytes=999-", Some((999, 1)));
        for nothing in ["bytes=1000-", "bytes=-0", "bytes=9-3", "bytes=a-b", "bytes=0-1,3-4", "lines=0-1", ""]
        {
            check(nothing, None);
        }
        assert_eq!(ByteRange::From(0, None).within(u64::MAX), Some((0, MOST_BYTES)));
    }
}
