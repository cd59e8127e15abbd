//! Elements from 0xEC on: networks in range, readings of asset trackers and of the vehicle's bus.

use crate::decoded::{Context, DecodeError};
use crate::notation::bits::bit;
use crate::notation::reader::Reader;
use crate::report::{CellTower, Report};
use crate::value::Value;

use super::alarm::ASSET;
use super::location::is_aovx;

pub(super) fn read_asset(
    report: &mut Report,
    element: u8,
    mut data: Reader<'_>,
    context: &Context<'_>,
) -> Result<(), DecodeError> {
    let reader = &mut data;
    let length = reader.remaining();
    match element {
        0xec | 0xf4 => {
            while reader.remaining() >= 7 {
                let (mac, signal) = (reader.array()?, reader.i8()?);
                report.access_point(mac, Some(signal.into()));
            }
        }
        0xed => report.set("card", Value::text(reader.text(length)?.trim_matches(|c: char| c <= ' '))),
        0xee if length == 6 => {
            report.set("rssi", reader.u8()?);
            report.set("power", f64::from(reader.u16()?) / 1000.0);
            report.set("battery", f64::from(reader.u16()?) / 1000.0);
            report.set("sat", reader.u8()?);
        }
        0xf0 => {
            while !reader.is_empty() {
                let (mcc, mnc, cell, lac) = (reader.u16()?, reader.u16()?, reader.u32()?, reader.u32()?);
                let signal = Some(reader.u8()?.into());
                report.cells.push(CellTower { mcc, mnc, lac, cell: cell.into(), signal });
            }
        }
        0xf1 => report.set("power", f64::from(reader.u32()?) / 1000.0),
        0xf2 => report.set("versionFw", reader.text(length)?),
        0xf3 if is_aovx(context) => read_tags(report, reader)?,
        0xf3 => {
            while reader.remaining() >= 3 {
                let (kind, length) = (reader.u16()?, reader.u8()?);
                let data = reader.sub(length.into())?;
                let _ = read_bus(report, kind, data);
            }
        }
        0xf5 if length == 2 => report.set("illuminance", reader.u16()?),
        0xf6 if !is_aovx(context) && length == 2 => report.set("airPressure", reader.u16()?),
        0xf6 if !is_aovx(context) && length == 8 => {
            report.set("imei", Value::text(reader.hex(8)?.get(1..).unwrap_or_default()));
        }
        0xf6 => read_sensors(report, reader)?,
        0xf7 if length == 2 => report.set("humidity", f64::from(reader.u16()?) / 10.0),
        0xf7 => {
            report.set("battery", f64::from(reader.u32()?) / 1000.0);
            if length >= 5 && matches!(reader.u8()?, 2 | 3) {
                report.set("charge", true);
            }
            if length >= 6 {
                report.set("batteryLevel", reader.u8()?);
            }
        }
        0xf8 if is_aovx(context) => {
            reader.skip(9)?;
            report.set("iccid", reader.hex(10)?);
        }
        0xf8 if context.is_model("C5") || context.is_model("C5L") => report.set("steps", reader.u16()?),
        0xf8 => report.set("temp2", f64::from(reader.u16()?) / 10.0 - 50.0),
        0xf9 => read_details(report, reader)?,
        0xfb => report.set("container", reader.text(length)?),
        0xfc => report.set("geofence", reader.u8()?),
        0xfe => read_last(report, reader)?,
        _ => {}
    }
    Ok(())
}

fn read_tags(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let mask = reader.u8()?;
    let mut index = 0;
    while !reader.is_empty() {
        index += 1;
        report.set(("tag", index, "Mac"), reader.hex(6)?);
        report.set(("tag", index, "Rssi"), reader.i8()?);
        if bit(mask, 0) {
            report.set_text(("tag", index, "Name"), reader.text(10)?.trim_matches(|c: char| c <= ' '));
        }
        if bit(mask, 1) {
            reader.skip(2)?;
        }
        if bit(mask, 2) {
            report.set(("tag", index, "Battery"), f64::from(reader.u16()?) / 1000.0);
        }
        if bit(mask, 3) {
            report.set(("tag", index, "Temp"), f64::from(reader.i16()?) / 10.0);
        }
        if bit(mask, 4) {
            report.set(("tag", index, "Humidity"), f64::from(reader.i16()?) / 10.0);
        }
        if bit(mask, 5) {
            reader.skip(6)?;
        }
        for reserved in [6, 7] {
            if bit(mask, reserved) {
                reader.skip(2)?;
            }
        }
    }
    Ok(())
}

/// Readings of the vehicle's bus.
fn read_bus(report: &mut Report, kind: u16, mut data: Reader<'_>) -> Result<(), DecodeError> {
    let length = data.remaining();
    match kind {
        0x0002 => report.set("obdSpeed", f64::from(data.u16()?) / 10.0),
        0x0003 => report.set("rpm", data.u16()?),
        0x0004 => report.set("power", f64::from(data.u16()?) / 1000.0),
        0x0005 => report.set("obdOdometer", i64::from(data.u32()?) * 100),
        0x0007 => report.set("fuelConsumption", f64::from(data.u16()?) / 10.0),
        0x0008 => report.set("engineLoad", f64::from(data.u16()?) / 10.0),
        0x0009 => report.set("coolantTemp", i32::from(data.u16()?) - 40),
        0x000b => report.set("intakePressure", data.u16()?),
        0x000c => report.set("intakeTemp", i32::from(data.u16()?) - 40),
        0x000d => report.set("intakeFlow", data.u16()?),
        0x000e => report.set("throttle", u32::from(data.u16()?) * 100 / 255),
        0x0050 => report.set("vin", data.text(17)?),
        0x0051 if length > 0 => report.set("cvn", data.hex(length)?),
        0x0052 if length > 0 => report.set("calid", data.text(length)?),
        0x0100 => report.set("tripOdometer", f64::from(data.u16()?) / 10.0),
        0x0102 => report.set("tripFuel", f64::from(data.u16()?) / 10.0),
        0x0112 => report.set("hardAccelerationCount", data.u16()?),
        0x0113 => report.set("hardDecelerationCount", data.u16()?),
        0x0114 => report.set("hardCorneringCount", data.u16()?),
        _ => {}
    }
    Ok(())
}

/// The event that woke the tracker, and its sensors by a mask.
fn read_sensors(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let event = reader.u8()?;
    report.set("event", event);
    if event == 2 {
        report.set("motion", true);
    }
    let mask = reader.u8()?;
    if bit(mask, 0) {
        report.set("lightSensor", reader.u16()?);
    }
    if bit(mask, 1) {
        report.set("temp1", f64::from(reader.i16()?) / 10.0);
    }
    if bit(mask, 2) {
        report.set("humidity", f64::from(reader.i16()?) / 10.0);
    }
    if bit(mask, 3) {
        let (x, y, z) = (reader.i16()?, reader.i16()?, reader.i16()?);
        report.set("gSensor", format!("[{x},{y},{z}]"));
    }
    if bit(mask, 4) {
        reader.skip(10)?;
    }
    if bit(mask, 5) {
        report.set("airPressure", reader.u16()?);
    }
    Ok(())
}

/// Details of the fix and an external probe, by a mask.
fn read_details(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let mask = reader.u16()?;
    for (index, width) in [(0, 4), (1, 4)] {
        if bit(mask, index) {
            reader.skip(width)?;
        }
    }
    if bit(mask, 2) {
        report.set("hdop", f64::from(reader.u16()?) / 10.0);
    }
    for (index, width) in [(3, 6), (5, 8)] {
        if bit(mask, index) {
            reader.skip(width)?;
        }
    }
    if bit(mask, 6) {
        report.set("temp3", f64::from(reader.i16()?) / 10.0);
    }
    Ok(())
}

/// An element recognised by its length: level, voltage, odometer, or a list of alarms and a level.
fn read_last(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    match reader.remaining() {
        1 => report.set("batteryLevel", reader.u8()?),
        2 => report.set("power", f64::from(reader.u16()?) / 10.0),
        4 => report.set("odometer", reader.u32()?),
        _ => {
            if reader.u8()? == 0x7c {
                while reader.remaining() >= 2 {
                    let (kind, length) = (reader.u8()?, reader.u8()?);
                    let mut data = reader.sub(length.into())?;
                    if kind == 1 {
                        let alarms = data.u32()?;
                        ASSET.words_of_bits(alarms.into()).for_each(|word| report.alarm(word));
                    }
                }
            }
            report.set("batteryLevel", reader.u8()?);
        }
    }
    Ok(())
}
