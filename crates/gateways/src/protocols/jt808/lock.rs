//! Positions of locks (JT701 and its like), in decimal digits.

use crate::decoded::DecodeError;
use crate::notation::calendar::Civil;
use crate::notation::number::real_u64;
use crate::notation::reader::Reader;
use crate::report::{KNOT_KMH, Report};

use super::alarm::{LOCK, LOCK_SMALL};

/// Reads a position; a blind one was recorded while there was no connection.
pub(super) fn read_lock(mut reader: Reader<'_>, blind: bool) -> Result<Report, DecodeError> {
    let mut report = Report::default();
    let [day, month, year, hour, minute, second] = {
        let mut digits = [0; 6];
        for digit in &mut digits {
            *digit = reader.bcd()?;
        }
        digits
    };
    report.time = Civil { year: year.into(), month, day, hour, minute, second }.instant();
    // Eight digits of latitude, nine of longitude and four bits of flags.
    let latitude = reader.uint(4)?;
    let longitude = reader.uint(5)?;
    let flags = longitude & 0x0f;
    let (latitude, longitude) = (degrees(latitude), degrees(longitude >> 4));
    report.locate(
        if flags & 2 == 0 { -latitude } else { latitude },
        if flags & 4 == 0 { -longitude } else { longitude },
    );
    report.valid = Some(!blind);
    report.speed_kmh = Some(f64::from(reader.bcd()?) * KNOT_KMH);
    report.course = Some(f64::from(reader.u8()?) * 2.0);
    report.set("rssi", reader.u8()?);
    report.set("sat", reader.u8()?);
    report.set("odometer", i64::from(reader.u32()?) * 1000);
    match reader.u8()? {
        level @ 0..=100 => report.set("batteryLevel", level),
        0xaa | 0xab => report.set("charge", true),
        _ => {}
    }
    let (cell, lac) = (reader.u32()?, reader.u16()?);
    if cell > 0 && lac > 0 {
        report.cell(0, 0, lac, cell);
    }
    let (product, status, alarms) = (reader.u8()?, reader.u16()?, reader.u16()?);
    set_alarms(&mut report, product, status, alarms);
    report.set("status", status);
    while reader.remaining() >= 2 {
        let (element, length) = (reader.u8()?, reader.u8()?);
        let Ok(content) = reader.sub(length.into()) else { break };
        let _ = read_element(&mut report, element, content);
    }
    Ok(report)
}

/// Degrees of digits `dddmmmmmm` in BCD: minutes with four decimals.
fn degrees(digits: u64) -> f64 {
    let number = (0..16).rev().fold(0, |number: u64, index| number * 10 + (digits >> (index * 4) & 0x0f));
    real_u64(number / 1_000_000) + real_u64(number % 1_000_000) / 10_000.0 / 60.0
}

fn set_alarms(report: &mut Report, product: u8, status: u16, alarms: u16) {
    let table = match product {
        1 | 2 => LOCK_SMALL,
        3 => {
            report.set("blocked", status & 0x20 != 0);
            LOCK
        }
        _ => return,
    };
    for word in table.words_of_bits(alarms.into()) {
        report.alarm(word);
    }
}

fn read_element(report: &mut Report, element: u8, mut content: Reader<'_>) -> Result<(), DecodeError> {
    match element {
        0x02 => report.altitude_m = Some(f64::from(content.i16()?)),
        0x10 => report.set("wakeSource", content.u8()?),
        0x0b => read_lock_command(report, content)?,
        0x0c => {
            let (x, y, z) = (content.i16()?, content.i16()?, content.i16()?);
            report.set("tilt", format!("[{x},{y},{z}]"));
        }
        0xfc => report.set("geofence", content.u8()?),
        _ => {}
    }
    Ok(())
}

/// The command that a lock received, by card or password, and whether it opened.
pub(super) fn read_lock_command(report: &mut Report, mut content: Reader<'_>) -> Result<(), DecodeError> {
    let length = content.remaining();
    report.set("lockCommand", content.u8()?);
    match length {
        5 | 6 => report.set("lockCard", content.u32()?),
        7.. => report.set("lockPassword", content.text(6)?),
        _ => {}
    }
    if length.is_multiple_of(2) {
        report.set("unlockResult", content.u8()?);
    }
    Ok(())
}
