//! Payloads of at most twelve bytes in the formats of common trackers.

use crate::alarm::{AlarmTable, Notation, number};
use crate::decoded::DecodeError;
use crate::notation::bits::bit;
use crate::notation::reader::Reader;
use crate::report::Report;

/// Types of records that begin with their type.
pub(super) const EVENT: AlarmTable = AlarmTable {
    field: "first byte of a payload whose records have a type",
    notation: Notation::Hexadecimal,
    codes: &[number(0x22, "sos"), number(0x62, "sos")],
};

/// Decodes a payload. `tagged` selects records that begin with their type.
pub(super) fn read(report: &mut Report, bytes: &[u8], tagged: bool, amber: bool) -> Result<(), DecodeError> {
    let mut reader = Reader::new(bytes);
    if amber {
        return read_amber(report, &mut reader);
    }
    let event = reader.u8()?;
    if tagged {
        report.set("event", event);
        report.alarm_some(EVENT.word(event.into()));
        while !reader.is_empty() {
            read_tagged(report, &mut reader)?;
        }
        return Ok(());
    }
    match event {
        0x0f | 0x1f => {
            let (latitude, longitude) = (signed(&mut reader)?, signed(&mut reader)?);
            report.fix(latitude, longitude);
            report.valid = Some(event == 0x1f);
            report.set("battery", reader.u8()?);
        }
        _ if matches!(event, 0x00 | 0x10 | 0x20 | 0x30) && bytes.len() == 12 => {
            let (latitude, longitude) = (reader.i32_le()?, reader.i32_le()?);
            report.fix(f64::from(latitude) / 1e7, f64::from(longitude) / 1e7);
            report.course = Some(f64::from(reader.u8()?) * 2.0);
            report.speed_kmh = Some(f64::from(reader.u8()?));
            report.set("battery", f64::from(reader.u8()?) * 0.025);
        }
        _ => return Err(DecodeError::UnknownType(event.into())),
    }
    Ok(())
}

/// A number of millionths of a degree whose highest bit is its sign.
fn signed(reader: &mut Reader<'_>) -> Result<f64, DecodeError> {
    let raw = reader.u32()?;
    let degrees = f64::from(raw & 0x7fff_ffff) / 1e6;
    Ok(if bit(raw, 31) { -degrees } else { degrees })
}

fn read_tagged(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    match reader.u8()? {
        // A position in an undocumented format, and an accelerometer.
        0x01 | 0x08 => reader.skip(6)?,
        0x02 => {
            let (latitude, longitude) = (reader.f32()?, reader.f32()?);
            report.fix(f64::from(latitude), f64::from(longitude));
        }
        0x03 => report.set("temp1", f64::from(reader.i8()?) * 0.5),
        0x04 => report.set("battery", f64::from(reader.u8()?) * 0.1),
        0x05 => report.set("batteryLevel", reader.u8()?),
        0x06 => {
            let mac = reader.array()?;
            report.access_point(mac, Some(-i32::from(reader.u8()?)));
        }
        0x07 => reader.skip(10)?,
        0x09 => report.speed_kmh = Some(f64::from(reader.u8()?)),
        _ => reader.skip(1)?,
    }
    Ok(())
}

/// Twelve bytes of an Amber unit.
fn read_amber(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let flags = reader.u8()?;
    report.set("motion", bit(flags, 1));
    report.set("battery", f64::from(reader.u16()?) * 0.02);
    report.set("temp1", reader.i8()?);
    let (latitude, longitude) = (reader.i32()?, reader.i32()?);
    report.fix(f64::from(latitude) / 60_000.0, f64::from(longitude) / 60_000.0);
    Ok(())
}
