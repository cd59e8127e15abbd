//! Photos of a camera: the camera announces one, and the server requests it part by part in messages of codec 12.

use std::collections::BTreeMap;

use crate::decoded::{DecodeError, Decoded, UploadedFile};
use crate::reader::Reader;
use crate::report::Report;
use crate::value::Value;

use super::encode::command_frame;

/// Bytes that a photo may have.
const PHOTO_MAX: usize = 4 << 20;
/// Photos that may be in transfer on one connection.
const IN_TRANSFER_MAX: usize = 4;
/// Bytes that one request asks for.
const PART: usize = 2048;

/// Photos in transfer, by their id.
#[derive(Debug, Default)]
pub(super) struct Photos(BTreeMap<u32, Photo>);

#[derive(Debug)]
struct Photo {
    /// Announced by the camera, in bytes.
    size: usize,
    /// Received so far.
    bytes: Vec<u8>,
}

impl Photos {
    /// Reads a message of the camera: 1 announces a photo, 2 is a part of it.
    pub(super) fn read(
        &mut self,
        decoded: &mut Decoded,
        reader: &mut Reader<'_>,
    ) -> Result<Report, DecodeError> {
        let mut report = Report::default();
        reader.skip(1)?;
        let length = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        let mut content = reader.sub(length)?;
        match content.u8()? {
            1 => {
                let id = content.u32()?;
                // Some cameras first announce a photo without its size. It counts as 0 until they announce it again.
                let size = usize::try_from(content.u32().unwrap_or(0)).unwrap_or(usize::MAX);
                if size > PHOTO_MAX || (self.0.len() >= IN_TRANSFER_MAX && !self.0.contains_key(&id)) {
                    return Err(DecodeError::Malformed(
                        "a photo is too large, or too many are being received",
                    ));
                }
                self.0.insert(id, Photo { size, bytes: Vec::new() });
                decoded.replies.extend(self.request(id));
            }
            2 => {
                let id = content.u32()?;
                content.skip(4)?;
                let length = content.u16()?;
                let part = content.take(length.into())?;
                if let Some(photo) = self.0.get_mut(&id) {
                    let room = photo.size.saturating_sub(photo.bytes.len());
                    photo.bytes.extend(part.iter().take(room));
                    if photo.bytes.len() < photo.size {
                        decoded.replies.extend(self.request(id));
                    } else if let Some(photo) = self.0.remove(&id) {
                        let name = format!("photo-{id}.jpg");
                        report.set("image", Value::text(&name));
                        decoded.files.push(UploadedFile { name, bytes: photo.bytes });
                    }
                }
            }
            _ => {}
        }
        Ok(report)
    }

    /// The request for the next part of a photo.
    fn request(&self, id: u32) -> Option<Vec<u8>> {
        let photo = self.0.get(&id)?;
        let rest = photo.size.saturating_sub(photo.bytes.len()).min(PART);
        let mut content = vec![2];
        content.extend_from_slice(&id.to_be_bytes());
        content.extend_from_slice(&u32::try_from(photo.bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        content.extend_from_slice(&u16::try_from(rest).unwrap_or(u16::MAX).to_be_bytes());
        Some(command_frame(0x0d, &content))
    }
}
