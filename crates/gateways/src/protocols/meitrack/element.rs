//! Readings of CCE records (binary reports of Meitrack), which consist of numbered elements.

use crate::decoded::DecodeError;
use crate::notation::number::{real, signed};
use crate::notation::reader::Reader;
use crate::report::{CellTower, Report};

use super::alarm::alarm;
use super::binary::since_2000;

/// Sets the reading of an element of one byte.
pub(super) fn set_of_one(report: &mut Report, id: u16, raw: u8) {
    match id {
        0x01 => set_event(report, raw.into()),
        0x05 => report.valid = Some(raw > 0),
        0x06 => report.set("sat", raw),
        0x07 => report.set("rssi", raw),
        0x14 => report.set("output", raw),
        0x15 => report.set("input", raw),
        0x47 if raw > 0 => report.set("lock", raw == 2),
        0x97 => report.set("throttle", raw),
        0x9d => report.set("fuelLevel", raw),
        0xfe69 => report.set("batteryLevel", raw),
        _ => {}
    }
}

/// Sets the reading of an element of two bytes.
pub(super) fn set_of_two(report: &mut Report, id: u16, raw: u16) {
    let hundredths = f64::from(raw) / 100.0;
    match id {
        0x08 => report.speed_kmh = Some(f64::from(raw)),
        0x09 => report.course = Some(f64::from(raw)),
        0x0a => report.set("hdop", raw),
        0x0b => report.altitude_m = Some(real(signed(raw.into(), 16))),
        0x16 => report.set("adc1", hundredths),
        0x17 => report.set("adc2", hundredths),
        0x18 => report.set("adc3", hundredths),
        0x19 => report.set("battery", hundredths),
        0x1a => report.set("power", hundredths),
        0x29 => report.set("fuelLevel", hundredths),
        0x40 => set_event(report, raw),
        0x91 | 0x92 => report.set("obdSpeed", raw),
        0x98 => report.set("fuelUsed", raw),
        0x99 => report.set("rpm", raw),
        0x9c => report.set("coolantTemp", raw),
        0x9f => report.set("temp1", raw),
        0xc9 => report.set("fuelConsumption", raw),
        _ => {}
    }
}

/// Sets the reading of an element of four bytes.
pub(super) fn set_of_four(report: &mut Report, id: u16, raw: u32) {
    match id {
        0x04 => report.time = Some(since_2000(raw)),
        0x0c => report.set("odometer", raw),
        0x0d => report.set("runtime", raw),
        0x25 => report.set("driverUniqueId", raw.to_string()),
        0x9b => report.set("obdOdometer", raw),
        0xa0 => report.set("fuelUsed", f64::from(raw) / 1000.0),
        0xa2 => report.set("fuelConsumption", f64::from(raw) / 100.0),
        0xfef4 => report.set("hours", i64::from(raw) * 60_000),
        _ => {}
    }
}

fn set_event(report: &mut Report, event: u16) {
    report.set("event", event);
    report.alarm_some(alarm(event));
}

/// Sets the readings of an element whose length precedes it.
pub(super) fn set_long(report: &mut Report, id: u16, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    match id {
        0x0e..=0x10 | 0x12 | 0x13 => {
            let (mcc, mnc, lac) = (reader.u16_le()?, reader.u16_le()?, reader.u16_le()?);
            let (cell, signal) = (reader.u32_le()?, reader.i16_le()?);
            let signal = (signal != 0).then(|| signal.into());
            report.cells.push(CellTower { mcc, mnc, lac: lac.into(), cell: cell.into(), signal });
        }
        0x1d..=0x25 => {
            let mac = reader.array()?;
            report.access_point(mac, Some(reader.i16_le()?.into()));
        }
        0x2a..=0x31 => {
            // The sensor's number.
            reader.skip(1)?;
            report.set(("temp", u32::from(id) - 0x2a), f64::from(reader.i16_le()?) / 100.0);
        }
        0xfe31 => {
            let version = reader.u8()?;
            report.set("alarmType", reader.u8()?);
            let name = reader.text(reader.remaining())?;
            if version != 2 {
                return Ok(());
            }
            if let (Some(year), Some(month), Some(day)) = (name.get(..4), name.get(4..6), name.get(6..8)) {
                report.set("image", format!("{year}-{month}-{day}/{name}"));
            }
        }
        0xfe73 => {
            reader.skip(1)?;
            let length = usize::from(reader.u8()?);
            report.set_text("tagName", &reader.text(length)?);
            reader.skip(6)?;
            report.set("tagBattery", reader.u8()?);
            report.set("tagTemp", f64::from(reader.i16_le()?) / 256.0);
            report.set("tagHumidity", f64::from(reader.u16_le()?) / 256.0);
        }
        0xfea8 => {
            for name in ["batteryLevel", "battery2Level", "battery3Level"] {
                let (state, percent) = (reader.u8()?, reader.u8()?);
                if state > 0 {
                    report.set(name, percent);
                }
            }
        }
        _ => {}
    }
    Ok(())
}
