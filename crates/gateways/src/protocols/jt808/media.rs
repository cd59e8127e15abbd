//! Photos, sounds and videos of JT/T 808 terminals, and requests for missing packets.

use crate::decoded::{Context, DecodeError, Decoded, UploadedFile};
use crate::notation::reader::Reader;
use crate::report::Report;

use super::header::Message;
use super::location::read_location;
use super::packets::Missing;

/// A file: its ID, its type, the position where it was captured, and its bytes.
pub(super) const MEDIA: u16 = 0x0801;
/// The answer to a file: complete, or which packets are missing.
const MEDIA_ANSWER: u16 = 0x8800;
/// A request for packets of a message.
const PACKETS_WANTED: u16 = 0x8003;
/// Bytes of a position without additions.
const POSITION: usize = 28;

/// Reads a file. It is acknowledged as complete after it is stored.
pub(super) fn read_media(
    message: &Message<'_>,
    mut body: Reader<'_>,
    context: &Context<'_>,
    decoded: &mut Decoded,
) -> Result<(), DecodeError> {
    let id = body.u32()?;
    body.skip(1)?;
    let format = body.u8()?;
    let (event, channel) = (body.u8()?, body.u8()?);
    // Terminals of 2011 send no position: their photos begin here.
    let has_position = !body.rest().starts_with(b"\xff\xd8\xff");
    let mut report =
        if has_position { read_location(body.sub(POSITION)?, context)? } else { Report::default() };
    let extension = match format {
        0 => "jpg",
        1 => "tif",
        2 => "mp3",
        3 => "wav",
        4 => "wmv",
        _ => "bin",
    };
    let name = format!("media-{id}-channel-{channel}.{extension}");
    decoded.reply(message.answer(MEDIA_ANSWER, &id.to_be_bytes()));
    let bytes = body.take_rest().to_vec();
    if bytes.is_empty() {
        return Ok(());
    }
    report.set_text(if format <= 1 { "image" } else { "media" }, &name);
    report.set("mediaEvent", event);
    decoded.files.push(UploadedFile { name, captured_at: report.time, bytes });
    decoded.reports.push(report);
    Ok(())
}

pub(super) fn request_missing(message: &Message<'_>, missing: &Missing) -> Vec<u8> {
    let media =
        missing.beginning.as_deref().filter(|_| message.kind == MEDIA).and_then(|first| first.get(..4));
    let (kind, mut body) = match media {
        Some(id) => (MEDIA_ANSWER, id.to_vec()),
        None => (PACKETS_WANTED, missing.first_serial.to_be_bytes().to_vec()),
    };
    let count = u8::try_from(missing.numbers.len()).unwrap_or(u8::MAX);
    if kind == PACKETS_WANTED && message.version.is_some() {
        // The edition of 2019 counts in two bytes.
        body.push(0);
    }
    body.push(count);
    body.extend(missing.numbers.iter().flat_map(|number| number.to_be_bytes()));
    message.answer(kind, &body)
}

#[cfg(test)]
mod tests {
    use perigee_core::time::Timestamp;

    use super::super::decode::Jt808Decoder;
    use super::super::header::write_packet;
    use super::super::packets::PACKET_OVERHEAD;
    use crate::decoded::{Context, Decoded, Decoder as _, Options};
    use crate::framer::{Framer as _, Step};
    use crate::notation::reader::hex_digits;

    const NAME: &[u8] = &[0x01, 0x38, 0x00, 0x13, 0x80, 0x00];

    fn body() -> Vec<u8> {
        let mut body = vec![0, 0, 0, 9, 0, 0, 1, 2];
        // No alarm, valid, 22.5 N 113.9 E, 10 m, 60 km/h, 90 degrees, 2026-05-01 20:00:00 in Beijing.
        body.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 2]);
        body.extend_from_slice(&22_500_000_u32.to_be_bytes());
        body.extend_from_slice(&113_900_000_u32.to_be_bytes());
        body.extend_from_slice(&[0, 10, 2, 0x58, 0, 90, 0x26, 0x05, 0x01, 0x20, 0, 0]);
        body.extend_from_slice(b"\xff\xd8\xff\xe0 a photo \x7e\x7d");
        body
    }

    /// The frame of a packet as the framer returns it.
    fn frame(total: u16, number: u16, part: &[u8]) -> Vec<u8> {
        let wire = write_packet(0x0801, NAME, 100 + number, (total, number), part);
        match super::super::frame::Jt808Framer.step(&wire) {
            Step::Frame { frame, .. } => frame.into_owned(),
            other => panic!("{other:?}"),
        }
    }

    fn decode(decoder: &mut Jt808Decoder, frame: &[u8]) -> Decoded {
        let options = Options::default();
        let now = Timestamp::from_millis(1_777_600_000_000);
        let context =
            Context { known: true, identifier: None, model: None, options: &options, datagram: false, now };
        decoder.decode(frame, &context)
    }

    fn replies(decoded: &Decoded) -> Vec<String> {
        // Type and body of each, without delimiters, identifier, serial number and checksum.
        let part = |reply: &Vec<u8>| {
            let text = hex_digits(reply);
            format!("{} {}", &text[2..6], &text[26..text.len() - 4])
        };
        decoded.replies.iter().map(part).collect()
    }

    #[test]
    fn packets_become_a_photo_with_its_position_and_time() {
        let (body, mut decoder) = (body(), Jt808Decoder::default());
        let parts: Vec<&[u8]> = body.chunks(20).collect();
        let total = u16::try_from(parts.len()).unwrap();
        let frame = |number: u16| frame(total, number, parts[usize::from(number) - 1]);
        assert_eq!(total, 3);
        // The same packet twice, and one that is lost.
        for _ in 0..2 {
            let first = decode(&mut decoder, &frame(1));
            assert_eq!(replies(&first), ["8001 0065080100"]);
            assert_eq!((first.files.len(), decoder.held_bytes()), (0, 20 + PACKET_OVERHEAD));
        }
        let last = decode(&mut decoder, &frame(3));
        assert_eq!(replies(&last), ["8800 00000009010002"], "the second packet is asked for");
        let whole = decode(&mut decoder, &frame(2));
        assert_eq!(replies(&whole), ["8800 00000009"]);
        let file = whole.files.first().unwrap();
        assert_eq!(file.name, "media-9-channel-2.jpg");
        assert_eq!(file.bytes, &body[36..]);
        assert_eq!(file.captured_at.unwrap().to_string(), "2026-05-01T12:00:00Z");
        assert_eq!(whole.reports.len(), 1);
        assert_eq!(decoder.held_bytes(), 0);
    }

    #[test]
    fn the_first_packet_is_asked_for_by_its_serial_number() {
        let mut decoder = Jt808Decoder::default();
        let last = decode(&mut decoder, &frame(2, 2, b"rest"));
        assert_eq!(replies(&last), ["8003 0065010001"]);
    }

    #[test]
    fn a_damaged_packet_is_not_kept() {
        let mut decoder = Jt808Decoder::default();
        let mut damaged = frame(2, 1, b"damaged");
        let at = damaged.len() - 4;
        damaged[at] ^= 1;
        assert!(decode(&mut decoder, &damaged).error.is_some());
        assert_eq!(decoder.held_bytes(), 0);
    }

    #[test]
    fn a_file_that_is_too_large_is_dropped() {
        let mut decoder = Jt808Decoder::default();
        let part = vec![0; 1000];
        for number in 1..=2000 {
            let answer = decode(&mut decoder, &frame(2000, number, &part));
            assert!(decoder.held_bytes() <= crate::decoded::FILE_MAX);
            let is_refused = answer.error.is_some();
            assert_eq!(is_refused, usize::from(number) * (1000 + PACKET_OVERHEAD) > crate::decoded::FILE_MAX);
            assert_eq!(answer.replies.is_empty(), is_refused, "what is refused is not acknowledged");
        }
        assert_eq!(decoder.held_bytes(), 0);
    }
}
