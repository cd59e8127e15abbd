//! TK103 sentences about batteries.

use crate::decoded::DecodeError;
use crate::notation::fields::{Fields, hex};
use crate::notation::hex::parse_hex;
use crate::notation::number::real;
use crate::notation::reader::Reader;
use crate::report::Report;

use super::position::date_and_time;

/// `ddMMyy,HHmmss,level,centivolts,decivolts of the supply,installed`.
pub(super) fn read_state(content: &str) -> Option<Report> {
    let mut fields = Fields::split(content, ',');
    let time = date_and_time(fields.take(), fields.take(), true);
    let mut report = Report { time, ..Report::default() };
    let level: u32 = fields.number()?;
    let percent = match level {
        6 => Some(100),
        5 => Some(80),
        4 => Some(50),
        3 => Some(20),
        2 => Some(10),
        _ => None,
    };
    report.set_some("batteryLevel", percent);
    for (name, scale) in [("battery", 100.0), ("power", 10.0)] {
        let raw = fields.number::<i64>().filter(|raw| *raw != 65_535);
        report.set_some(name, raw.map(|raw| real(raw) / scale));
    }
    Some(report)
}

/// The state of a pack of batteries as bytes in hexadecimal digits, lowest byte first.
pub(super) fn read_pack(content: &str) -> Option<Report> {
    let bytes = parse_hex(content)?;
    read_pack_bytes(&mut Reader::new(&bytes)).ok()
}

/// A temperature is 40 degrees below its byte.
fn celsius(reader: &mut Reader<'_>) -> Result<i16, DecodeError> {
    Ok(i16::from(reader.u8()?) - 40)
}

fn read_pack_bytes(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
    let mut report = Report::default();
    reader.skip(3)?;
    let batteries = u32::from(reader.u8()?);
    for number in 1..=24 {
        let millivolts = reader.u16_le()?;
        if number <= batteries {
            report.set(("battery", number), f64::from(millivolts) / 1000.0);
        }
    }
    report.set("charge", reader.u8()? == 0);
    report.set("current", f64::from(reader.u16_le()?) / 10.0);
    report.set("battery", f64::from(reader.u16_le()?) / 100.0);
    report.set("batteryLevel", reader.u8()?);
    for name in ["batteryOverheat", "chargeProtection", "dischargeProtection"] {
        report.set(name, reader.u8()? > 0);
    }
    reader.skip(2)?;
    report.set("cycles", reader.u16_le()?);
    report.set("faultAlarm", reader.u8()?);
    reader.skip(6)?;
    let sensors = u32::from(reader.u8()?);
    report.set("powerTemp", celsius(reader)?);
    report.set("equilibriumTemp", celsius(reader)?);
    for number in 1..=7 {
        let degrees = celsius(reader)?;
        if number <= sensors {
            report.set(("batteryTemp", number), degrees);
        }
    }
    report.set("calibrationCapacity", f64::from(reader.u16_le()?) / 100.0);
    report.set("dischargeCapacity", reader.u32_le()?);
    Ok(report)
}

/// `90:bytes,91:bytes,…`: frames of a battery's own bus.
pub(super) fn read_cells(content: &str) -> Option<Report> {
    let mut report = Report::default();
    for frame in content.split(',') {
        let (number, bytes) = frame.split_once(':')?;
        let bytes = parse_hex(bytes)?;
        // A frame that is too short has fewer readings.
        let _ = set_cells(&mut report, hex(number)?, &mut Reader::new(&bytes));
    }
    Some(report)
}

fn set_cells(report: &mut Report, frame: u64, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    match frame {
        0x90 => {
            report.set("cumulativeVoltage", f64::from(reader.u16_le()?) / 10.0);
            report.set("gatherVoltage", f64::from(reader.u16_le()?) / 10.0);
            report.set("current", (f64::from(reader.u16_le()?) - 30_000.0) / 10.0);
            report.set("soc", f64::from(reader.u16_le()?) / 10.0);
        }
        0x91 => {
            report.set("maxCellVoltage", f64::from(reader.u16_le()?) / 1000.0);
            report.set("maxCellVoltageCount", reader.u8()?);
            report.set("minCellVoltage", f64::from(reader.u16_le()?) / 1000.0);
            report.set("minCellVoltageCount", reader.u8()?);
        }
        0x92 => {
            report.set("maxTemp", celsius(reader)?);
            report.set("maxTempCount", reader.u8()?);
            report.set("minTemp", celsius(reader)?);
            report.set("minTempCount", reader.u8()?);
        }
        0x96 => {
            reader.skip(1)?;
            for number in 1..=64 {
                report.set(("cellTemp", number), celsius(reader)?);
            }
        }
        _ => {}
    }
    Ok(())
}
