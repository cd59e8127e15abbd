//! Photos that GT06 units send in parts.

use perigee_core::time::Timestamp;

use crate::decoded::{DecodeError, Decoded};
use crate::file_parts::PhotoTransfers;
use crate::notation::reader::Reader;
use crate::report::Report;
use crate::value::Value;

use super::encode::short_frame;
use super::message::kind;

/// Bytes of one request.
const PART: usize = 1024;

/// Photos in transfer, by their ID.
pub(super) type Photos = PhotoTransfers<PART>;

impl Photos {
    /// Requests the next part.
    fn request(&self, id: u32) -> Option<Vec<u8>> {
        self.next_request(id).map(|request| short_frame(kind::STATUS_OR_PHOTO, &request, 0))
    }

    /// A photo is announced: its first part is requested.
    pub(super) fn announce(&mut self, mut reader: Reader<'_>) -> Result<Decoded, DecodeError> {
        // Time, fix, coordinates, camera, source and format.
        reader.skip(6 + 1 + 4 + 4 + 3)?;
        let (size, id) = (reader.u32()?, reader.u32()?);
        self.begin(id, Some(size))?;
        let mut decoded = Decoded::nothing();
        decoded.replies.extend(self.request(id));
        Ok(decoded)
    }

    /// A part of an announced photo.
    pub(super) fn part(&mut self, mut reader: Reader<'_>) -> Result<Decoded, DecodeError> {
        let id = reader.u32()?;
        let (from, length) = (reader.u32()?, reader.u16()?);
        let part = reader.take(length.into())?;
        let mut decoded = Decoded::nothing();
        if let Some(photo) = self.add(id, Some(from), part)? {
            let mut report = Report::default();
            report.set("image", Value::text(&photo.name));
            decoded.reports.push(report);
            decoded.files.push(photo);
        }
        decoded.replies.extend(self.request(id));
        Ok(decoded)
    }

    /// A part of a photo that contains its own description (WD-209).
    pub(super) fn described_part(&mut self, mut reader: Reader<'_>) -> Result<Decoded, DecodeError> {
        reader.skip(8)?;
        let time = Timestamp::from_millis(i64::from(reader.u32()?) * 1000);
        // Position and cell, both as in the messages that contain only one of them.
        reader.skip(14 + 8)?;
        let (id, size) = (reader.u32()?, reader.u32()?);
        let (media, format) = (reader.u8()?, reader.u8()?);
        let mut report = Report { time: Some(time), ..Report::default() };
        let mut decoded = Decoded::nothing();
        if (media, format) == (0, 0) {
            reader.skip(1)?;
            if reader.u16()? == 0 {
                self.begin(id, Some(size))?;
            }
            if let Some(mut photo) = self.add(id, None, reader.take_rest())? {
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
