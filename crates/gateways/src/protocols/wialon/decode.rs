//! Reads Wialon IPS lines: `#kind#content`.

use crate::checksum::crc16_arc;
use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::fields::hex;
use crate::report::Report;

use super::record::read_record;

/// Reads Wialon IPS lines. A line names its device by login or, on UDP, before its first `#`.
#[derive(Clone, Copy, Debug)]
pub(super) struct WialonDecoder;

impl Decoder for WialonDecoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        read(&String::from_utf8_lossy(frame), context).into()
    }
}

fn read(line: &str, context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let malformed = DecodeError::Malformed("a line is #kind#content");
    let mut parts = line.trim_end_matches(['\r', '\n']).splitn(3, '#');
    let (Some(front), Some(kind), Some(content)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(malformed);
    };
    if kind == "L" {
        return login(content, context);
    }
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
            let (content, error) = without_checksum(content, ';', if kind == "D" { 16 } else { 10 });
            decoded.error = error;
            match read_record(content) {
                Some(report) => {
                    decoded.reports.push(report);
                    decoded.reply(format!("#A{kind}#1\r\n"));
                }
                None => {
                    decoded.error = Some(DecodeError::Malformed("a record has ten or sixteen fields"));
                    decoded.reply(format!("#A{kind}#-1\r\n"));
                }
            }
        }
        "B" => {
            let (content, error) = without_checksum(content, '|', 0);
            decoded.error = error;
            let records: Vec<&str> = content.split('|').filter(|record| !record.is_empty()).collect();
            for record in &records {
                match read_record(record) {
                    Some(mut report) => {
                        report.set("archive", true);
                        decoded.reports.push(report);
                    }
                    None => {
                        decoded.error = Some(DecodeError::Malformed("a record has ten or sixteen fields"))
                    }
                }
            }
            // The count is of what arrived; a record that cannot be read would only be sent again.
            decoded.reply(format!("#AB#{}\r\n", records.len()));
        }
        "M" => {
            let (content, error) = without_checksum(content, ';', 1);
            decoded.error = error;
            let mut report = Report::default();
            report.set_text("result", content);
            decoded.reports.push(report);
            decoded.reply("#AM#1\r\n");
        }
        _ => return Err(malformed),
    }
    Ok(decoded)
}

/// `name;password`, or from version 2.0 `version;name;password;checksum`.
///
/// A device with the option `password` must send that one; any other gets `#AL#01` and stays unnamed.
fn login(content: &str, context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let versioned = content.split(';').next().is_some_and(|version| version.contains('.'));
    let (content, error) = if versioned { without_checksum(content, ';', 3) } else { (content, None) };
    let mut fields = content.split(';').skip(usize::from(versioned));
    let name = fields.next().unwrap_or_default();
    if name.is_empty() {
        return Err(DecodeError::Malformed("a login needs a name"));
    }
    let password = fields.next().unwrap_or_default();
    if context.options.text("password").is_some_and(|wanted| wanted != password) {
        return Ok(Decoded {
            error: Some(DecodeError::Malformed("the password is another")),
            ..Decoded::nothing().with_reply("#AL#01\r\n")
        });
    }
    Ok(Decoded { error, ..Decoded::identified(name).with_reply("#AL#1\r\n") })
}

/// The content before its checksum, which from version 2.0 stands after the last separator: four hexadecimal digits, one
/// field more than there would be. It covers everything before it, the separator too.
fn without_checksum(content: &str, separator: char, fields: usize) -> (&str, Option<DecodeError>) {
    let Some((body, digits)) = content.rsplit_once(separator) else { return (content, None) };
    let sent = hex(digits).filter(|_| digits.len() == 4 && content.split(separator).count() > fields);
    let Some(sent) = sent.and_then(|sent| u16::try_from(sent).ok()) else { return (content, None) };
    let covered = content.len() - digits.len();
    let computed = crc16_arc(content.as_bytes().get(..covered).unwrap_or_default());
    (body, (sent != computed).then_some(DecodeError::Checksum { sent, computed }))
}
