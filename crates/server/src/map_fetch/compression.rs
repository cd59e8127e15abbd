//! Compression of directories and metadata, with a limit on the size of what is unpacked.

use std::io::{self, Read, Write as _};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::error::{Result, not_tiles};

/// How directories and metadata are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Brotli,
    Zstd,
}

impl Compression {
    pub(super) const fn of(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::None),
            2 => Some(Self::Gzip),
            3 => Some(Self::Brotli),
            4 => Some(Self::Zstd),
            _ => None,
        }
    }

    pub(super) const fn number(self) -> u8 {
        match self {
            Self::None => 1,
            Self::Gzip => 2,
            Self::Brotli => 3,
            Self::Zstd => 4,
        }
    }

    /// The unpacked bytes, at most this many.
    pub(super) fn unpack(self, bytes: &[u8], most: u64) -> Result<Vec<u8>> {
        let unpacked = match self {
            Self::None => limited(bytes, most),
            Self::Gzip => limited(MultiGzDecoder::new(bytes), most),
            Self::Brotli => limited(brotli::Decompressor::new(bytes, 4_096), most),
            Self::Zstd => zstd::stream::read::Decoder::new(bytes).and_then(|inner| limited(inner, most)),
        };
        let unpacked = unpacked.map_err(|error| not_tiles(format!("has a damaged directory: {error}")))?;
        unpacked.ok_or_else(|| not_tiles("has a directory that is too large"))
    }
}

fn limited(inner: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    inner.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// The bytes in gzip, which every reader of the format knows.
pub(super) fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes)?;
    packed.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bomb_is_not_unpacked() {
        let zeros = vec![0; 1_000_000];
        let packed = gzip(&zeros).unwrap();
        assert_eq!(Compression::Gzip.unpack(&packed, 1_000_000).unwrap().len(), 1_000_000);
        assert!(Compression::Gzip.unpack(&packed, 999_999).is_err());
        assert!(Compression::Gzip.unpack(b"not gzip", 100).is_err());
        let packed = zstd::encode_all(&zeros[..], 3).unwrap();
        assert_eq!(Compression::Zstd.unpack(&packed, 1_000_000).unwrap().len(), 1_000_000);
        assert!(Compression::Zstd.unpack(&packed, 999_999).is_err());
        assert!(Compression::None.unpack(b"four", 3).is_err());
    }
}
