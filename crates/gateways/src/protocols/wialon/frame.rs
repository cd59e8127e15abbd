//! Wialon IPS frames: lines that begin with `#`, by UDP with the version and the identifier of the device before it. A
//! block of a photo is a line and the bytes after it.

use crate::framer::{Framer, Step, delimited, find};
use crate::sniff::Sniff;

/// A line may contain many records from a device's memory.
pub(super) const MAX: usize = 64 * 1024;

/// Maximum number of bytes of a block of a photo.
const BLOCK_MAX: usize = 60 * 1024;

/// Splits a stream into Wialon IPS frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct WialonFramer;

impl Framer for WialonFramer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        match block(bytes) {
            Some(step) => step,
            None => delimited(bytes, MAX - 1, |byte| matches!(byte, b'\r' | b'\n')),
        }
    }
}

/// The frame of a block, `#I#size;…` with its bytes; none if the bytes do not begin with one.
fn block(bytes: &[u8]) -> Option<Step<'_>> {
    let content = bytes.strip_prefix(b"#I#")?;
    let line = match find(content.get(..256).unwrap_or(content), b"\r\n") {
        Some(end) => end,
        None if content.len() < 256 => return Some(Step::Wait),
        None => return None,
    };
    let size = content.get(..line)?.split(|byte| *byte == b';').next()?;
    let size: usize = std::str::from_utf8(size).ok()?.parse().ok().filter(|size| *size <= BLOCK_MAX)?;
    Some(Step::whole(bytes, 3 + line + 2 + size))
}

/// A known type between two `#`, or a version, which precedes them by UDP.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    ["#L#", "#P#", "#D#", "#SD#", "#B#", "#M#", "2.0;", "2.1;"]
        .iter()
        .fold(Sniff::No, |best, prefix| best.or(Sniff::prefix(bytes, prefix.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_a_line_and_its_bytes() {
        let stream = b"#I#4;0;1;070512;124010;a.jpg\r\n\r\n#D#P#\r\n";
        let Step::Frame { consumed, .. } = WialonFramer.step(stream) else { panic!("no frame") };
        assert_eq!(stream.get(consumed..), Some(&b"#P#\r\n"[..]));
        for cut in 0..consumed {
            assert!(matches!(WialonFramer.step(stream.get(..cut).unwrap()), Step::Wait), "{cut}");
        }
        assert!(matches!(WialonFramer.step(b"#I#9999999;0\r\n"), Step::Frame { consumed: 13, .. }));
    }
}
