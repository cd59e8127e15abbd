//! Photos that Meitrack units send in packets, eight for each request.

use crate::decoded::{DecodeError, Decoded, FILE_MAX, UploadedFile};
use crate::report::Report;

use super::encode::sentence;

/// Packets sent for one request.
const AT_ONCE: u32 = 8;

/// The packets of a photo that have arrived, in order.
#[derive(Debug, Default)]
pub(super) struct Photo {
    bytes: Vec<u8>,
    next: u32,
}

impl Photo {
    /// Bytes of the packets that have arrived.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

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
        let malformed = DecodeError::Malformed("a packet of a photo must have a file, a total and a number");
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
        // A packet that comes again is not kept twice.
        if current == self.next {
            if self.bytes.len() + bytes.len() > FILE_MAX {
                *self = Self::default();
                return Err(DecodeError::Malformed("the photo is too large"));
            }
            self.bytes.extend_from_slice(bytes);
            self.next = current.saturating_add(1);
        }
        let following = current.saturating_add(1);
        if self.next >= total {
            let Self { bytes, .. } = std::mem::take(self);
            let file = UploadedFile { name: file.to_owned(), captured_at: None, bytes };
            let mut report = Report::default();
            report.set_text("image", &file.name);
            decoded.reports.push(report);
            decoded.files.push(file);
        } else if following % AT_ONCE == 0 || following >= total {
            // From the first that is missing: the ones before may have been lost.
            let wish = self.request(name, file, self.next);
            decoded.reply(wish);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_packet_is_asked_for() {
        let mut photo = Photo::default();
        let mut read = |current: u32| {
            let mut decoded = Decoded::nothing();
            photo.read("7", format!("1.jpg,3,{current},{current}").as_bytes(), &mut decoded).unwrap();
            (decoded.files, decoded.replies.first().map(|reply| String::from_utf8_lossy(reply).into_owned()))
        };
        assert_eq!(read(0), (vec![], None));
        let (files, wish) = read(2);
        assert!(files.is_empty() && wish.is_some_and(|wish| wish.contains("D00,1.jpg,1*")));
        assert_eq!(read(1), (vec![], None));
        assert_eq!(read(2).0.first().map(|file| file.bytes.clone()), Some(b"012".to_vec()));
    }

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
