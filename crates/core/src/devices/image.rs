//! Reads the header of an image and removes everything but the picture: position, camera, texts. No pixel is decoded.
//!
//! Photos of telephones carry the position where they were taken. A header of a few bytes may also claim a picture of
//! gigabytes, which every browser that shows it would have to unpack.

mod jpeg;
mod png;
mod web_p;

use crate::devices::device_file::MediaType;

/// Maximum length of an image's longer side, in pixels.
pub const SIDE_MAX: u32 = 8_192;
/// Maximum number of pixels of an image; a browser needs four bytes for each.
pub const PIXELS_MAX: u64 = 32_000_000;

/// Why an image is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The bytes are of another format, damaged, or an animation.
    #[error("not a JPEG, PNG or WebP image, or damaged")]
    Unreadable,
    /// The header states more pixels than [`SIDE_MAX`] or [`PIXELS_MAX`] allow.
    #[error("an image of {0} x {1} pixels is too large")]
    TooLarge(u32, u32),
}

/// The picture alone: the same bytes without metadata.
pub fn strip(bytes: &[u8]) -> Result<Vec<u8>, ImageError> {
    strip_within(bytes, SIDE_MAX)
}

/// The picture alone, if its longer side has at most this many pixels.
pub fn strip_within(bytes: &[u8], side_max: u32) -> Result<Vec<u8>, ImageError> {
    let stripped = match MediaType::of(bytes) {
        MediaType::Jpeg => jpeg::strip(bytes),
        MediaType::Png => png::strip(bytes),
        MediaType::WebP => web_p::strip(bytes),
        _ => None,
    };
    let (picture, (width, height)) = stripped.ok_or(ImageError::Unreadable)?;
    if width == 0 || height == 0 {
        return Err(ImageError::Unreadable);
    }
    if width.max(height) > side_max || u64::from(width) * u64::from(height) > PIXELS_MAX {
        return Err(ImageError::TooLarge(width, height));
    }
    Ok(picture)
}

/// A stripped image and its width and height; `None` if the bytes cannot be read.
type Stripped = Option<(Vec<u8>, (u32, u32))>;

fn u16_be(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_be(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u32_le(bytes: &[u8], at: usize) -> Option<u32> {
    u32_be(bytes, at).map(u32::swap_bytes)
}

#[cfg(test)]
mod tests;
