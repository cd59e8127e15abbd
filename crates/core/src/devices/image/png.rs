//! PNG: chunks with length, name, data and checksum.

use super::{Stripped, u32_be};

const SIGNATURE: usize = 8;
/// Chunks that draw the picture. Texts, times, Exif and the frames of an animation are left out.
const KEPT: [&[u8; 4]; 12] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT", b"bKGD",
    b"pHYs",
];

pub(super) fn strip(bytes: &[u8]) -> Stripped {
    let mut picture = Vec::with_capacity(bytes.len());
    picture.extend_from_slice(bytes.get(..SIGNATURE)?);
    let (mut at, mut has_data) = (SIGNATURE, false);
    (bytes.get(at + 4..at + 8)? == b"IHDR").then_some(())?;
    let size = (u32_be(bytes, at + 8)?, u32_be(bytes, at + 12)?);
    loop {
        let length = usize::try_from(u32_be(bytes, at)?).ok()?;
        let end = at.checked_add(length)?.checked_add(12)?;
        let (chunk, name) = (bytes.get(at..end)?, bytes.get(at + 4..at + 8)?);
        if KEPT.iter().any(|kept| *kept == name) {
            picture.extend_from_slice(chunk);
        }
        has_data |= name == b"IDAT";
        at = end;
        if name == b"IEND" {
            return has_data.then_some((picture, size));
        }
    }
}
