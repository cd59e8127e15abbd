//! Reads Meitrack frames: `$$flag length,name,kind,content*checksum`.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::checksum::sum;
use crate::notation::fields::hex;
use crate::report::Report;

use super::binary::{read_elements, read_fixed};
use super::encode::sentence;
use super::photo::Photo;
use super::text::read_text;

/// Decodes Meitrack frames, each of which has the identifier of its device. Keeps the parts of a photo until it is
/// complete.
#[derive(Debug, Default)]
pub(super) struct MeitrackDecoder {
    photo: Photo,
}

impl Decoder for MeitrackDecoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        Decoded::from(self.read(frame, context)).in_zone(context)
    }

    fn held_bytes(&self) -> usize {
        self.photo.held_bytes()
    }

    fn drop_held(&mut self) {
        self.photo = Photo::default();
    }
}

/// The parts of a frame.
struct Parts<'a> {
    flag: char,
    name: &'a str,
    kind: &'a str,
    /// The text from the type up to the `*`.
    text: &'a [u8],
    /// The text after the type and its comma, up to the `*`.
    content: &'a [u8],
    checksum: Option<DecodeError>,
}

fn split(frame: &[u8]) -> Option<Parts<'_>> {
    let frame = frame.strip_suffix(b"\r\n").unwrap_or(frame);
    let (body, checksum) = without_checksum(frame);
    let comma = body.iter().position(|byte| *byte == b',')?;
    let after = body.get(comma + 1..)?;
    let name_end = after.iter().position(|byte| *byte == b',')?;
    let text = after.get(name_end + 1..)?;
    let kind = text.get(..3)?;
    Some(Parts {
        flag: char::from(*frame.get(2)?),
        name: std::str::from_utf8(after.get(..name_end)?).ok().filter(|name| !name.is_empty())?,
        kind: std::str::from_utf8(kind).ok()?,
        text,
        content: text.get(4..).unwrap_or_default(),
        checksum,
    })
}

/// The text before the `*`, and whether the checksum after it differs. A datagram that was cut off has none.
fn without_checksum(frame: &[u8]) -> (&[u8], Option<DecodeError>) {
    let star = frame.len().checked_sub(3).filter(|at| frame.get(*at) == Some(&b'*'));
    let Some((covered, [high, low])) = star.and_then(|at| frame.split_at_checked(at + 1)) else {
        return (frame, Some(DecodeError::Short));
    };
    let digits = [*high, *low];
    let sent = std::str::from_utf8(&digits).ok().and_then(hex).and_then(|sent| u16::try_from(sent).ok());
    let computed = u16::from(sum(covered));
    let error = match sent {
        Some(sent) if sent == computed => None,
        Some(sent) => Some(DecodeError::Checksum { sent, computed }),
        None => Some(DecodeError::Malformed("the checksum must be two hexadecimal digits")),
    };
    (covered.strip_suffix(b"*").unwrap_or(covered), error)
}

impl MeitrackDecoder {
    fn read(&mut self, frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
        let parts =
            split(frame).ok_or(DecodeError::Malformed("a frame must have an identifier and a type"))?;
        let mut decoded = Decoded::identified(parts.name);
        match parts.kind {
            "CCC" => {
                decoded.reports = read_fixed(parts.content)?;
                let count = decoded.reports.len();
                decoded.reply(sentence(parts.flag, parts.name, &format!("CCC,{count}")));
            }
            "CCE" => match read_elements(parts.content) {
                Ok(reports) => decoded.reports = reports,
                Err(error) => decoded.error = Some(error),
            },
            "AAC" => decoded.reply(sentence('z', parts.name, "AAC,1")),
            "D03" => decoded.reply(self.photo.request(parts.name, "camera_picture.jpg", 0)),
            // A damaged packet is dropped.
            "D00" if parts.checksum.is_some() => {}
            "D00" => self.photo.read(parts.name, parts.content, &mut decoded)?,
            _ => {
                let text = String::from_utf8_lossy(parts.text);
                decoded.reports.push(read_text(&text, context).unwrap_or_else(|| answer(&text)));
            }
        }
        decoded.error = parts.checksum.or(decoded.error);
        Ok(decoded)
    }
}

/// The reply of a unit to a command.
fn answer(text: &str) -> Report {
    let mut report = Report::default();
    report.set_text("result", text);
    report
}
