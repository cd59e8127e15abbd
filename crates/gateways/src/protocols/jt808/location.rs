//! The position of JT/T 808 and its batches.

use perigee_core::time::Timestamp;

use crate::decoded::{Context, DecodeError};
use crate::notation::bits::bit;
use crate::notation::calendar::Civil;
use crate::notation::reader::Reader;
use crate::report::Report;

use super::alarm::{AOVX, PADLOCK, STANDARD};
use super::extra::read_extra;

/// Offset of the standard's clock from UTC, in minutes.
pub(super) const BEIJING: i64 = 8 * 60;

/// Reads a time in BCD.
pub(super) fn read_time(
    reader: &mut Reader<'_>,
    context: &Context<'_>,
) -> Result<Option<Timestamp>, DecodeError> {
    Ok(context.utc(Civil::read_bcd(reader)?.instant(), BEIJING))
}

/// Reads one position and its additional elements.
pub(super) fn read_location(mut reader: Reader<'_>, context: &Context<'_>) -> Result<Report, DecodeError> {
    let mut report = Report::default();
    let alarms = reader.u32()?;
    set_alarms(&mut report, alarms, context);
    read_coordinates(&mut report, &mut reader, context)?;
    read_motion(&mut report, &mut reader)?;
    report.time = read_time(&mut reader, context)?;
    if reader.remaining() == 18 {
        // A format of its own without numbered elements.
        reader.skip(4)?;
        report.set("odometer", i64::from(reader.u32()?) * 1000);
        report.set("battery", f64::from(reader.u16()?) / 10.0);
        reader.skip(4)?;
        report.set("rssi", reader.u8()?);
        return Ok(report);
    }
    while reader.remaining() >= 2 {
        let (element, length) = (reader.u8()?, reader.u8()?);
        if element == 0x80 {
            // The rest of the message has elements of another numbering.
            let _ = reader.skip(1);
            super::extension::read_extension(&mut report, reader);
            break;
        }
        let Ok(data) = reader.sub(length.into()) else { break };
        // An element that is too short does not affect the others.
        let _ = read_extra(&mut report, element, data, context);
    }
    Ok(report)
}

/// Reads altitude, speed and course.
pub(super) fn read_motion(report: &mut Report, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    report.altitude_m = Some(f64::from(reader.i16()?));
    report.speed_kmh = Some(f64::from(reader.u16()?) / 10.0);
    report.course = Some(f64::from(reader.u16()?));
    Ok(())
}

/// Reads the state and the coordinates, whose hemispheres are bits of the state.
pub(super) fn read_coordinates(
    report: &mut Report,
    reader: &mut Reader<'_>,
    context: &Context<'_>,
) -> Result<(), DecodeError> {
    let state = reader.u32()?;
    report.set("ignition", bit(state, 0));
    if context.is_model("G1C Pro") {
        report.set("motion", bit(state, 4));
    }
    report.set("blocked", bit(state, 10));
    if has_door(context) {
        report.set("door", bit(state, 16));
    }
    report.set("charge", bit(state, 26));
    report.valid = Some(bit(state, 1));
    let (latitude, longitude) = (f64::from(reader.u32()?) / 1e6, f64::from(reader.u32()?) / 1e6);
    report.locate(
        if bit(state, 2) { -latitude } else { latitude },
        if bit(state, 3) { -longitude } else { longitude },
    );
    Ok(())
}

/// Models with a contact on the door.
pub(super) fn has_door(context: &Context<'_>) -> bool {
    context.is_model("MV810G") || context.is_model("MV710G")
}

/// AOVX's asset trackers.
pub(super) fn is_aovx(context: &Context<'_>) -> bool {
    context.is_model("AL300") || context.is_model("GL100")
}

fn set_alarms(report: &mut Report, alarms: u32, context: &Context<'_>) {
    let table = if context.is_model("G-360P") || context.is_model("G-508P") {
        PADLOCK
    } else if is_aovx(context) {
        AOVX
    } else {
        STANDARD
    };
    for word in table.words_of_bits(alarms.into()) {
        // VL300 sets the accident bits without an accident.
        if word != "accident" || !context.is_model("VL300") {
            report.alarm(word);
        }
    }
}

/// Consecutive positions, each with its length. The batch of the standard has their number, and whether they were
/// stored while there was no connection.
pub(super) fn read_batch(
    mut reader: Reader<'_>,
    standard: bool,
    context: &Context<'_>,
) -> Result<Vec<Report>, DecodeError> {
    let mut archive = false;
    if standard {
        reader.skip(2)?;
        archive = reader.u8()? > 0;
    }
    let mut reports = Vec::new();
    while !reader.is_empty() {
        let length = if standard { usize::from(reader.u16()?) } else { usize::from(reader.u8()?) };
        let mut report = read_location(reader.sub(length)?, context)?;
        if archive {
            report.set("archive", true);
        }
        reports.push(report);
    }
    Ok(reports)
}
