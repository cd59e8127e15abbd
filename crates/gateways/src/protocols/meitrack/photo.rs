//! Photos that Meitrack units send in packets, eight for each request.

use crate::decoded::{DecodeError, Decoded};
use crate::file_parts::NumberedParts;

use super::encode::sentence;

/// Packets sent for one request.
const AT_ONCE: u32 = 8;

/// The packets of a photo that have arrived, in order.
#[derive(Debug, Default)]
pub(super) struct Photo(NumberedParts);

impl Photo {
    /// Bytes of the packets that have arrived.
    pub(super) const fn held_bytes(&self) -> usize {
        self.0.held_bytes()
    }

    /// Requests packets from this one on; from the first one, earlier packets are dropped.
    pub(super) fn request(&mut self, name: &str, file: &str, packet: u32) -> Vec<u8> {
        if packet == 0 {
            *self = Self::default();
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
        self.0.add(current, bytes)?;
        let (next, following) = (self.0.next(), current.saturating_add(1));
        if next >= total {
            self.0.finish(file, None, decoded);
        } else if following % AT_ONCE == 0 || following >= total {
            // From the first missing one, because earlier ones may have been lost.
            let request = self.request(name, file, next);
            decoded.reply(request);
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
        let (files, request) = read(2);
        assert!(files.is_empty() && request.is_some_and(|request| request.contains("D00,1.jpg,1*")));
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
            // A repeated packet is kept once.
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
