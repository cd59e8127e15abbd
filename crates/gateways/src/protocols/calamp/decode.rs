//! Decodes `CalAmp` datagrams: options that identify the unit, a service, a message.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::bits::bit;
use crate::notation::reader::{Reader, hex_digits};

use super::report::read_report;

#[derive(Clone, Copy, Debug)]
pub(super) struct CalampDecoder;

/// The service of a message that the unit repeats until it is acknowledged.
const ACKNOWLEDGED: u8 = 1;
/// The service of an answer.
const RESPONSE: u8 = 2;
/// The message that answers.
const ACKNOWLEDGE: u8 = 1;

impl Decoder for CalampDecoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        read(frame, context).into()
    }
}

/// The reply of the unit to a message: whether it was accepted, or the requested values.
fn read_answer(kind: u8, mut reader: Reader<'_>) -> Option<String> {
    if kind != ACKNOWLEDGE {
        return Some(format!("{kind:02X}: {}", hex_digits(reader.take_rest())));
    }
    let (asked, outcome) = (reader.u8().ok()?, reader.u8().ok()?);
    let word = if outcome == 0 { "done".to_owned() } else { format!("refused with code {outcome}") };
    Some(format!("{asked:02X}: {word}"))
}

fn read(frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(frame);
    let mut decoded = Decoded::nothing();
    if let Some(options) = reader.peek(0).filter(|first| bit(*first, 7)) {
        reader.skip(1)?;
        // Identifier and its type, authentication, routing, forwarding, redirection: each a length and its bytes.
        for option in 0..6 {
            if !bit(options, option) {
                continue;
            }
            let length = usize::from(reader.u8()?);
            let digits = reader.hex(length)?;
            let name = digits.trim_end_matches('f');
            if option == 0 && !name.is_empty() {
                decoded.identifiers.push(name.to_owned());
            }
        }
    }
    if decoded.identifiers.is_empty() && !context.known {
        return Err(DecodeError::Unidentified);
    }
    let (service, kind, sequence) = (reader.u8()?, reader.u8()?, reader.u16()?);
    if service == RESPONSE {
        decoded.answer = read_answer(kind, reader);
    }
    match read_report(kind, &mut reader) {
        Ok(report) => decoded.reports.extend(report),
        Err(error) => decoded.error = Some(error),
    }
    if service == ACKNOWLEDGED && decoded.error != Some(DecodeError::Short) {
        let [high, low] = sequence.to_be_bytes();
        decoded.reply([RESPONSE, ACKNOWLEDGE, high, low, kind, 0, 0, 0, 0, 0]);
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use perigee_core::time::Timestamp;

    use super::*;
    use crate::decoded::Options;

    #[test]
    fn answers_to_commands_are_reported() {
        let check = |message: &[u8], expect: Option<&str>| {
            let options = Options::default();
            let now = Timestamp::from_millis(0);
            let context = Context {
                known: true,
                identifier: None,
                model: None,
                options: &options,
                datagram: true,
                now,
            };
            let decoded = CalampDecoder.decode(message, &context);
            assert_eq!((decoded.answer.as_deref(), decoded.replies.len()), (expect, 0), "{message:?}");
        };
        check(&[2, 1, 0, 7, 7, 0, 0, 0, 0, 0], Some("07: done"));
        check(&[2, 1, 0, 7, 6, 3, 0, 0, 0, 0], Some("06: refused with code 3"));
        check(&[2, 6, 0, 7, 2, 0xab], Some("06: 02ab"));
        check(&[0, 1, 0, 7, 7, 0, 0, 0, 0, 0], None);
    }
}
