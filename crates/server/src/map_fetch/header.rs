//! The header of a `PMTiles` file of version 3.

use super::compression::Compression;
use super::error::{Result, not_tiles};

/// Length of the header.
pub(super) const HEADER_BYTES: usize = 127;
/// The header and the root directory are within this many bytes.
pub(super) const ROOT_END: u64 = 16_384;
/// Maximum zoom level of a file that is copied.
pub(super) const ZOOM_MAX: u8 = 22;
const MAGIC: &[u8; 8] = b"PMTiles\x03";

/// A range of bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) offset: u64,
    pub(super) length: u64,
}

impl Span {
    pub(super) fn end(self) -> Option<u64> {
        self.offset.checked_add(self.length)
    }
}

/// The header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) root: Span,
    pub(super) metadata: Span,
    pub(super) leaves: Span,
    pub(super) tiles: Span,
    pub(super) addressed: u64,
    pub(super) entries: u64,
    pub(super) contents: u64,
    pub(super) clustered: bool,
    /// Of directories and metadata.
    pub(super) internal: Compression,
    /// As in the format; the tiles are copied as they are.
    pub(super) tile_compression: u8,
    /// 1: vector; 2 to 5: images.
    pub(super) tile_type: u8,
    pub(super) zooms: (u8, u8),
    /// West, south, east and north, in units of 1e-7 degrees.
    pub(super) bounds: [i32; 4],
    pub(super) center_zoom: u8,
    /// Longitude and latitude, in units of 1e-7 degrees.
    pub(super) center: [i32; 2],
}

impl Header {
    /// Reads the header of a file of this size, and checks that its parts lie within the file.
    pub(super) fn read(bytes: &[u8], size: u64) -> Result<Self> {
        let Some(bytes) = bytes.first_chunk::<HEADER_BYTES>().filter(|bytes| bytes.starts_with(MAGIC)) else {
            return Err(not_tiles("is not a PMTiles file of version 3"));
        };
        let number = |at: usize| u64::from_le_bytes(part(bytes, at));
        let degrees = |at: usize| i32::from_le_bytes(part(bytes, at));
        let span = |at: usize| Span { offset: number(at), length: number(at + 8) };
        let header = Self {
            root: span(8),
            metadata: span(24),
            leaves: span(40),
            tiles: span(56),
            addressed: number(72),
            entries: number(80),
            contents: number(88),
            clustered: bytes[96] == 1,
            internal: Compression::of(bytes[97])
                .ok_or_else(|| not_tiles("has directories in a compression that is not known"))?,
            tile_compression: bytes[98],
            tile_type: bytes[99],
            zooms: (bytes[100], bytes[101]),
            bounds: [degrees(102), degrees(106), degrees(110), degrees(114)],
            center_zoom: bytes[118],
            center: [degrees(119), degrees(123)],
        };
        header.check(size)?;
        Ok(header)
    }

    fn check(&self, size: u64) -> Result<()> {
        let inside = |span: Span| span.end().is_some_and(|end| end <= size);
        if ![self.root, self.metadata, self.leaves, self.tiles].into_iter().all(inside) {
            return Err(not_tiles("ends before its tiles do; it may be incomplete"));
        }
        if self.root.end().is_none_or(|end| end > ROOT_END) || self.root.length == 0 {
            return Err(not_tiles("has no root directory in its first 16 KiB"));
        }
        if !(1..=5).contains(&self.tile_type) {
            return Err(not_tiles("has neither vector tiles nor images"));
        }
        if self.zooms.0 > self.zooms.1 || self.zooms.1 > ZOOM_MAX {
            return Err(not_tiles("has zoom levels that do not exist"));
        }
        Ok(())
    }

    /// The bytes of the header.
    pub(super) fn write(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, MAGIC);
        for (at, span) in [(8, self.root), (24, self.metadata), (40, self.leaves), (56, self.tiles)] {
            put(at, &span.offset.to_le_bytes());
            put(at + 8, &span.length.to_le_bytes());
        }
        for (at, value) in [(72, self.addressed), (80, self.entries), (88, self.contents)] {
            put(at, &value.to_le_bytes());
        }
        let kinds = [u8::from(self.clustered), self.internal.number(), self.tile_compression, self.tile_type];
        put(96, &kinds);
        put(100, &[self.zooms.0, self.zooms.1]);
        for (at, value) in [(102, self.bounds[0]), (106, self.bounds[1]), (110, self.bounds[2])] {
            put(at, &value.to_le_bytes());
        }
        put(114, &self.bounds[3].to_le_bytes());
        put(118, &[self.center_zoom]);
        put(119, &self.center[0].to_le_bytes());
        put(123, &self.center[1].to_le_bytes());
        bytes
    }
}

fn part<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[at..at + N]);
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let span = |offset, length| Span { offset, length };
        let header = Header {
            root: span(127, 90),
            metadata: span(217, 5),
            leaves: span(222, 1_000),
            tiles: span(1_222, 7_000),
            addressed: 12,
            entries: 11,
            contents: 10,
            clustered: true,
            internal: Compression::Gzip,
            tile_compression: 2,
            tile_type: 1,
            zooms: (0, 15),
            bounds: [-94_000_000, 418_000_000, -67_000_000, 439_000_000],
            center_zoom: 7,
            center: [-80_500_000, 428_500_000],
        };
        let bytes = header.write();
        assert_eq!(Header::read(&bytes, 8_222), Ok(header));
        assert!(Header::read(&bytes, 8_221).is_err(), "the file is too short");
        let check = |change: &dyn Fn(&mut [u8; HEADER_BYTES])| {
            let mut other = bytes;
            change(&mut other);
            Header::read(&other, 8_222)
        };
        assert!(check(&|bytes| bytes[7] = 2).is_err(), "another version");
        assert!(check(&|bytes| bytes[99] = 0).is_err(), "unknown tiles");
        assert!(check(&|bytes| bytes[97] = 9).is_err(), "unknown compression");
        assert!(check(&|bytes| bytes[101] = 23).is_err(), "too deep");
        assert!(check(&|bytes| bytes[16] = 0).is_err(), "no root directory");
        assert!(check(&|bytes| bytes[63] = 255).is_err(), "beyond any file");
        assert!(Header::read(b"<html>", 6).is_err());
    }
}
