//! The photo of a device that its users set, by which people recognise it.

use crate::devices::device_file::MediaType;
use crate::devices::image::{ImageError, strip};

/// A photo to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPhoto {
    /// One of [`NewPhoto::MEDIA_TYPES`].
    pub media_type: MediaType,
    /// From 1 to [`NewPhoto::BYTES_MAX`].
    pub bytes: Vec<u8>,
}

impl NewPhoto {
    /// Maximum number of bytes of a photo; browsers scale it down before they send it.
    pub const BYTES_MAX: usize = 1024 * 1024;
    /// `source` of a photo when it is read as a file.
    pub const SOURCE: &'static str = "user";
    /// The accepted formats of a photo: those that every browser shows and that contain a single picture.
    pub const MEDIA_TYPES: [MediaType; 3] = [MediaType::Jpeg, MediaType::Png, MediaType::WebP];

    /// The photo in these bytes, without its metadata: photos of telephones carry the position where they were taken.
    pub fn of(bytes: &[u8]) -> Result<Self, ImageError> {
        Ok(Self { media_type: MediaType::of(bytes), bytes: strip(bytes)? })
    }
}
