//! GT06 messages made of modules, each with a number and a length.

use perigee_core::time::Timestamp;

use crate::decoded::DecodeError;
use crate::notation::reader::Reader;
use crate::report::Report;

use super::alarm::MODULE;
use super::part::{hundredths, set_position};

/// Reads every module of a message. Some units state a wrong length for modules of fixed content, so these are read by
/// their content, and only unknown modules by their length.
pub(super) fn read_modules(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    while reader.remaining() >= 4 {
        let (module, length) = (reader.u16()?, usize::from(reader.u16()?));
        match module {
            0x03 => report.set("iccid", reader.hex(10)?),
            0x09 => report.set("sat", reader.u8()?),
            0x0a => report.set("satVisible", reader.u8()?),
            0x11 => read_module_cell(report, reader)?,
            0x18 => report.set("battery", hundredths(reader.u16()?)),
            0x28 => report.set("hdop", f64::from(reader.u8()?) / 10.0),
            0x29 => report.set("index", reader.u32()?),
            0x2a => {
                let input = reader.u8()?;
                report.set("door", input & 0x0f > 0);
                report.set("tamper", input >> 4 > 0);
            }
            0x2b => report.set("bootReason", reader.u8()?),
            0x2e => report.set("odometer", reader.u32_le()?),
            0x33 => read_module_fix(report, reader)?,
            0x34 => {
                let event = reader.u8()?;
                report.alarm_some(MODULE.word(event.into()));
                report.set("event", event);
                reader.skip(4)?;
                let content = reader.u8()?;
                reader.skip(content.into())?;
            }
            0x7f => {
                report.set("tag1Id", reader.hex(6)?);
                report.set("tag1Battery", f64::from(reader.u16()?) / 1000.0);
                report.set("tag1BatteryLevel", reader.u8()?);
                report.set("tag1Temp", f64::from(reader.i16()?) / 10.0);
                report.set("tag1Humidity", reader.i16()?);
                report.set("tag1Status", reader.u8()?);
            }
            _ => reader.skip(length)?,
        }
    }
    Ok(())
}

fn read_module_cell(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let (mcc, mnc, lac) = (reader.u16()?, reader.u16()?, reader.u16()?);
    let (cell, signal) = (reader.u24()?, reader.u8()?);
    if cell > 0 {
        report.cell_with_signal((mcc, mnc), lac, cell, signal);
    }
    Ok(())
}

fn read_module_fix(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    report.time = Some(Timestamp::from_millis(i64::from(reader.u32()?) * 1000));
    report.set("sat", reader.u8()?);
    report.altitude_m = Some(f64::from(reader.i16()?));
    let (latitude, longitude) = (reader.u32()?, reader.u32()?);
    report.speed_kmh = Some(f64::from(reader.u8()?));
    set_position(report, latitude, longitude, reader.u16()?);
    Ok(())
}
