//! Photos that Ruptela units send in parts.

use crate::decoded::{DecodeError, Decoded};
use crate::file_parts::NumberedParts;
use crate::notation::reader::{Reader, hex_digits};

use super::encode::packet;

/// The command that carries files.
const FILES: u8 = 37;
/// A part of a file, or a request for one.
const PART: u8 = 2;

/// The parts of a file that have arrived, in order.
#[derive(Debug, Default)]
pub(super) struct FileParts(NumberedParts);

impl FileParts {
    /// Bytes of the parts that have arrived.
    pub(super) const fn held_bytes(&self) -> usize {
        self.0.held_bytes()
    }

    /// Reads a part and requests the next; the last part completes the file.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, decoded: &mut Decoded) -> Result<(), DecodeError> {
        let (kind, source) = (reader.u8()?, reader.u8()?);
        if kind != PART {
            return Ok(());
        }
        let name = reader.take(8)?;
        let (total, current) = (reader.u16()?, reader.u16()?);
        let part = reader.take_rest();
        self.0.add(current.into(), part)?;
        if let Ok(next) = u16::try_from(self.0.next())
            && next < total
        {
            // The first missing part, because earlier ones may have been lost.
            let mut request = vec![PART, source];
            request.extend_from_slice(name);
            request.extend_from_slice(&next.to_be_bytes());
            decoded.reply(packet(FILES, &request));
            return Ok(());
        }
        self.0.finish(&format!("{}.jpg", hex_digits(name)), None, decoded);
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
