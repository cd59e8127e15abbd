//! Photos and other files that devices upload.

use crate::id::{AccountId, DeviceId, FileId};
use crate::time::Timestamp;

/// A file of a device, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFile {
    /// Assigned by the service; later files have larger ids.
    pub id: FileId,
    /// The account of the device.
    pub account: AccountId,
    /// The device that uploaded it.
    pub device: DeviceId,
    /// When it was taken by the device's clock, where the device reported it.
    pub captured_at: Option<Timestamp>,
    /// When its last part was received.
    pub received_at: Timestamp,
    /// The name from the device, or one derived from the kind of file.
    pub name: String,
    /// Recognised by the first bytes, whatever the name is.
    pub media_type: MediaType,
    /// Bytes, from 1 to [`Self::BYTES_MAX`].
    pub size: u32,
    /// The protocol by which it was received.
    pub source: String,
}

impl DeviceFile {
    /// Maximum number of bytes of a file.
    pub const BYTES_MAX: usize = 1024 * 1024;
    /// Maximum number of files of a device that are kept, the newest ones.
    pub const COUNT_MAX: u32 = 100;
    /// Maximum number of bytes of the files of a device together; the oldest are deleted for newer ones.
    pub const TOTAL_BYTES_MAX: u32 = 20 * 1024 * 1024;
    /// Maximum number of characters of a name that are stored.
    pub const NAME_MAX: usize = 100;
}

/// A file that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDeviceFile {
    /// When it was taken by the device's clock, where the device reported it.
    pub captured_at: Option<Timestamp>,
    /// The name from the device; up to [`DeviceFile::NAME_MAX`] characters are stored.
    pub name: String,
    /// The protocol by which it was received.
    pub source: &'static str,
    /// From 1 to [`DeviceFile::BYTES_MAX`].
    pub bytes: Vec<u8>,
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// JPEG, in which nearly all trackers send photos.
    Jpeg,
    /// PNG, which browsers show as an image.
    Png,
    /// GIF, which browsers show as an image.
    Gif,
    /// WebP, which browsers show as an image.
    WebP,
    /// A TIFF image, which browsers do not show.
    Tiff,
    /// Sound in AMR, as many trackers record it.
    Amr,
    /// Sound in WAVE, uncompressed or compressed.
    Wave,
    /// Sound in MP3, recognised by its ID3 tag.
    Mp3,
    /// MPEG-4 and its relatives, which begin with the same box.
    Mp4,
    /// Anything else, offered for download only.
    Other,
}

impl MediaType {
    /// In the order of declaration, to find one by its name.
    pub const ALL: [Self; 10] = [
        Self::Jpeg,
        Self::Png,
        Self::Gif,
        Self::WebP,
        Self::Tiff,
        Self::Amr,
        Self::Wave,
        Self::Mp3,
        Self::Mp4,
        Self::Other,
    ];

    /// Recognises the format by the first bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let at = |from: usize, wanted: &[u8]| bytes.get(from..).is_some_and(|rest| rest.starts_with(wanted));
        if at(0, b"\xff\xd8\xff") {
            Self::Jpeg
        } else if at(0, b"\x89PNG\r\n\x1a\n") {
            Self::Png
        } else if at(0, b"GIF87a") || at(0, b"GIF89a") {
            Self::Gif
        } else if at(0, b"RIFF") && at(8, b"WEBP") {
            Self::WebP
        } else if at(0, b"RIFF") && at(8, b"WAVE") {
            Self::Wave
        } else if at(0, b"II*\0") || at(0, b"MM\0*") {
            Self::Tiff
        } else if at(0, b"#!AMR") {
            Self::Amr
        } else if at(0, b"ID3") {
            Self::Mp3
        } else if at(4, b"ftyp") {
            Self::Mp4
        } else {
            Self::Other
        }
    }

    /// As in `Content-Type` and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
            Self::Tiff => "image/tiff",
            Self::Amr => "audio/amr",
            Self::Wave => "audio/wav",
            Self::Mp3 => "audio/mpeg",
            Self::Mp4 => "video/mp4",
            Self::Other => "application/octet-stream",
        }
    }

    /// The media type with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|media| media.name() == name)
    }

    /// Whether browsers show it as an image, which cannot execute code.
    pub const fn is_shown_inline(self) -> bool {
        matches!(self, Self::Jpeg | Self::Png | Self::Gif | Self::WebP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_decide() {
        let check = |bytes: &[u8], expect| assert_eq!(MediaType::of(bytes), expect, "{bytes:?}");
        check(b"", MediaType::Other);
        check(b"\xff\xd8\xff\xe0", MediaType::Jpeg);
        check(b"\xff\xd8", MediaType::Other);
        check(b"RIFF\0\0\0\0WEBP", MediaType::WebP);
        check(b"RIFF\0\0\0\0WAVE", MediaType::Wave);
        check(b"\0\0\0\x20ftypisom", MediaType::Mp4);
        check(b"<svg xmlns='http://www.w3.org/2000/svg'>", MediaType::Other);
        check(b"<html><script>", MediaType::Other);
    }

    #[test]
    fn names_are_read_back() {
        for media in MediaType::ALL {
            assert_eq!(MediaType::named(media.name()), Some(media));
        }
    }
}
