//! Reads `CalAmp` datagrams: options that name the unit, a service, a message.

use crate::bits::bit;
use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::reader::Reader;

use super::report::read_report;

/// Reads `CalAmp` datagrams.
#[derive(Clone, Copy, Debug)]
pub(super) struct CalampDecoder;

/// The unit sends again until it gets an answer.
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

fn read(frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(frame);
    let mut decoded = Decoded::nothing();
    if let Some(options) = reader.peek(0).filter(|first| bit(*first, 7)) {
        reader.skip(1)?;
        // Name, its kind, authentication, routing, forwarding, redirection: each a length and its bytes.
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
