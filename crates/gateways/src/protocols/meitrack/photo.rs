//! Photos that Meitrack units send in packets, eight for each request.

use crate::decoded::{DecodeError, Decoded, UploadedFile};
use crate::report::Report;

use super::encode::sentence;

/// More than the largest photo of any unit.
const MAX: usize = 4 * 1024 * 1024;
/// Packets sent for one request.
const AT_ONCE: u32 = 8;

/// The packets of a photo that have arrived, in order.
#[derive(Debug, Default)]
pub(super) struct Photo {
    bytes: Vec<u8>,
    next: u32,
}

impl Photo {
    /// Asks for packets from this one on; from the first, what had arrived is dropped.
    pub(super) fn request(&mut self, name: &str, file: &str, packet: u32) -> Vec<u8> {
        if packet == 0 {
            self.bytes.clear();
            self.next = 0;
        }
        sentence('O', name, &format!("D00,{file},{packet}"))
    }

    /// Reads `file,total,current,bytes`.
    pub(super) fn read(
        &mut self,
        name: &str,
        content: &[u8],
        decoded: &mut Decoded,
    ) -> Result<(), DecodeError> {
        let malformed = DecodeError::Malformed("a packet of a photo has a file, a total and a number");
        let mut parts = content.splitn(4, |byte| *byte == b',');
        let mut text = || parts.next().and_then(|part| std::str::from_utf8(part).ok()).ok_or(malformed);
        let (file, total, current) = (text()?, text()?, text()?);
        let (Ok(total), Ok(current)) = (total.parse::<u32>(), current.parse::<u32>()) else {
            return Err(malformed);
        };
        let bytes = parts.next().ok_or(malformed)?;
        if current == 0 {
            self.bytes.clear();
            self.next = 0;
        }
        if current == self.next && self.bytes.len() + bytes.len() <= MAX {
            self.bytes.extend_from_slice(bytes);
            self.next = current.saturating_add(1);
        }
        if current.saturating_add(1) == total {
            let file = UploadedFile { name: file.to_owned(), bytes: std::mem::take(&mut self.bytes) };
            let mut report = Report::default();
            report.set_text("image", &file.name);
            decoded.reports.push(report);
            decoded.files.push(file);
        } else if current.saturating_add(1) % AT_ONCE == 0 {
            let wish = self.request(name, file, current.saturating_add(1));
            decoded.reply(wish);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_become_a_file_and_are_asked_for_by_eights() {
        let mut photo = Photo::default();
        for current in 0..10 {
            let mut decoded = Decoded::nothing();
            let content = format!("1.jpg,10,{current},part{current},");
            photo.read("7", content.as_bytes(), &mut decoded).unwrap();
            // A packet that comes again is not kept twice.
            if current == 3 {
                photo.read("7", content.as_bytes(), &mut Decoded::nothing()).unwrap();
            }
            assert_eq!(decoded.replies.len(), usize::from(current == 7));
            assert_eq!(decoded.files.len(), usize::from(current == 9));
            if let Some(file) = decoded.files.first() {
                let whole = b"part0,part1,part2,part3,part4,part5,part6,part7,part8,part9,";
                assert_eq!((file.name.as_str(), file.bytes.as_slice()), ("1.jpg", &whole[..]));
            }
        }
    }
}
