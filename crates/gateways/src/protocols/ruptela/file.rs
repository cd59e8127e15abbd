//! Photos that Ruptela units send in parts.

use crate::decoded::{DecodeError, Decoded, FILE_MAX, UploadedFile};
use crate::notation::reader::{Reader, hex_digits};
use crate::report::Report;

use super::encode::packet;

/// The command that carries files.
const FILES: u8 = 37;
/// A part of a file, or the wish for one.
const PART: u8 = 2;

/// The parts of a file that have arrived, in order.
#[derive(Debug, Default)]
pub(super) struct FileParts {
    bytes: Vec<u8>,
    next: u16,
}

impl FileParts {
    /// Bytes of the parts that have arrived.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Reads a part and asks for the next; the last completes the file.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, decoded: &mut Decoded) -> Result<(), DecodeError> {
        let (kind, source) = (reader.u8()?, reader.u8()?);
        if kind != PART {
            return Ok(());
        }
        let name = reader.take(8)?;
        let (total, current) = (reader.u16()?, reader.u16()?);
        let part = reader.take_rest();
        if current == 0 {
            self.bytes.clear();
            self.next = 0;
        }
        // A part that was sent again is not kept twice.
        if current == self.next {
            if self.bytes.len() + part.len() > FILE_MAX {
                *self = Self::default();
                return Err(DecodeError::Malformed("the file is too large"));
            }
            self.bytes.extend_from_slice(part);
            self.next = current.saturating_add(1);
        }
        if self.next < total {
            // The first that is missing: the ones before may have been lost.
            let mut wish = vec![PART, source];
            wish.extend_from_slice(name);
            wish.extend_from_slice(&self.next.to_be_bytes());
            decoded.reply(packet(FILES, &wish));
            return Ok(());
        }
        let Self { bytes, .. } = std::mem::take(self);
        let file = UploadedFile { name: format!("{}.jpg", hex_digits(name)), captured_at: None, bytes };
        let mut report = Report::default();
        report.set_text("image", &file.name);
        decoded.reports.push(report);
        decoded.files.push(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_a_file() {
        let mut parts = FileParts::default();
        for current in 0..3_u8 {
            let mut decoded = Decoded::nothing();
            let mut content = vec![PART, 0];
            content.extend_from_slice(b"\0\0\0\0\0\0\0\x01");
            content.extend_from_slice(&[0, 3, 0, current, b'a' + current]);
            parts.read(&mut Reader::new(&content), &mut decoded).unwrap();
            assert_eq!(decoded.replies.len(), usize::from(current < 2));
            assert_eq!(
                decoded.files.first().map(|file| file.bytes.as_slice()),
                (current == 2).then_some(&b"abc"[..])
            );
        }
    }
}
