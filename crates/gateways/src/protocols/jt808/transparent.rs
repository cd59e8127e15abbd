//! Transparent messages: data of makers that the standard does not define.

use crate::decoded::{Context, DecodeError};
use crate::notation::reader::Reader;
use crate::report::Report;

use super::alarm::{VEHICLE, VEHICLE_EVENT};
use super::extension::read_obd_text;
use super::location::{read_coordinates, read_motion, read_time};

/// Reads a transparent message; none if its type is unknown.
pub(super) fn read_transparent(
    mut reader: Reader<'_>,
    context: &Context<'_>,
) -> Result<Option<Report>, DecodeError> {
    let mut report = Report::default();
    match reader.u8()? {
        0x40 => {
            let text = String::from_utf8_lossy(reader.take_rest()).into_owned();
            // Some units have the length before the text.
            let text = text.trim_matches(|c: char| c <= ' ');
            if text.starts_with("GTSL") {
                report.set_text("driverUniqueId", text.split('|').nth(4).unwrap_or_default());
            } else {
                report.set_text("data", text);
            }
            if report.is_bare() {
                return Ok(None);
            }
        }
        0x41 => read_obd_text(&mut report, &String::from_utf8_lossy(reader.take_rest())),
        0xf0 => return read_vehicle(reader, context),
        0xf3 => {
            while reader.remaining() >= 4 {
                let (element, length) = (reader.u16()?, reader.u16()?);
                let mut data = reader.sub(length.into())?;
                match element {
                    0x0002 => report.set("collision", f64::from(data.u16()?) / 25_600.0),
                    0x0006 => report.time = read_time(&mut data, context)?,
                    _ => {}
                }
            }
        }
        0xff => {
            report.valid = Some(true);
            report.time = read_time(&mut reader, context)?;
            let (latitude, longitude) = (reader.i32()?, reader.i32()?);
            report.locate(f64::from(latitude) / 1e6, f64::from(longitude) / 1e6);
            read_motion(&mut report, &mut reader)?;
        }
        kind @ (0x53 | 0x54) => {
            read_coordinates(&mut report, &mut reader, context)?;
            read_motion(&mut report, &mut reader)?;
            report.time = read_time(&mut reader, context)?;
            if kind == 0x53 {
                read_tags(&mut report, &mut reader)?;
            } else {
                read_samples(&mut report, &mut reader)?;
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(report))
}

/// Beacons in range, each with its advertisement.
fn read_tags(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    reader.skip(1)?;
    while !reader.is_empty() {
        let index = u32::from(reader.u8()?) + 1;
        report.set(("tag", index, "Mac"), reader.hex(6)?);
        report.set(("tag", index, "Rssi"), reader.i8()?);
        let length = reader.u8()?;
        report.set(("tag", index, "Data"), reader.hex(length.into())?);
    }
    Ok(())
}

/// Samples of sensors; the last sample of each is used.
fn read_samples(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    while reader.remaining() >= 8 {
        let mask = reader.u16()?;
        reader.skip(6)?;
        if mask & 1 != 0 {
            report.set("lightSensor", reader.u16()?);
        }
        if mask & 2 != 0 {
            report.set("deviceTemp", f64::from(reader.i16()?) / 10.0);
            report.set("humidity", f64::from(reader.i16()?) / 10.0);
        }
        if mask & 4 != 0 {
            report.set("temp3", f64::from(reader.i16()?) / 10.0);
        }
        if mask & 8 != 0 {
            reader.skip(6)?;
        }
        if mask & 16 != 0 {
            report.set("airPressure", reader.u16()?);
        }
    }
    Ok(())
}

/// Data of the vehicle: readings, trouble codes, alarms, trips.
fn read_vehicle(mut reader: Reader<'_>, context: &Context<'_>) -> Result<Option<Report>, DecodeError> {
    let mut report = Report::default();
    let time = read_time(&mut reader, context)?;
    if reader.u8()? > 0 {
        report.set("archive", true);
    }
    reader.skip(1)?;
    let kind = reader.u8()?;
    match kind {
        0x01 => {
            for _ in 0..reader.u8()? {
                let (element, length) = (reader.u16()?, reader.u8()?);
                read_reading(&mut report, element, reader.sub(length.into())?)?;
            }
        }
        0x02 => {
            let mut codes = Vec::new();
            for _ in 0..reader.u16()? {
                reader.skip(4)?;
                for _ in 0..reader.u16()? {
                    reader.skip(8)?;
                    let length = reader.u16()?;
                    codes.push(reader.text(length.into())?.trim_matches(|c: char| c <= ' ').to_owned());
                }
            }
            report.set("dtcs", codes.join(" "));
        }
        0x03 => {
            for _ in 0..reader.u8()? {
                let (alarm, length) = (reader.u8()?, reader.u8()?);
                reader.skip(length.into())?;
                report.alarm_some(VEHICLE.word(alarm.into()));
            }
        }
        0x04 => {
            let over = reader.u8()? == 2;
            report.set("tripNumber", reader.u32()?);
            reader.skip(6)?;
            if over {
                reader.skip(6 + 8 + 8 + 1)?;
                report.set("idlingCount", reader.u16()?);
                report.set("idlingTime", reader.u16()?);
                report.set("tripOdometer", i64::from(reader.u16()?) * 100);
                report.set("tripFuel", f64::from(reader.u16()?) / 100.0);
            }
        }
        0x0b => {
            if reader.u8()? > 0 {
                report.set("vin", reader.text(17)?);
            }
        }
        0x15 => {
            let event = reader.u32()?;
            match VEHICLE_EVENT.word(event) {
                Some(word) => report.alarm(word),
                None => report.set("event", event),
            }
        }
        _ => return Ok(None),
    }
    if matches!(kind, 1..=3) {
        read_coordinates(&mut report, &mut reader, context)?;
    }
    report.time = time;
    Ok(Some(report))
}

fn read_reading(report: &mut Report, element: u16, mut data: Reader<'_>) -> Result<(), DecodeError> {
    let length = data.remaining();
    match element {
        0x0102 | 0x0528 | 0x0546 => report.set("odometer", i64::from(data.u32()?) * 100),
        0x0103 => report.set("fuel", f64::from(data.u32()?) / 100.0),
        0x0111 => report.set("fuelTemp", i32::from(data.u8()?) - 40),
        0x012e => report.set("oilLevel", f64::from(data.u16()?) / 10.0),
        0x052a => report.set("fuel", f64::from(data.u16()?) / 100.0),
        0x0105 | 0x052c => report.set("fuelUsed", f64::from(data.u32()?) / 100.0),
        0x014a | 0x0537..=0x0539 => report.set("fuelConsumption", f64::from(data.u16()?) / 100.0),
        0x052b => report.set("fuel", data.u8()?),
        0x052d => report.set("coolantTemp", i32::from(data.u8()?) - 40),
        0x052e => report.set("airTemp", i32::from(data.u8()?) - 40),
        0x0530 => report.set("power", f64::from(data.u16()?) / 1000.0),
        0x0535 => report.set("obdSpeed", f64::from(data.u16()?) / 10.0),
        0x0536 => report.set("rpm", data.u16()?),
        0x053d => report.set("intakePressure", f64::from(data.u16()?) / 10.0),
        0x0544 => report.set("liquidLevel", data.u8()?),
        0x0547 | 0x0548 => report.set("throttle", data.u8()?),
        0xfeec => report.set("vin", data.text(length)?),
        _ if matches!(length, 1 | 2 | 4) => report.set(("io", element.into()), data.uint(length)?),
        _ => {}
    }
    Ok(())
}
