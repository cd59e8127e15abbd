//! Photos that come in blocks: `#I#size;index;last;date;time;name` and the bytes.

use crate::decoded::{DecodeError, Decoded};
use crate::file_parts::NumberedParts;

use super::record::instant;

/// The blocks of a photo that have arrived, in order.
#[derive(Debug, Default)]
pub(super) struct Photo(NumberedParts);

impl Photo {
    /// Bytes of the blocks that have arrived.
    pub(super) const fn held_bytes(&self) -> usize {
        self.0.held_bytes()
    }

    /// Reads a block. Each is acknowledged with its index; the last block completes the photo.
    pub(super) fn read(
        &mut self,
        line: &str,
        block: &[u8],
        decoded: &mut Decoded,
    ) -> Result<(), DecodeError> {
        let malformed =
            DecodeError::Malformed("a block of a photo must have a size, an index and a last index");
        let fields: Vec<&str> = line.split(';').collect();
        let [size, index, last, date, time, name, ..] = fields.as_slice() else { return Err(malformed) };
        let (Ok(size), Ok(index), Ok(last)) =
            (size.parse::<usize>(), index.parse::<u32>(), last.parse::<u32>())
        else {
            return Err(malformed);
        };
        // A repeated block is acknowledged again and kept once.
        let is_expected = block.len() == size && index <= self.0.next();
        if !is_expected || self.0.add(index, block).is_err() {
            decoded.reply(format!("#AI#{index};0\r\n"));
            return Err(DecodeError::Malformed("a block of a photo is missing, or the photo is too large"));
        }
        decoded.reply(format!("#AI#{index};1\r\n"));
        if index == last {
            self.0.finish(name, instant(date, time), decoded);
            decoded.reply("#AI#1\r\n");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_a_file() {
        let mut photo = Photo::default();
        let mut read = |line: &str, block: &[u8]| {
            let mut decoded = Decoded::nothing();
            let result = photo.read(line, block, &mut decoded);
            (decoded, result)
        };
        assert!(read("2;1;1;070512;124010;a.jpg", b"cd").1.is_err());
        for _ in 0..2 {
            let (first, _) = read("2;0;1;070512;124010;a.jpg", b"ab");
            assert_eq!(first.replies, [b"#AI#0;1\r\n"]);
        }
        let (last, _) = read("2;1;1;070512;124010;a.jpg", b"cd");
        assert_eq!(last.replies, [&b"#AI#1;1\r\n"[..], b"#AI#1\r\n"]);
        assert_eq!(last.files.first().map(|file| file.bytes.as_slice()), Some(&b"abcd"[..]));
        assert_eq!(last.reports.len(), 1);
    }
}
