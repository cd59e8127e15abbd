//! Photos of a camera: the camera announces one, and the server requests it part by part in messages of codec 12.

use std::collections::BTreeMap;

use crate::decoded::{DecodeError, Decoded, FILE_MAX, UploadedFile};
use crate::notation::reader::Reader;
use crate::report::Report;
use crate::value::Value;

use super::encode::command_frame;

/// Photos that may be in transfer on one connection.
const IN_TRANSFER_MAX: usize = 4;
/// Bytes that one request asks for.
const PART: usize = 2048;

/// Photos in transfer, by their id.
#[derive(Debug, Default)]
pub(super) struct Photos(BTreeMap<u32, Photo>);

#[derive(Debug)]
struct Photo {
    /// Announced by the camera, in bytes. Some announce none: the photo ends with a part that is not full.
    size: Option<usize>,
    /// Received so far.
    bytes: Vec<u8>,
}

impl Photos {
    /// Bytes of the photos in transfer.
    pub(super) fn held_bytes(&self) -> usize {
        self.0.values().map(|photo| photo.bytes.len()).sum()
    }

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
                let size = content.u32().ok().map(|size| usize::try_from(size).unwrap_or(usize::MAX));
                self.begin(id, size)?;
                decoded.replies.extend(self.request(id));
            }
            2 => {
                let id = content.u32()?;
                let from = usize::try_from(content.u32()?).unwrap_or(usize::MAX);
                let length = content.u16()?;
                let part = content.take(length.into())?;
                if from == 0 && !self.0.contains_key(&id) {
                    self.begin(id, None)?;
                }
                match self.add(id, from, part)? {
                    None => decoded.replies.extend(self.request(id)),
                    Some(photo) => {
                        report.set("image", Value::text(&photo.name));
                        decoded.files.push(photo);
                    }
                }
            }
            _ => {}
        }
        Ok(report)
    }

    fn begin(&mut self, id: u32, size: Option<usize>) -> Result<(), DecodeError> {
        let is_one_more = self.0.len() >= IN_TRANSFER_MAX && !self.0.contains_key(&id);
        if size.is_some_and(|size| size > FILE_MAX) || is_one_more {
            return Err(DecodeError::Malformed("a photo is too large, or too many are being received"));
        }
        self.0.insert(id, Photo { size, bytes: Vec::new() });
        Ok(())
    }

    /// Adds the part that begins at `from`; gives the photo when it is whole. A part that came before is not added again.
    fn add(&mut self, id: u32, from: usize, part: &[u8]) -> Result<Option<UploadedFile>, DecodeError> {
        let Some(photo) = self.0.get_mut(&id).filter(|photo| photo.bytes.len() == from) else {
            return Ok(None);
        };
        let room = photo.size.unwrap_or(FILE_MAX).saturating_sub(from);
        if photo.size.is_none() && part.len() > room {
            self.0.remove(&id);
            return Err(DecodeError::Malformed("the photo is too large"));
        }
        photo.bytes.extend(part.iter().take(room));
        let is_whole = photo.size.map_or(part.len() < PART, |size| photo.bytes.len() >= size);
        let whole = if is_whole { self.0.remove(&id) } else { None };
        Ok(whole.map(|photo| UploadedFile {
            name: format!("photo-{id}.jpg"),
            captured_at: None,
            bytes: photo.bytes,
        }))
    }

    /// The request for the next part of a photo.
    fn request(&self, id: u32) -> Option<Vec<u8>> {
        let photo = self.0.get(&id)?;
        let rest = photo.size.map_or(PART, |size| size.saturating_sub(photo.bytes.len()).min(PART));
        let mut content = vec![2];
        content.extend_from_slice(&id.to_be_bytes());
        content.extend_from_slice(&u32::try_from(photo.bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        content.extend_from_slice(&u16::try_from(rest).unwrap_or(u16::MAX).to_be_bytes());
        Some(command_frame(0x0d, &content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_photo_of_unknown_size_ends_with_a_part_that_is_not_full() {
        let mut photos = Photos::default();
        let mut read = |content: &[u8]| {
            let mut decoded = Decoded::nothing();
            let length = u32::try_from(content.len()).unwrap().to_be_bytes();
            let bytes = [&[0x0d], &length[..], content].concat();
            photos.read(&mut decoded, &mut Reader::new(&bytes)).unwrap();
            decoded
        };
        let part = |from: u32, bytes: &[u8]| {
            let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
            [&[2, 0, 0, 0, 7], &from.to_be_bytes()[..], &length[..], bytes].concat()
        };
        assert_eq!(read(&[1, 0, 0, 0, 7]).replies.len(), 1);
        for _ in 0..2 {
            let first = read(&part(0, &[1; PART]));
            assert_eq!((first.replies.len(), first.files.len()), (1, 0));
        }
        let last = read(&part(2048, b"end"));
        assert!(last.replies.is_empty());
        assert_eq!(last.files.first().map(|file| file.bytes.len()), Some(PART + 3));
    }
}
