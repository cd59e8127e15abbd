//! Elements of variable length: texts, beacons and tags.

use crate::decoded::DecodeError;
use crate::notation::bits::bit;
use crate::notation::reader::Reader;
use crate::report::Report;
use crate::value::Value;

/// Reads one element of variable length.
pub(super) fn read_variable(
    report: &mut Report,
    identifier: u16,
    mut content: Reader<'_>,
) -> Result<(), DecodeError> {
    let length = content.remaining();
    match identifier {
        256 | 325 => report.set("vin", content.text(length)?),
        281 => report.set("dtcs", content.text(length)?.replace(',', " ")),
        385 => read_beacons(report, content)?,
        548 | 10828 | 10829 | 10831 | 11317 => read_tags(report, content)?,
        _ => report.set(("io", identifier.into()), content.hex(length)?),
    }
    Ok(())
}

/// iBeacon and Eddystone advertisements.
fn read_beacons(report: &mut Report, mut reader: Reader<'_>) -> Result<(), DecodeError> {
    if reader.is_empty() {
        return Ok(());
    }
    // The part of a list that is too long for one record.
    reader.skip(1)?;
    let mut index = 1;
    while !reader.is_empty() {
        let flags = reader.u8()?;
        if flags >> 4 > 0 {
            report.set(("beacon", index, "Uuid"), reader.hex(16)?);
            report.set(("beacon", index, "Major"), reader.u16()?);
            report.set(("beacon", index, "Minor"), reader.u16()?);
        } else {
            report.set(("beacon", index, "Namespace"), reader.hex(10)?);
            report.set(("beacon", index, "Instance"), reader.hex(6)?);
        }
        report.set(("beacon", index, "Rssi"), reader.i8()?);
        if bit(flags, 1) {
            report.set(("beacon", index, "Battery"), f64::from(reader.u16()?) / 100.0);
        }
        if bit(flags, 2) {
            report.set(("beacon", index, "Temp"), reader.u16()?);
        }
        index += 1;
    }
    Ok(())
}

/// Tags with a list of parameters each.
fn read_tags(report: &mut Report, mut reader: Reader<'_>) -> Result<(), DecodeError> {
    if reader.is_empty() {
        return Ok(());
    }
    reader.skip(1)?;
    let mut index = 1;
    while !reader.is_empty() {
        let length = reader.u8()?;
        let mut tag = reader.sub(length.into())?;
        while !tag.is_empty() {
            let (parameter, length) = (tag.u8()?, tag.u8()?);
            read_tag_parameter(report, index, parameter, tag.sub(length.into())?)?;
        }
        index += 1;
    }
    Ok(())
}

fn read_tag_parameter(
    report: &mut Report,
    index: u32,
    parameter: u8,
    mut content: Reader<'_>,
) -> Result<(), DecodeError> {
    let length = content.remaining();
    let (name, value) = match parameter {
        0 => ("Rssi", Value::from(content.i8()?)),
        1 => ("Id", Value::from(content.hex(length)?)),
        2 => {
            let flags = content.u8()?;
            if bit(flags, 6) {
                report.set(("tag", index, "LowBattery"), true);
            }
            if bit(flags, 7) {
                report.set(("tag", index, "Voltage"), u32::from(content.u8()?) * 10 + 2000);
            }
            return Ok(());
        }
        5 => ("Name", Value::from(content.text(length)?)),
        6 => ("Temp", Value::from(content.i16()?)),
        7 => ("Humidity", Value::from(content.u8()?)),
        8 => ("Magnet", Value::from(content.u8()? > 0)),
        9 => ("Motion", Value::from(content.u8()? > 0)),
        10 => ("MotionCount", Value::from(content.u16()?)),
        11 => ("Pitch", Value::from(content.i8()?)),
        12 => ("AngleRoll", Value::from(content.i16()?)),
        13 => ("LowBattery", Value::from(content.u8()?)),
        14 => ("Battery", Value::from(content.u16()?)),
        15 => ("Mac", Value::from(content.hex(6)?)),
        _ => return Ok(()),
    };
    report.set(("tag", index, name), value);
    Ok(())
}
