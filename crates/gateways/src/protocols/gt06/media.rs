//! Photos that GT06 units send in parts.

use std::collections::BTreeMap;

use perigee_core::time::Timestamp;

use crate::decoded::{DecodeError, Decoded, FILE_MAX, UploadedFile};
use crate::notation::reader::Reader;
use crate::report::Report;
use crate::value::Value;

use super::encode::short_frame;
use super::message::kind;

/// Photos under way on one connection.
const UNDER_WAY_MAX: usize = 4;
/// Bytes asked for at once.
const PART: usize = 1024;

/// Photos under way.
#[derive(Debug, Default)]
pub(super) struct Photos(BTreeMap<u32, Photo>);

#[derive(Debug)]
struct Photo {
    size: usize,
    bytes: Vec<u8>,
}

impl Photos {
    /// Bytes of the photos under way.
    pub(super) fn held_bytes(&self) -> usize {
        self.0.values().map(|photo| photo.bytes.len()).sum()
    }

    fn begin(&mut self, id: u32, size: u32) -> Result<(), DecodeError> {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > FILE_MAX || (self.0.len() >= UNDER_WAY_MAX && !self.0.contains_key(&id)) {
            return Err(DecodeError::Malformed("a photo is too large, or too many are being received"));
        }
        self.0.insert(id, Photo { size, bytes: Vec::new() });
        Ok(())
    }

    /// Adds the part that begins at `from`; gives the photo when it is whole. A part that came before is not added again.
    fn add(&mut self, id: u32, from: Option<usize>, part: &[u8]) -> Option<UploadedFile> {
        let photo = self.0.get_mut(&id)?;
        if from.is_some_and(|from| from != photo.bytes.len()) {
            return None;
        }
        let room = photo.size.saturating_sub(photo.bytes.len());
        photo.bytes.extend(part.iter().take(room));
        if photo.bytes.len() < photo.size {
            return None;
        }
        let photo = self.0.remove(&id)?;
        Some(UploadedFile { name: format!("photo-{id}.jpg"), captured_at: None, bytes: photo.bytes })
    }

    /// Asks for the next part.
    fn request(&self, id: u32) -> Option<Vec<u8>> {
        let photo = self.0.get(&id)?;
        let rest = photo.size.saturating_sub(photo.bytes.len()).min(PART);
        let mut content = Vec::with_capacity(10);
        content.extend_from_slice(&id.to_be_bytes());
        content.extend_from_slice(&u32::try_from(photo.bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        content.extend_from_slice(&u16::try_from(rest).unwrap_or(u16::MAX).to_be_bytes());
        Some(short_frame(kind::STATUS_OR_PHOTO, &content, 0))
    }

    /// A photo is announced: its first part is asked for.
    pub(super) fn announce(&mut self, mut reader: Reader<'_>) -> Result<Decoded, DecodeError> {
        // Time, fix, coordinates, camera, source and format.
        reader.skip(6 + 1 + 4 + 4 + 3)?;
        let (size, id) = (reader.u32()?, reader.u32()?);
        self.begin(id, size)?;
        let mut decoded = Decoded::nothing();
        decoded.replies.extend(self.request(id));
        Ok(decoded)
    }

    /// A part of an announced photo.
    pub(super) fn part(&mut self, mut reader: Reader<'_>) -> Result<Decoded, DecodeError> {
        let id = reader.u32()?;
        let from = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        let length = reader.u16()?;
        let part = reader.take(length.into())?;
        let mut decoded = Decoded::nothing();
        if let Some(photo) = self.add(id, Some(from), part) {
            let mut report = Report::default();
            report.set("image", Value::text(&photo.name));
            decoded.reports.push(report);
            decoded.files.push(photo);
        }
        decoded.replies.extend(self.request(id));
        Ok(decoded)
    }

    /// A part of a photo that carries its own description (WD-209).
    pub(super) fn described_part(&mut self, mut reader: Reader<'_>) -> Result<Decoded, DecodeError> {
        reader.skip(8)?;
        let time = Timestamp::from_millis(i64::from(reader.u32()?) * 1000);
        // Position and cell, both as in the messages that carry them on their own.
        reader.skip(14 + 8)?;
        let (id, size) = (reader.u32()?, reader.u32()?);
        let (media, format) = (reader.u8()?, reader.u8()?);
        let mut report = Report { time: Some(time), ..Report::default() };
        let mut decoded = Decoded::nothing();
        if (media, format) == (0, 0) {
            reader.skip(1)?;
            if reader.u16()? == 0 {
                self.begin(id, size)?;
            }
            if let Some(mut photo) = self.add(id, None, reader.take_rest()) {
                photo.captured_at = Some(time);
                report.set("image", Value::text(&photo.name));
                decoded.files.push(photo);
            }
        }
        decoded.reports.push(report);
        Ok(decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_comes_again_is_kept_once() {
        let mut photos = Photos::default();
        let mut announced = vec![0; 6 + 1 + 4 + 4 + 3];
        announced.extend_from_slice(&[0, 0, 0, 4, 0, 0, 0, 9]);
        assert_eq!(photos.announce(Reader::new(&announced)).unwrap().replies.len(), 1);
        let part = |from: u8, bytes: &[u8]| {
            [&[0, 0, 0, 9, 0, 0, 0, from, 0, u8::try_from(bytes.len()).unwrap()], bytes].concat()
        };
        for _ in 0..2 {
            let first = photos.part(Reader::new(&part(0, b"ab"))).unwrap();
            assert_eq!((first.files.len(), first.replies.len(), photos.held_bytes()), (0, 1, 2));
        }
        let last = photos.part(Reader::new(&part(2, b"cd"))).unwrap();
        assert_eq!(last.files.first().map(|file| file.bytes.as_slice()), Some(&b"abcd"[..]));
        assert_eq!((last.replies.len(), photos.held_bytes()), (0, 0));
    }
}
