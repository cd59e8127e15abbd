//! Decodes Suntech frames by their format.

use perigee_core::time::Timestamp;

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::calendar::Civil;
use crate::notation::fields::Fields;
use crate::report::Report;

use super::binary::read_binary;
use super::classic::read_classic;
use super::collar::{read_collar, read_st4};
use super::mapped::read_mapped;
use super::zip::read_zip;

/// Decodes Suntech frames, each of which has the identifier of its device.
#[derive(Clone, Copy, Debug)]
pub(super) struct SuntechDecoder;

impl Decoder for SuntechDecoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        let read = match frame.first() {
            Some(0x02) => read_zip(frame),
            Some(0x81..=0x8f) => read_binary(frame),
            // Data of a serial port may be any bytes.
            _ => read_line(&frame.iter().map(|byte| char::from(*byte)).collect::<String>(), context),
        };
        Decoded::from(read).in_zone(context)
    }
}

fn read_line(line: &str, context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let fields = Fields::split(line.trim_end_matches(['\r', '\n']), ';');
    let head = fields.get(0);
    if fields.count() < 2 || !head.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(DecodeError::Malformed("a line must have a type and an identifier"));
    }
    if head.starts_with("ST9") && head.len() == 5 {
        return read_collar(fields);
    }
    let kind = head.get(5..).filter(|kind| !kind.is_empty());
    match kind {
        Some("CMD") => Ok(answer(&fields, "CMD", 2)),
        Some("ALV") => Ok(Decoded::identified(fields.get(1))),
        Some("HTE") => {
            let mut report = Report::default();
            report.set_text("driverUniqueId", fields.get(fields.count() - 1));
            Ok(Decoded { reports: vec![report], ..Decoded::identified(fields.get(1)) })
        }
        Some(_) if head.starts_with("ST4") => read_st4(fields),
        Some(_) => read_classic(fields, context),
        None => match head {
            "ALV" => Ok(Decoded::identified(fields.get(1))),
            "RES" => Ok(answer(&fields, "RES", 1)),
            _ => read_mapped(fields),
        },
    }
}

/// The reply of a unit to a command; `name` is the index of its name.
fn answer(fields: &Fields<'_>, kind: &'static str, name: usize) -> Decoded {
    let text: Vec<&str> = (name + 1..fields.count()).map(|index| fields.get(index)).collect();
    let mut report = Report::default();
    report.set_text("type", kind);
    report.set_text("result", &text.join(";"));
    Decoded { reports: vec![report], ..Decoded::identified(fields.get(name)) }
}

/// `yyyyMMdd` and `HH:mm:ss`.
pub(super) fn date_and_time(date: &str, time: &str) -> Option<Timestamp> {
    let digits: String = date.chars().chain(time.chars()).filter(char::is_ascii_digit).collect();
    Civil::parse(&digits).filter(|_| digits.len() == 14).and_then(Civil::instant)
}

/// Latitude, longitude, speed and course; the position only if both coordinates are present.
pub(super) fn set_motion(report: &mut Report, fields: &mut Fields<'_>) {
    let (latitude, longitude) = (fields.real(), fields.real());
    if let Some((latitude, longitude)) = latitude.zip(longitude) {
        report.locate(latitude, longitude);
    }
    report.speed_kmh = fields.real();
    report.course = fields.real();
}
