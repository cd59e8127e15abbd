//! Photos that come in blocks: `#I#size;index;last;date;time;name` and the bytes.

use crate::decoded::{DecodeError, Decoded, FILE_MAX, UploadedFile};
use crate::report::Report;

use super::record::instant;

/// The blocks of a photo that have arrived, in order.
#[derive(Debug, Default)]
pub(super) struct Photo {
    bytes: Vec<u8>,
    next: u32,
}

impl Photo {
    /// Bytes of the blocks that have arrived.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Reads a block. Each is answered by its index; the last completes the photo.
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
        if index == 0 {
            *self = Self::default();
        }
        if block.len() != size || index > self.next || self.bytes.len() + size > FILE_MAX {
            decoded.reply(format!("#AI#{index};0\r\n"));
            return Err(DecodeError::Malformed("a block of a photo is missing, or the photo is too large"));
        }
        // A block that comes again is answered again and not kept twice.
        if index == self.next {
            self.bytes.extend_from_slice(block);
            self.next = index.saturating_add(1);
        }
        decoded.reply(format!("#AI#{index};1\r\n"));
        if index == last {
            let photo = std::mem::take(self);
            let captured_at = instant(date, time);
            let mut report = Report { time: captured_at, ..Report::default() };
            report.set_text("image", name);
            decoded.reports.push(report);
            decoded.files.push(UploadedFile { name: (*name).to_owned(), captured_at, bytes: photo.bytes });
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
