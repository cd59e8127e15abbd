//! The numbered elements after a JT/T 808 position: those of the standard, and common ones of makers.

use crate::decoded::{Context, DecodeError};
use crate::notation::bits::bit;
use crate::notation::reader::Reader;
use crate::report::Report;
use crate::value::Value;

use super::alarm::{DOOR, DRIVING, MOTION, SENSOR};
use super::location::has_door;
use super::lock::read_lock_command;

pub(super) fn tenths(number: u16) -> f64 {
    f64::from(number) / 10.0
}

pub(super) fn hundredths(number: u16) -> f64 {
    f64::from(number) / 100.0
}

/// Reads one element. Elements that are not in this table are read by the maker's own table.
pub(super) fn read_extra(
    report: &mut Report,
    element: u8,
    mut data: Reader<'_>,
    context: &Context<'_>,
) -> Result<(), DecodeError> {
    let reader = &mut data;
    let length = reader.remaining();
    match element {
        // Tenths of a kilometre, reported in metres.
        0x01 => report.set("odometer", i64::from(reader.u32()?) * 100),
        0x02 => {
            let fuel = reader.u16()?;
            // Tenths, or a whole number if bit 15 is set.
            report.set(
                "fuel",
                if bit(fuel, 15) { Value::from(fuel & 0x7fff) } else { Value::from(tenths(fuel)) },
            );
        }
        0x06 => report.set("batteryLevel", reader.u8()?),
        0x0b => read_lock_command(report, data)?,
        0x14 => report.set("videoAlarm", reader.u32()?),
        0x25 => report.set("input", reader.u32()?),
        0x2b | 0xa7 => {
            report.set("adc1", hundredths(reader.u16()?));
            report.set("adc2", hundredths(reader.u16()?));
        }
        0x30 => report.set("rssi", reader.u8()?),
        0x31 => report.set("sat", reader.u8()?),
        0x33 if length == 1 => report.set("mode", reader.u8()?),
        0x33 => {
            // A text of a lock, in which three digits are the voltage in hundredths of a volt.
            let text = reader.text(length)?;
            let digits = text
                .strip_prefix("*M00")
                .and_then(|_| text.get(10..13))
                .and_then(crate::notation::fields::real);
            report.set_some("battery", digits.map(|digits| digits / 100.0));
        }
        0x51 if length == 2 || length == 16 => {
            for (index, _) in (1..).zip(0..length / 2) {
                let raw = reader.u16()?;
                let degrees = tenths(raw & 0x7fff);
                // 0xffff: no value.
                if raw != 0xffff {
                    report.set(("temp", index), if bit(raw, 15) { -degrees } else { degrees });
                }
            }
        }
        0x56 => report.set("batteryLevel", u32::from(reader.u8()?) * 10),
        0x57 => {
            let alarms = reader.u16()?;
            reader.skip(2)?;
            let more = if has_door(context) { reader.u32()? } else { 0 };
            let words = DRIVING.words_of_bits(alarms.into()).chain(DOOR.words_of_bits(more.into()));
            words.for_each(|word| report.alarm(word));
        }
        0x60 => {
            let event = reader.u16()?;
            report.set("event", event);
            // The lock's number, then the card in eight characters.
            if let (0x61..=0x66, Some(number)) = (event, length.checked_sub(10)) {
                reader.skip(number)?;
                report.set("driverUniqueId", reader.text(8)?);
            }
        }
        0x63 => {
            for (index, _) in (1..).zip(0..length / 11) {
                report.set(("lock", index, "Id"), reader.hex(6)?);
                report.set(("lock", index, "Battery"), f64::from(reader.u16()?) / 1000.0);
                report.set(("lock", index, "Seal"), reader.u8()? == b'1');
                report.set(("lock", index, "State"), reader.u8()?);
                report.set(("lock", index, "Rssi"), reader.u8()?);
            }
        }
        0x64 | 0x65 => {
            reader.skip(5)?;
            report.set(if element == 0x64 { "adasAlarm" } else { "dmsAlarm" }, reader.u8()?);
            if length >= 47 {
                reader.skip(length - 6 - 16)?;
                report.set("alarmLabel", reader.hex(16)?);
            }
        }
        0x67 => report.set("password", reader.text(8)?),
        0x68 => report.set("batteryLevel", hundredths(reader.u16()?)),
        0x69 => report.set("battery", hundredths(reader.u16()?)),
        0x70 => {
            reader.skip(5)?;
            report.alarm_some(MOTION.word(reader.u8()?.into()));
        }
        0x77 => read_tires(report, reader)?,
        0x82 | 0xd3 => report.set("power", tenths(reader.u16()?)),
        0x91 => read_engine(report, reader)?,
        0x94 => report.set_text("vin", &reader.text(length)?),
        0xac => report.set("odometer", reader.u32()?),
        0xbc => report.set_text("driver", reader.text(length)?.trim_matches(|c: char| c <= ' ')),
        0xbd => report.set("driverUniqueId", reader.text(length)?),
        0xd0 => SENSOR.words_of_bits(reader.u32()?.into()).for_each(|word| report.alarm(word)),
        _ => return super::maker::read_maker(report, element, data, context),
    }
    Ok(())
}

/// Readings of the engine in one element.
fn read_engine(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    report.set("battery", tenths(reader.u16()?));
    report.set("rpm", reader.u16()?);
    report.set("obdSpeed", reader.u8()?);
    report.set("throttle", u32::from(reader.u8()?) * 100 / 255);
    report.set("engineLoad", u32::from(reader.u8()?) * 100 / 255);
    report.set("coolantTemp", i32::from(reader.u8()?) - 40);
    reader.skip(2)?;
    report.set("fuelConsumption", hundredths(reader.u16()?));
    reader.skip(2 + 4 + 2)?;
    report.set("fuelUsed", hundredths(reader.u16()?));
    Ok(())
}

/// Pressure and temperature of each tire.
fn read_tires(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    while !reader.is_empty() {
        let tire = u32::from(reader.u8()?);
        report.set(("tire", tire, "SensorId"), reader.hex(3)?);
        report.set(("tire", tire, "Pressure"), f64::from(reader.u16()? & 0x3ff) / 40.0);
        report.set(("tire", tire, "Temp"), i32::from(reader.u8()?) - 50);
        report.set(("tire", tire, "Status"), reader.u8()?);
    }
    Ok(())
}
