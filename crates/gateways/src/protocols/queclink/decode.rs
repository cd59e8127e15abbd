//! Decodes Queclink frames, text or binary, and dispatches messages.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};

use super::binary::read_binary;
use super::frame::RECORDS;
use super::model::model_of;
use super::records::read_records;
use super::sentence::Sentence;
use super::{accessory, can, eri, event, fri, information};

/// Reads Queclink frames, each of which has the identifier of its device.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueclinkDecoder;

impl Decoder for QueclinkDecoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        let read = if frame.starts_with(RECORDS) {
            read_records(frame)
        } else if matches!(frame.get(4), Some(b'P' | b'F' | b':'))
            && matches!(frame.get(..4), Some(b"+RES" | b"+BUF" | b"+ACK"))
        {
            read_text(frame, context)
        } else {
            read_binary(frame)
        };
        Decoded::from(read).in_zone(context)
    }
}

fn read_text(frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let text = String::from_utf8_lossy(frame);
    let text = text.trim_end_matches(['$', '\0', '\r', '\n']);
    let sentence = Sentence::parse(text, context)?;
    let mut decoded = Decoded::identified(sentence.identifier);
    decoded.model = Some(model_of(sentence.version).to_owned()).filter(|model| !model.is_empty());
    if text.starts_with("+ACK") {
        if sentence.kind == "HBD" {
            let reply = format!("+SACK:GTHBD,{},{}$", sentence.version, sentence.count);
            return Ok(decoded.with_reply(reply));
        }
        decoded.reports.push(event::read_answer(&sentence));
    } else {
        decoded.reports = match sentence.kind {
            "INF" => information::read_information(&sentence),
            "VER" => vec![information::read_version(&sentence)],
            "CAN" => vec![can::read_can(&sentence)],
            "OBD" => vec![can::read_obd(&sentence)],
            "FRI" | "CTN" | "GEO" | "RTL" | "DOG" | "STR" => fri::read_fri(&sentence),
            "ERI" => eri::read_eri(&sentence),
            "BAA" | "BID" => vec![accessory::read_accessory(&sentence)],
            "WIF" => vec![accessory::read_wifi(&sentence)],
            "GSM" => vec![accessory::read_cells(&sentence, 4)],
            "LBS" => vec![accessory::read_cells(&sentence, 12)],
            _ => vec![event::read_event(&sentence)],
        };
        for report in &mut decoded.reports {
            report.set("type", crate::Value::text(sentence.kind));
        }
    }
    if context.options.flag("ack") {
        decoded.reply(format!("+SACK:{}$", sentence.count));
    }
    Ok(decoded)
}
