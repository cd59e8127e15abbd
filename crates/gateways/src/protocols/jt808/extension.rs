//! Elements of diagnostics that follow element 0x80 to the end of a position, and other lists of readings.

use crate::decoded::DecodeError;
use crate::notation::fields::{integer, real};
use crate::notation::reader::Reader;
use crate::report::Report;

/// Reads elements up to the end; an incomplete one ends the list.
pub(super) fn read_extension(report: &mut Report, mut reader: Reader<'_>) {
    while reader.remaining() >= 2 {
        let Ok((element, length)) = reader.u8().and_then(|element| Ok((element, reader.u8()?))) else {
            return;
        };
        let Ok(content) = reader.sub(length.into()) else { return };
        let _ = read_element(report, element, content);
    }
}

fn read_element(report: &mut Report, element: u8, mut content: Reader<'_>) -> Result<(), DecodeError> {
    let length = content.remaining();
    match element {
        0x01 => report.set("odometer", i64::from(content.u32()?) * 100),
        0x02 => report.set("fuel", f64::from(content.u16()?) / 10.0),
        0x03 => report.set("obdSpeed", f64::from(content.u16()?) / 10.0),
        0x56 => {
            content.skip(1)?;
            report.set("batteryLevel", content.u8()?);
        }
        0x61 => report.set("power", f64::from(content.u16()?) / 100.0),
        0x69 => report.set("battery", f64::from(content.u16()?) / 100.0),
        0x80 => report.set("obdSpeed", content.u8()?),
        0x81 => report.set("rpm", content.u16()?),
        0x82 => report.set("power", f64::from(content.u16()?) / 10.0),
        0x83 => report.set("engineLoad", content.u8()?),
        0x84 => report.set("coolantTemp", i32::from(content.u8()?) - 40),
        0x85 => report.set("fuelConsumption", content.u16()?),
        0x86 => report.set("intakeTemp", i32::from(content.u8()?) - 40),
        0x87 => report.set("intakeFlow", content.u16()?),
        0x88 => report.set("intakePressure", content.u8()?),
        0x89 => report.set("throttle", content.u8()?),
        0x8b => report.set("vin", content.text(17)?),
        0x8c => report.set("obdOdometer", i64::from(content.u32()?) * 100),
        0x8d => report.set("tripOdometer", i64::from(content.u16()?) * 1000),
        0x8e => report.set("fuel", content.u8()?),
        0xa0 => report.set("dtcs", content.text(length)?.replace(',', " ")),
        0xcc => report.set("iccid", content.text(20)?),
        _ => {}
    }
    Ok(())
}

/// `$OBD-RT,voltage,engine speed,speed,...`: readings of the engine as text.
pub(super) fn read_obd_text(report: &mut Report, text: &str) {
    const NAMES: [&str; 12] = [
        "power",
        "rpm",
        "obdSpeed",
        "throttle",
        "engineLoad",
        "coolantTemp",
        "fuelConsumption",
        "fuelConsumption",
        "tripOdometer",
        "obdOdometer",
        "tripFuelUsed",
        "fuelUsed",
    ];
    for (name, field) in NAMES.into_iter().zip(text.trim().split(',').skip(1)) {
        if name == "coolantTemp" {
            report.set_some(name, integer(field));
        } else {
            report.set_some(name, real(field));
        }
    }
}
