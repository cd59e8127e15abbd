//! Photos of a camera: the camera announces one, and the server requests it part by part in messages of codec 12.

use crate::decoded::{DecodeError, Decoded};
use crate::file_parts::PhotoTransfers;
use crate::notation::reader::Reader;
use crate::report::Report;
use crate::value::Value;

use super::encode::command_frame;

/// Bytes of one request.
const PART: usize = 2048;

/// Photos in transfer, by their id.
pub(super) type Photos = PhotoTransfers<PART>;

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
                self.begin(id, content.u32().ok())?;
                decoded.replies.extend(self.request(id));
            }
            2 => {
                let id = content.u32()?;
                let from = content.u32()?;
                let length = content.u16()?;
                let part = content.take(length.into())?;
                if from == 0 && !self.contains(id) {
                    self.begin(id, None)?;
                }
                match self.add(id, Some(from), part)? {
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

    /// The request for the next part of a photo.
    fn request(&self, id: u32) -> Option<Vec<u8>> {
        self.next_request(id).map(|request| command_frame(0x0d, &[&[2], request.as_slice()].concat()))
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
