//! Elements of a JT/T 808 position whose meaning depends on the maker.

use crate::decoded::{Context, DecodeError};
use crate::notation::bits::bit;
use crate::notation::reader::Reader;
use crate::report::{AccessPoint, Report};
use crate::value::Value;

use super::alarm::{BUTTONS, CAMERA, LISTED, LISTED_BATTERY, LISTED_STATES};
use super::extension::read_obd_text;
use super::extra::{hundredths, tenths};

/// Elements from 0xD4 on, whose meaning depends on the maker.
pub(super) fn read_maker(
    report: &mut Report,
    element: u8,
    mut data: Reader<'_>,
    context: &Context<'_>,
) -> Result<(), DecodeError> {
    let reader = &mut data;
    let length = reader.remaining();
    match element {
        0xd4 | 0xe1 | 0xe9 if length == 1 => match reader.u8()? {
            0xff => report.set("charge", true),
            level => report.set("batteryLevel", level),
        },
        0xe1 if length == 2 => report.set("power", tenths(reader.u16()?)),
        0xe1 if length >= 12 && (length - 4).is_multiple_of(8) => {
            let (mcc, mnc) = (reader.u16()?, reader.u16()?);
            while !reader.is_empty() {
                let (lac, cell, signal) = (reader.u24()?, reader.u32()?, reader.u8()?);
                if (1..=0xffff).contains(&lac) && cell <= 0xfff_ffff {
                    report.cell_with_signal((mcc, mnc), lac, cell, signal);
                }
            }
        }
        0xd4 | 0xe1 | 0xe9 => report.set("driverUniqueId", reader.u32()?.to_string()),
        0xd5 if length == 2 => report.set("battery", hundredths(reader.u16()?)),
        0xd5 => {
            for index in 1..=u32::from(reader.u8()?) {
                report.set(("lock", index, "Id"), reader.hex(5)?);
                report.set(("lock", index, "Card"), reader.hex(5)?);
                report.set(("lock", index, "Battery"), reader.u8()?);
                report.set(("lock", index, "Locked"), !bit(reader.u16()?, 5));
            }
        }
        0xda => {
            reader.skip(2)?;
            let state = reader.u8()?;
            report.set("string", bit(state, 0));
            report.set("motion", bit(state, 2));
            report.set("cover", bit(state, 3));
        }
        0xe2 if context.is_model("DT800") => {}
        0xe2 => report.set("fuel", f64::from(reader.u32()?) / 10.0),
        0xe3 => {
            reader.skip(1)?;
            report.set("batteryLevel", reader.u8()?);
            report.set("battery", hundredths(reader.u16()?));
        }
        0xe4 => {
            if reader.u8()? == 0 {
                report.set("charge", true);
            }
            report.set("batteryLevel", reader.u8()?);
        }
        0xe5 if length == 1 => report.set("motion", reader.u8()? == 1),
        0xe6 if reader.rest().starts_with(b"$OBD-RT") => read_obd_text(report, &reader.text(length)?),
        0xe6 if length.is_multiple_of(11) => {
            while !reader.is_empty() {
                let index = u32::from(reader.u8()?);
                reader.skip(6)?;
                report.set(("temp", index), whole_and_part(reader)?);
                report.set(("humidity", index), whole_and_part(reader)?);
            }
        }
        0xe7 if length == 8 => {
            let alarms = reader.u16()?;
            BUTTONS.words_of_bits(alarms.into()).for_each(|word| report.alarm(word));
        }
        // Longer than any state of a lock: an event of a camera, even if no model is set.
        0xe8 if is_jimi_camera(context) || length > 4 => read_camera(report, data)?,
        0xe8 => report.set("lockStatus", reader.uint(length)?),
        0xea => read_environment(report, reader)?,
        0xeb => read_list(report, data)?,
        _ => return super::asset::read_asset(report, element, data, context),
    }
    Ok(())
}

/// A number whose fraction is in 255ths.
fn whole_and_part(reader: &mut Reader<'_>) -> Result<f64, DecodeError> {
    let (whole, part) = (reader.i8()?, reader.u8()?);
    let size = f64::from(whole).abs() + f64::from(part) / 255.0;
    Ok(if whole < 0 { -size } else { size })
}

fn is_jimi_camera(context: &Context<'_>) -> bool {
    ["JC371", "JC181", "JC182", "JC450", "JC451"].into_iter().any(|model| context.is_model(model))
}

/// States and alarms of Jimi's cameras.
fn read_camera(report: &mut Report, mut reader: Reader<'_>) -> Result<(), DecodeError> {
    match reader.u16()? {
        0x2002 => {
            reader.skip(1)?;
            report.set("uploadMode", reader.u8()?);
            report.set("buffered", reader.u8()? == 1);
        }
        0x2003 => {
            reader.skip(1)?;
            report.set("charge", reader.u8()? == 1);
            let step = reader.u8()?;
            if matches!(step, 1..=6) {
                report.set("batteryLevel", u32::from(step) * 100 / 6);
            }
            report.set("battery", hundredths(reader.u16()?));
            report.set("rssi", reader.u8()?);
            report.set("power", hundredths(reader.u16()?));
        }
        0x2005 => {
            reader.skip(1)?;
            while reader.remaining() >= 3 {
                let (state, length) = (reader.u16()?, reader.u8()?);
                let mut data = reader.sub(length.into())?;
                match state {
                    0x0001 => report.set("battery", hundredths(data.u16()?)),
                    0x0002 => report.set("dataUsage", data.u32()?),
                    0x0003 => report.set("batteryLevel", data.u8()?),
                    0x0004 => report.set("charge", data.u8()? == 0),
                    0x0005 => {
                        let digits = data.hex(10)?;
                        report.set_text("iccid", digits.get(..19).unwrap_or_default());
                    }
                    0x0007 => report.set("hdop", tenths(data.u16()?)),
                    0x2001 => report.set("power", tenths(data.u16()?)),
                    _ => {}
                }
            }
        }
        0x0c03 => report.set("ignition", true),
        0x0c04 => report.set("ignition", false),
        code => report.alarm_some(CAMERA.word(code.into())),
    }
    Ok(())
}

/// Reads illuminance, air pressure, humidity and temperature of external sensors.
fn read_environment(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    if reader.remaining() <= 2 {
        return Ok(());
    }
    reader.skip(1)?;
    while reader.remaining() >= 2 {
        let (kind, length) = (reader.u8()?, reader.u8()?);
        let mut data = reader.sub(length.into())?;
        match kind {
            0x11 => {
                report.set("externalAlarms", data.u16()?);
                report.set("alarmThresholdType", data.u8()?);
            }
            0x13 => report.set("externalIlluminance", data.u16()?),
            0x14 => report.set("externalAirPressure", data.u16()?),
            0x15 => report.set("externalHumidity", tenths(data.u16()?)),
            0x16 => report.set("externalTemp", tenths(data.u16()?) - 50.0),
            _ => {}
        }
    }
    Ok(())
}

/// One element with three forms: cells, the name of a time zone, or a list of elements with wide numbers.
fn read_list(report: &mut Report, mut reader: Reader<'_>) -> Result<(), DecodeError> {
    let length = reader.remaining();
    let first = reader.peek_u16(0).ok_or(DecodeError::Short)?;
    if first > 200 && length % 5 == 3 {
        let (mcc, mnc) = (reader.u16()?, reader.u8()?);
        while !reader.is_empty() {
            let (lac, cell, signal) = (reader.u16()?, reader.u16()?, reader.u8()?);
            report.cell_with_signal((mcc, mnc.into()), lac, cell, signal);
        }
        return Ok(());
    }
    if reader.rest().iter().all(|byte| matches!(byte, 0x20..=0x7e)) {
        report.set("timezone", reader.text(length)?);
        return Ok(());
    }
    while reader.remaining() >= 4 {
        let length = reader.u16()?;
        let mut data = reader.sub(length.into())?;
        let kind = data.u16()?;
        // An element that is too short does not affect the others.
        let _ = read_listed(report, kind, data);
    }
    Ok(())
}

fn read_listed(report: &mut Report, kind: u16, mut data: Reader<'_>) -> Result<(), DecodeError> {
    match kind {
        0x0001 => report.set("fuel1", tenths(data.u16()?)),
        0x0023 => report.set_some("fuel2", crate::notation::fields::real(&data.text(6)?)),
        0x002d if data.remaining() == 4 => report.set("power", f64::from(data.u32()?) / 1000.0),
        0x002d => report.set("battery", f64::from(data.u16()?) / 1000.0),
        0x0089 => {
            // Bits that are 0 are alarms.
            let alarms = data.u32()?;
            LISTED.words_of_bits((!alarms).into()).for_each(|word| report.alarm(word));
        }
        0x00b2 => report.set("iccid", Value::text(data.hex(10)?.trim_end_matches('f'))),
        0x00b9 => {
            data.skip(1)?;
            let text = data.text(data.remaining())?;
            let mut parts = text.split(',');
            while let (Some(mac), Some(signal)) = (parts.next(), parts.next()) {
                report
                    .wifi
                    .push(AccessPoint { mac: mac.to_ascii_lowercase(), signal: signal.trim().parse().ok() });
            }
        }
        0x00c5 => {
            let states = data.u32()?;
            LISTED_STATES.words_of_bits((!states).into()).for_each(|word| report.alarm(word));
            match states >> 23 & 3 {
                0 => report.set("motion", true),
                1 => report.set("motion", false),
                _ => {}
            }
        }
        0x00c6 => {
            let alarm = data.u8()?;
            report.alarm_some(LISTED_BATTERY.word(alarm.into()));
            report.set("batteryAlarm", alarm);
        }
        0x00ce => report.set("power", hundredths(data.u16()?)),
        0x00d8 => {
            let (mcc, mnc, lac, cell) = (data.u16()?, data.u8()?, data.u16()?, data.u32()?);
            report.cell(mcc, mnc.into(), lac, cell);
        }
        0x00a8 | 0x00e1 => report.set("batteryLevel", data.u8()?),
        _ => {}
    }
    Ok(())
}
