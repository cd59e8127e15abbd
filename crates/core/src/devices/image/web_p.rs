//! WebP: a RIFF file of chunks with name, length and data, padded to an even length.

use super::{Stripped, u32_le};

const HEADER: usize = 12;
/// The flags of `VP8X` that announce what is left out: Exif, XMP and animation.
const LEFT_OUT: u8 = 0x08 | 0x04 | 0x02;

pub(super) fn strip(bytes: &[u8]) -> Stripped {
    let mut picture = Vec::with_capacity(bytes.len());
    picture.extend_from_slice(bytes.get(..HEADER)?);
    let (mut at, mut image, mut canvas) = (HEADER, None, None);
    let riff_end = usize::try_from(u32_le(bytes, 4)?).ok()?.checked_add(8)?.min(bytes.len());
    while at + 8 <= riff_end {
        let name = bytes.get(at..at + 4)?;
        let length = usize::try_from(u32_le(bytes, at + 4)?).ok()?;
        let data = bytes.get(at + 8..(at + 8).checked_add(length)?)?;
        match name {
            b"VP8 " => image = Some(lossy_size(data)?),
            b"VP8L" => image = Some(lossless_size(data)?),
            b"VP8X" => canvas = Some(canvas_size(data)?),
            _ => {}
        }
        if matches!(name, b"VP8 " | b"VP8L" | b"VP8X" | b"ALPH" | b"ICCP") {
            let start = picture.len();
            picture.extend_from_slice(bytes.get(at..at + 8 + length)?);
            if name == b"VP8X" {
                *picture.get_mut(start + 8)? &= !LEFT_OUT;
            }
            picture.extend_from_slice(&[0][..length % 2]);
        }
        at = at.checked_add(8 + length + length % 2)?;
    }
    let riff = u32::try_from(picture.len().checked_sub(8)?).ok()?;
    picture.get_mut(4..8)?.copy_from_slice(&riff.to_le_bytes());
    let (width, height) = image?;
    let (wide, high) = canvas.unwrap_or_default();
    Some((picture, (width.max(wide), height.max(high))))
}

/// Width and height of a key frame: 14 bits each, after the frame tag and the start code.
fn lossy_size(data: &[u8]) -> Option<(u32, u32)> {
    (data.get(3..6)? == b"\x9d\x01\x2a").then_some(())?;
    let both = u32_le(data, 6)?;
    Some((both & 0x3fff, both >> 16 & 0x3fff))
}

/// Width and height: stored minus one, 14 bits each, after the signature.
fn lossless_size(data: &[u8]) -> Option<(u32, u32)> {
    (*data.first()? == 0x2f).then_some(())?;
    let bits = u32_le(data, 1)?;
    Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
}

/// Width and height: stored minus one, 24 bits each, after flags and three reserved bytes.
fn canvas_size(data: &[u8]) -> Option<(u32, u32)> {
    let three = |at: usize| {
        let bytes = data.get(at..at + 3)?;
        Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)) + 1)
    };
    Some((three(4)?, three(7)?))
}
