//! The photo of a device that its users set, by which people tell it apart.

use crate::device_file::MediaType;

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
    /// What a photo may be: what every browser shows, and what holds no more than one picture.
    pub const MEDIA_TYPES: [MediaType; 3] = [MediaType::Jpeg, MediaType::Png, MediaType::WebP];

    /// The photo in these bytes, told by the first of them; `None` if they are none.
    pub fn of(bytes: Vec<u8>) -> Option<Self> {
        let media_type = MediaType::of(&bytes);
        Self::MEDIA_TYPES.contains(&media_type).then_some(Self { media_type, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_photos_are_taken() {
        let check = |bytes: &[u8], expect| {
            assert_eq!(NewPhoto::of(bytes.to_vec()).map(|photo| photo.media_type), expect, "{bytes:?}");
        };
        check(b"\xff\xd8\xff\xe0", Some(MediaType::Jpeg));
        check(b"\x89PNG\r\n\x1a\n", Some(MediaType::Png));
        check(b"RIFF\0\0\0\0WEBP", Some(MediaType::WebP));
        check(b"GIF89a", None);
        check(b"<svg xmlns='http://www.w3.org/2000/svg'>", None);
        check(b"", None);
    }
}
