//! Messages of `CalAmp` units that report something.

use perigee_core::time::Timestamp;

use crate::decoded::DecodeError;
use crate::notation::bits::{bit, bits};
use crate::notation::number::real;
use crate::notation::reader::Reader;
use crate::report::Report;

const EVENT: u8 = 2;
const USER_DATA: u8 = 4;
const LOCATE: u8 = 8;
const USER_DATA_ACCUMULATORS: u8 = 9;
const MINI_EVENT: u8 = 10;

/// Factor from centimetres per second to km/h.
const CENTIMETRE_KMH: f64 = 0.036;

/// The report of a message; none if its type has none.
pub(super) fn read_report(kind: u8, reader: &mut Reader<'_>) -> Result<Option<Report>, DecodeError> {
    let mut report = match kind {
        EVENT | USER_DATA | LOCATE | USER_DATA_ACCUMULATORS => read_full(reader)?,
        MINI_EVENT => read_mini(reader)?,
        // Nothing, acknowledgement, unit's own data, application's data, parameters, requests.
        0..=7 => return Ok(None),
        _ => return Err(DecodeError::UnknownType(kind.into())),
    };
    match kind {
        EVENT => {
            reader.skip(1)?;
            report.set("event", reader.u8()?);
            set_accumulators(&mut report, reader, true)?;
        }
        MINI_EVENT => {
            report.set("event", reader.u8()?);
            set_accumulators(&mut report, reader, false)?;
        }
        LOCATE => set_accumulators(&mut report, reader, true)?,
        _ => {
            // Route and identifier of the text.
            reader.skip(2)?;
            let length = usize::from(reader.u16()?);
            let text = reader.text(length.min(reader.remaining()))?;
            report.set_text("result", text.trim_matches(|c: char| c.is_whitespace() || c == '\0'));
            if kind == USER_DATA_ACCUMULATORS && reader.remaining() > 2 {
                set_accumulators(&mut report, reader, true)?;
            }
        }
    }
    Ok(Some(report))
}

fn seconds(count: u32) -> Timestamp {
    Timestamp::from_millis(i64::from(count) * 1000)
}

fn degrees(reader: &mut Reader<'_>) -> Result<f64, DecodeError> {
    Ok(f64::from(reader.i32()?) / 1e7)
}

/// The part that all long messages begin with.
fn read_full(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
    let mut report = Report { time: Some(seconds(reader.u32()?)), ..Report::default() };
    // The time of the last fix, which is older if the unit has no fix at present.
    reader.skip(4)?;
    let (latitude, longitude) = (degrees(reader)?, degrees(reader)?);
    report.locate(latitude, longitude);
    report.altitude_m = Some(f64::from(reader.i32()?) / 100.0);
    report.speed_kmh = Some(real(reader.u32()?.into()) * CENTIMETRE_KMH);
    report.course = Some(f64::from(reader.u16()?));
    report.set("sat", reader.u8()?);
    report.valid = Some(!bit(reader.u8()?, 3));
    report.set("carrier", reader.u16()?);
    report.set("rssi", reader.i16()?);
    report.set("modem", reader.u8()?);
    report.set("hdop", reader.u8()?);
    set_inputs(&mut report, reader.u8()?);
    report.set("status", reader.u8()?);
    Ok(report)
}

/// The part that short messages begin with.
fn read_mini(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
    let mut report = Report { time: Some(seconds(reader.u32()?)), ..Report::default() };
    let (latitude, longitude) = (degrees(reader)?, degrees(reader)?);
    report.locate(latitude, longitude);
    report.course = Some(f64::from(reader.u16()?));
    report.speed_kmh = Some(f64::from(reader.u8()?));
    let fix = reader.u8()?;
    report.set("sat", bits(fix, 0, 4));
    report.valid = Some(!bit(fix, 5));
    report.set("modem", reader.u8()?);
    set_inputs(&mut report, reader.u8()?);
    Ok(report)
}

/// Input 0 is the ignition, the others are wires.
fn set_inputs(report: &mut Report, inputs: u8) {
    report.set("input", inputs);
    report.set("ignition", bit(inputs, 0));
    for pin in 1..8 {
        report.input(pin, bit(inputs, pin));
    }
}

/// Counters, preceded by their threshold and mask if the two highest bits of the count are 01.
fn set_accumulators(report: &mut Report, reader: &mut Reader<'_>, long: bool) -> Result<(), DecodeError> {
    let count = reader.u8()?;
    if long {
        report.set("append", reader.u8()?);
    }
    if bits(count, 6, 8) == 1 {
        reader.skip(8)?;
    }
    for index in 0..u32::from(count & 0x3f) {
        if reader.remaining() < 4 {
            break;
        }
        report.set(("acc", index), reader.u32()?);
    }
    Ok(())
}
