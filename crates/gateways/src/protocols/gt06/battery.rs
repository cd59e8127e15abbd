//! The GT06 message of a battery management system (WD-209).

use perigee_core::time::Timestamp;

use crate::decoded::DecodeError;
use crate::notation::reader::Reader;
use crate::report::Report;
use crate::value::Value;

/// Reads capacities, cells and states of a traction battery.
pub(super) fn read_battery_system(mut reader: Reader<'_>) -> Result<Report, DecodeError> {
    reader.skip(8)?;
    let time = Timestamp::from_millis(i64::from(reader.u32()?) * 1000);
    let mut report = Report { time: Some(time), ..Report::default() };
    let volts = |thousandths: u16| f64::from(thousandths) / 1000.0;
    report.set("relativeCapacity", reader.u8()?);
    report.set("remainingCapacity", reader.u16()?);
    report.set("absoluteCapacity", reader.u8()?);
    report.set("fullCapacity", reader.u16()?);
    report.set("batteryHealth", reader.u8()?);
    report.set("batteryTemp", f64::from(reader.u16()?) / 10.0 - 273.1);
    report.set("current", reader.u16()?);
    report.set("battery", volts(reader.u16()?));
    report.set("cycleIndex", reader.u16()?);
    for cell in 1..=14 {
        report.set(("batteryCell", cell), volts(reader.u16()?));
    }
    report.set("currentChargeInterval", reader.u16()?);
    report.set("maxChargeInterval", reader.u16()?);
    let barcode = reader.text(16)?;
    report.set("barcode", Value::text(barcode.trim_matches(|c: char| c <= ' ')));
    report.set("batteryVersion", reader.u16()?);
    let manufacturer = reader.text(16)?;
    report.set("manufacturer", Value::text(manufacturer.trim_matches(|c: char| c <= ' ')));
    report.set("batteryStatus", reader.u32()?);
    report.set("controllerStatus", reader.u32()?);
    report.set("controllerFault", reader.u32()?);
    Ok(report)
}
