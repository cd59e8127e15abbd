//! The photo of a device that its users set, by which people tell it apart.

use crate::devices::device_file::MediaType;
use crate::devices::image::{ImageError, strip};

/// A photo to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPhoto {
    /// One of [`NewPhoto::MEDIA_TYPES`].
    pub media_type: MediaType,
    /// At least one, [`NewPhoto::BYTES_MAX`] at the most.
    pub bytes: Vec<u8>,
}

impl NewPhoto {
    /// Bytes that a photo may have; browsers scale it down before they send it.
    pub const BYTES_MAX: usize = 1024 * 1024;
    /// `source` of a photo when it is read as a file.
    pub const SOURCE: &'static str = "user";
    /// What a photo may be: what every browser shows, and what holds no more than one picture.
    pub const MEDIA_TYPES: [MediaType; 3] = [MediaType::Jpeg, MediaType::Png, MediaType::WebP];

    /// The photo in these bytes, without its metadata: photos of telephones carry the place where they were taken.
    pub fn of(bytes: &[u8]) -> Result<Self, ImageError> {
        Ok(Self { media_type: MediaType::of(bytes), bytes: strip(bytes)? })
    }
}
