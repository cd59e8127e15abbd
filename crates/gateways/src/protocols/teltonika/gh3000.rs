//! Records of GH3000, an old personal tracker: everything in them is optional.

use perigee_core::time::Timestamp;

use crate::decoded::DecodeError;
use crate::notation::bits::bit;
use crate::notation::number::{real, signed};
use crate::notation::reader::Reader;
use crate::report::{CellTower, Report};

use super::alarm::GH3000;

/// Seconds from 1970 to 2007, the epoch of its clock.
const EPOCH_S: i64 = 1_167_609_600;

pub(super) fn read_gh3000(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
    let seconds = i64::from(reader.u32()? & 0x3fff_ffff) + EPOCH_S;
    let mut report = Report { time: Some(Timestamp::from_millis(seconds * 1000)), ..Report::default() };
    let parts = reader.u8()?;
    if bit(parts, 0) {
        read_position(&mut report, reader)?;
    }
    for (part, width) in [(1, 1), (2, 2), (3, 4)] {
        if bit(parts, part) {
            for _ in 0..reader.u8()? {
                let identifier = reader.u8()?;
                let raw = reader.uint(width)?;
                set_parameter(&mut report, identifier, signed(raw, 64));
            }
        }
    }
    Ok(report)
}

fn read_position(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let parts = reader.u8()?;
    report.valid = Some(true);
    report.locate(0.0, 0.0);
    if bit(parts, 0) {
        let (latitude, longitude) = (reader.f32()?, reader.f32()?);
        report.locate(latitude.into(), longitude.into());
    }
    if bit(parts, 1) {
        report.altitude_m = Some(f64::from(reader.u16()?));
    }
    if bit(parts, 2) {
        report.course = Some(f64::from(reader.u8()?) * 360.0 / 256.0);
    }
    if bit(parts, 3) {
        report.speed_kmh = Some(f64::from(reader.u8()?));
    }
    if bit(parts, 4) {
        report.set("sat", reader.u8()?);
    }
    let cell = if bit(parts, 5) { Some((reader.u16()?, reader.u16()?)) } else { None };
    let signal = if bit(parts, 6) { Some(reader.u8()?) } else { None };
    let operator = if bit(parts, 7) { Some(reader.u32()?) } else { None };
    if let Some((lac, cell)) = cell {
        let operator = operator.unwrap_or(0);
        let part = |number: u32| u16::try_from(number).unwrap_or(0);
        report.cells.push(CellTower {
            mcc: part(operator / 100),
            mnc: part(operator % 100),
            lac: lac.into(),
            cell: cell.into(),
            signal: signal.map(i32::from),
        });
    } else {
        report.set_some("rssi", signal);
        report.set_some("operator", operator);
    }
    Ok(())
}

fn set_parameter(report: &mut Report, identifier: u8, number: i64) {
    match identifier {
        1 => report.set("batteryLevel", number),
        2 => report.set("usbConnected", number == 1),
        5 => report.set("uptime", number),
        20 => report.set("hdop", real(number) / 10.0),
        21 => report.set("vdop", real(number) / 10.0),
        22 => report.set("pdop", real(number) / 10.0),
        67 => report.set("battery", real(number) / 1000.0),
        221 => report.set("button", number),
        222 => report.alarm_some(GH3000.word(222).filter(|_| number == 1)),
        240 => report.set("motion", number == 1),
        244 => report.set("roaming", number == 1),
        _ => report.set(("io", identifier.into()), number),
    }
}
