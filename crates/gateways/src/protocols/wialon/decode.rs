//! Decodes Wialon IPS lines: `#kind#content`.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::framer::find;
use crate::notation::checksum::crc16_arc;
use crate::notation::fields::hex;
use crate::report::Report;

use super::photo::Photo;
use super::record::read_record;

/// Decodes Wialon IPS lines. The device is identified by a login or, by UDP, by the text before the first `#`. Keeps
/// the blocks of a photo until it is complete, and the password of the login.
#[derive(Debug, Default)]
pub(super) struct WialonDecoder {
    photo: Photo,
    /// The password of the last login; none before the first login.
    password: Option<String>,
}

impl Decoder for WialonDecoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        let read = match frame.strip_prefix(b"#I#") {
            Some(block) => self.admit(context).and_then(|()| self.read_block(block, context)),
            None => self.read_line(&String::from_utf8_lossy(frame), context),
        };
        Decoded::from(read).in_zone(context)
    }

    fn held_bytes(&self) -> usize {
        self.photo.held_bytes()
    }

    fn drop_held(&mut self) {
        self.photo = Photo::default();
    }
}

impl WialonDecoder {
    /// A device with the option `password` must have sent this password, also by UDP, where each line identifies the
    /// device.
    fn admit(&self, context: &Context<'_>) -> Result<(), DecodeError> {
        match context.options.text("password") {
            Some(wanted) if self.password.as_deref() != Some(wanted) => Err(DecodeError::Password),
            _ => Ok(()),
        }
    }

    fn read_line(&mut self, line: &str, context: &Context<'_>) -> Result<Decoded, DecodeError> {
        let malformed = DecodeError::Malformed("a line must have the form #kind#content");
        let mut parts = line.trim_end_matches(['\r', '\n']).splitn(3, '#');
        let (Some(front), Some(kind), Some(body)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(malformed);
        };
        if kind != "L" {
            self.admit(context)?;
            return read(front, kind, body, context);
        }
        let login = Login::read(body)?;
        self.password = Some(login.password.to_owned());
        if self.admit(context).is_err() {
            let refused = Decoded::nothing().with_reply("#AL#01\r\n");
            return Ok(Decoded { error: Some(DecodeError::Password), ..refused });
        }
        Ok(Decoded { error: login.error, ..Decoded::identified(login.name).with_reply("#AL#1\r\n") })
    }

    fn read_block(&mut self, block: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
        if !context.known {
            return Err(DecodeError::Unidentified);
        }
        let end = find(block, b"\r\n").ok_or(DecodeError::Short)?;
        let line = String::from_utf8_lossy(block.get(..end).unwrap_or_default());
        let mut decoded = Decoded::nothing();
        let bytes = block.get(end + 2..).unwrap_or_default();
        decoded.error = self.photo.read(&line, bytes, &mut decoded).err();
        Ok(decoded)
    }
}

/// A line that is not a login.
fn read(front: &str, kind: &str, body: &str, context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let name = front.rsplit(';').next().filter(|name| !name.is_empty());
    let mut decoded = name.map_or_else(Decoded::nothing, Decoded::identified);
    if kind == "P" {
        return Ok(decoded.with_reply("#AP#\r\n"));
    }
    if name.is_none() && !context.known {
        return Err(DecodeError::Unidentified);
    }
    match kind {
        "D" | "SD" => {
            let (record, error) = without_checksum(body, ';', if kind == "D" { 16 } else { 10 });
            decoded.error = error;
            if let Some(report) = read_record(record) {
                decoded.reports.push(report);
                decoded.reply(format!("#A{kind}#1\r\n"));
            } else {
                decoded.error = Some(DecodeError::Malformed("a record must have ten or sixteen fields"));
                decoded.reply(format!("#A{kind}#-1\r\n"));
            }
        }
        "B" => {
            let (list, error) = without_checksum(body, '|', 0);
            decoded.error = error;
            let records: Vec<&str> = list.split('|').filter(|record| !record.is_empty()).collect();
            for record in &records {
                if let Some(mut report) = read_record(record) {
                    report.set("archive", true);
                    decoded.reports.push(report);
                } else {
                    decoded.error = Some(DecodeError::Malformed("a record must have ten or sixteen fields"));
                }
            }
            // The count covers all received records, because a record that cannot be decoded would only be sent again.
            decoded.reply(format!("#AB#{}\r\n", records.len()));
        }
        "M" => {
            let (text, error) = without_checksum(body, ';', 1);
            decoded.error = error;
            let mut report = Report::default();
            report.set_text("result", text);
            decoded.text = Some(text.to_owned());
            decoded.reports.push(report);
            decoded.reply("#AM#1\r\n");
        }
        "AM" => decoded.answer = Some(body.to_owned()),
        _ => return Err(DecodeError::Malformed("a line must have the form #kind#content")),
    }
    Ok(decoded)
}

/// `name;password`, or from version 2.0 `version;name;password;checksum`.
struct Login<'a> {
    name: &'a str,
    password: &'a str,
    error: Option<DecodeError>,
}

impl<'a> Login<'a> {
    fn read(body: &'a str) -> Result<Self, DecodeError> {
        let versioned = body.split(';').next().is_some_and(|version| version.contains('.'));
        let (names, error) = if versioned { without_checksum(body, ';', 3) } else { (body, None) };
        let mut fields = names.split(';').skip(usize::from(versioned));
        let name = fields.next().unwrap_or_default();
        if name.is_empty() {
            return Err(DecodeError::Malformed("a login must have an identifier"));
        }
        Ok(Self { name, password: fields.next().unwrap_or_default(), error })
    }
}

/// The content before its checksum, which from version 2.0 follows the last separator: four hexadecimal digits, one
/// field more than the record has. It covers everything before it, including the separator.
fn without_checksum(content: &str, separator: char, fields: usize) -> (&str, Option<DecodeError>) {
    let Some((body, digits)) = content.rsplit_once(separator) else { return (content, None) };
    let sent = hex(digits).filter(|_| digits.len() == 4 && content.split(separator).count() > fields);
    let Some(sent) = sent.and_then(|sent| u16::try_from(sent).ok()) else { return (content, None) };
    let covered = content.len() - digits.len();
    let computed = crc16_arc(content.as_bytes().get(..covered).unwrap_or_default());
    (body, (sent != computed).then_some(DecodeError::Checksum { sent, computed }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoded::Options;

    fn decode(line: &str, options: &serde_json::Value, known: bool) -> Decoded {
        let options = Options::new(options.as_object().unwrap().clone());
        let now = perigee_core::time::Timestamp::from_millis(0);
        let context =
            Context { known, identifier: None, model: None, options: &options, datagram: false, now };
        WialonDecoder::default().decode(line.as_bytes(), &context)
    }

    #[test]
    fn a_password_is_asked_for_where_one_is_set() {
        let set = serde_json::json!({"password": "secret"});
        for line in ["#L#7;secret", "#L#2.1;7;secret;9C4F"] {
            let right = decode(line, &set, false);
            assert_eq!(right.identifiers, ["7"], "{line}");
            assert_eq!(right.replies, [b"#AL#1\r\n"], "{line}");
        }
        for line in ["#L#7;other", "#L#7;NA", "#L#2.0;7;;0000"] {
            let wrong = decode(line, &set, false);
            assert_eq!((wrong.identifiers.len(), wrong.error), (0, Some(DecodeError::Password)), "{line}");
            assert_eq!(wrong.replies, [b"#AL#01\r\n"], "{line}");
        }
        // A line that identifies its device itself, as by UDP, has no password.
        for line in ["7#P#", "2.0;7#M#hello", "#D#NA;NA"] {
            let unasked = decode(line, &set, true);
            assert_eq!(unasked.error, Some(DecodeError::Password), "{line}");
            assert!(unasked.replies.is_empty() && unasked.identifiers.is_empty(), "{line}");
        }
    }

    #[test]
    fn a_message_of_the_driver_is_a_text() {
        let none = serde_json::json!({});
        assert_eq!(decode("#M#Flat tyre", &none, true).text.as_deref(), Some("Flat tyre"));
        assert_eq!(decode("#P#", &none, true).text, None);
    }

    #[test]
    fn checksums_are_checked_and_not_counted_as_records() {
        let none = serde_json::json!({});
        let record = "220323;114150;2234.80479;N;11354.87786;E;0;NA;59;11";
        let text = format!("{record}|{record}|");
        let crc = crc16_arc(text.as_bytes());
        let right = decode(&format!("#B#{text}{crc:04X}"), &none, true);
        assert_eq!((right.reports.len(), right.error), (2, None));
        assert_eq!(right.replies, [b"#AB#2\r\n"]);
        let damaged = decode(&format!("#SD#{record};{:04X}", !crc), &none, true);
        assert!(matches!(damaged.error, Some(DecodeError::Checksum { .. })));
        let unread = decode("#D#NA;NA", &none, true);
        assert_eq!(unread.replies, [b"#AD#-1\r\n"]);
        assert_eq!(decode("#SD#x", &none, false).error, Some(DecodeError::Unidentified));
    }
}
