//! Decodes Ruptela frames: length, identifier, command, content, checksum.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::checksum::crc16_kermit;
use crate::notation::reader::Reader;
use crate::report::Report;

use super::encode::packet;
use super::file::FileParts;
use super::record::{read_card, read_fault_codes, read_records};

const RECORDS: u8 = 1;
/// Records, including extended ones, are answered as command 0; all other commands are answered with their own number.
const RECORDS_ANSWER: u8 = 0;
const FAULT_CODES: u8 = 9;
const IDENTIFICATION: u8 = 15;
const HEARTBEAT: u8 = 16;
const SET_OUTPUT: u8 = 17;
const CARD: u8 = 36;
const FILES: u8 = 37;
const EXTENDED_RECORDS: u8 = 68;

/// Decodes Ruptela frames, each of which has the identifier of its device. Keeps the parts of a photo until it is
/// complete.
#[derive(Debug, Default)]
pub(super) struct RuptelaDecoder {
    parts: FileParts,
}

impl Decoder for RuptelaDecoder {
    fn decode(&mut self, frame: &[u8], _context: &Context<'_>) -> Decoded {
        self.read(frame).into()
    }

    fn held_bytes(&self) -> usize {
        self.parts.held_bytes()
    }

    fn drop_held(&mut self) {
        self.parts = FileParts::default();
    }
}

impl RuptelaDecoder {
    fn read(&mut self, frame: &[u8]) -> Result<Decoded, DecodeError> {
        let mut reader = Reader::new(frame);
        reader.skip(2)?;
        let body = reader.take(reader.remaining().checked_sub(2).ok_or(DecodeError::Short)?)?;
        let (sent, computed) = (reader.u16()?, crc16_kermit(body));
        let mut content = Reader::new(body);
        let mut decoded = Decoded::identified(format!("{:015}", content.u64()?));
        let command = content.u8()?;
        // A damaged part of a file is dropped.
        let kept = (sent != computed).then(|| std::mem::take(&mut self.parts));
        if let Err(error) = self.read_content(command, &mut content, &mut decoded) {
            decoded.error = Some(error);
        }
        if let Some(parts) = kept {
            self.parts = parts;
        }
        if sent != computed {
            decoded.error = Some(DecodeError::Checksum { sent, computed });
        }
        Ok(decoded)
    }

    fn read_content(
        &mut self,
        command: u8,
        content: &mut Reader<'_>,
        decoded: &mut Decoded,
    ) -> Result<(), DecodeError> {
        match command {
            RECORDS | EXTENDED_RECORDS => {
                decoded.reports = read_records(content, command == EXTENDED_RECORDS)?;
                decoded.reply(packet(RECORDS_ANSWER, &[1]));
            }
            FAULT_CODES => {
                decoded.reports = read_fault_codes(content)?;
                decoded.reply(packet(FAULT_CODES, &[1]));
            }
            CARD => {
                decoded.reports.push(read_card(content)?);
                decoded.reply(packet(CARD, &[1]));
            }
            IDENTIFICATION | HEARTBEAT => decoded.reply(packet(command, &[1])),
            FILES => self.parts.read(content, decoded)?,
            // Configuration, version, firmware, text command: the answer is text.
            2..=4 | 7 => {
                let text = content.text(content.remaining())?;
                decoded
                    .reports
                    .push(answer(command, text.trim_matches(|c: char| c.is_whitespace() || c == '\0')));
            }
            SET_OUTPUT => decoded.reports.push(answer(command, &content.u8()?.to_string())),
            // Answers to setting a server or an odometer.
            5 | 6 | 8 => {}
            _ => return Err(DecodeError::UnknownType(command.into())),
        }
        Ok(())
    }
}

/// The reply of a unit to a command.
fn answer(command: u8, text: &str) -> Report {
    let mut report = Report::default();
    report.set("type", command);
    report.set_text("result", text);
    report
}
