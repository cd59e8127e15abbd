//! Records of Ruptela units.

use perigee_core::time::Timestamp;

use crate::decoded::DecodeError;
use crate::notation::bits::bits;
use crate::notation::reader::Reader;
use crate::report::Report;

use super::parameter::{join_parts, set_parameter};

fn instant(reader: &mut Reader<'_>) -> Result<Timestamp, DecodeError> {
    Ok(Timestamp::from_millis(i64::from(reader.u32()?) * 1000))
}

/// Records; extended ones have identifiers of two bytes, and one record may come in several pieces.
pub(super) fn read_records(reader: &mut Reader<'_>, extended: bool) -> Result<Vec<Report>, DecodeError> {
    // The number of records left on the unit.
    reader.skip(1)?;
    let count = reader.u8()?;
    let mut reports: Vec<Report> = Vec::new();
    for _ in 0..count {
        let time = instant(reader)?;
        reader.skip(1)?;
        let mut continued = false;
        if extended {
            let piece = reader.u8()?;
            let (last, this) = (bits(piece, 4, 8), bits(piece, 0, 4));
            continued = this > 0 && this <= last;
        }
        // Priority.
        reader.skip(1)?;
        let mut report = if continued { reports.pop().unwrap_or_default() } else { Report::default() };
        report.time = Some(time);
        set_position(&mut report, reader)?;
        report.set("event", if extended { reader.u16()? } else { reader.u8()?.into() });
        for width in [1, 2, 4, 8] {
            for _ in 0..reader.u8()? {
                let id = if extended { reader.u16()? } else { reader.u8()?.into() };
                set_parameter(&mut report, id, reader.take(width)?);
            }
        }
        join_parts(&mut report);
        reports.push(report);
    }
    Ok(reports)
}

fn set_position(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let (longitude, latitude) = (reader.i32()?, reader.i32()?);
    // A receiver without a fix sends the minimum value in all fields.
    if longitude == i32::MIN || latitude == i32::MIN {
        return reader.skip(8);
    }
    report.locate(f64::from(latitude) / 1e7, f64::from(longitude) / 1e7);
    report.valid = Some(true);
    report.altitude_m = Some(f64::from(reader.u16()?) / 10.0);
    report.course = Some(f64::from(reader.u16()?) / 100.0);
    report.set("sat", reader.u8()?);
    report.speed_kmh = Some(f64::from(reader.u16()?));
    report.set("hdop", f64::from(reader.u8()?) / 10.0);
    Ok(())
}

/// Fault codes of the engine, each with position and time.
pub(super) fn read_fault_codes(reader: &mut Reader<'_>) -> Result<Vec<Report>, DecodeError> {
    let mut reports = Vec::new();
    for _ in 0..reader.u8()? {
        reader.skip(1)?;
        let mut report = Report { time: Some(instant(reader)?), valid: Some(true), ..Report::default() };
        let (longitude, latitude) = (reader.i32()?, reader.i32()?);
        report.locate(f64::from(latitude) / 1e7, f64::from(longitude) / 1e7);
        if reader.u8()? == 2 {
            report.set("archive", true);
        }
        report.set_text("dtcs", &reader.text(5)?);
        reports.push(report);
    }
    Ok(reports)
}

/// The tracks of a driver's magnetic card.
pub(super) fn read_card(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
    reader.skip(1)?;
    let mut report = Report { time: Some(instant(reader)?), ..Report::default() };
    // Whether the driver is registered, the state of the card, and which tracks it has.
    reader.skip(3)?;
    let mut tracks = Vec::new();
    for _ in 0..3 {
        let length = usize::from(reader.u16()?);
        tracks.push(reader.text(length)?);
    }
    report.set_text("driverUniqueId", &tracks.join("|"));
    Ok(report)
}
