//! CCC reports, records of fixed form, and CCE reports, records of numbered elements.

use perigee_core::time::Timestamp;

use crate::decoded::DecodeError;
use crate::notation::reader::Reader;
use crate::report::Report;

use super::alarm::alarm;
use super::element::{set_long, set_of_four, set_of_one, set_of_two};

/// Bytes of a record of fixed form.
const RECORD: usize = 52;

/// Times count seconds from the year 2000.
pub(super) fn since_2000(seconds: u32) -> Timestamp {
    Timestamp::from_millis((946_684_800 + i64::from(seconds)) * 1000)
}

/// Reads CCC: version, count, how many are left, records.
pub(super) fn read_fixed(content: &[u8]) -> Result<Vec<Report>, DecodeError> {
    let mut reader = Reader::new(content);
    reader.skip(8)?;
    let mut reports = Vec::new();
    while reader.remaining() >= RECORD {
        reports.push(read_fixed_record(&mut reader.sub(RECORD)?)?);
    }
    Ok(reports)
}

fn read_fixed_record(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
    let mut report = Report::default();
    let event = reader.u8()?;
    report.set("event", event);
    report.alarm_some(alarm(event.into()));
    let (latitude, longitude) = (reader.i32_le()?, reader.i32_le()?);
    report.locate(f64::from(latitude) / 1e6, f64::from(longitude) / 1e6);
    report.time = Some(since_2000(reader.u32_le()?));
    report.valid = Some(reader.u8()? == 1);
    report.set("sat", reader.u8()?);
    let signal = reader.u8()?;
    report.set("rssi", signal);
    report.speed_kmh = Some(f64::from(reader.u16_le()?));
    report.course = Some(f64::from(reader.u16_le()?));
    report.set("hdop", f64::from(reader.u16_le()?) / 10.0);
    report.altitude_m = Some(f64::from(reader.i16_le()?));
    report.set("odometer", reader.u32_le()?);
    report.set("runtime", reader.u32_le()?);
    let (mcc, mnc, lac, cell) = (reader.u16_le()?, reader.u16_le()?, reader.u16_le()?, reader.u16_le()?);
    report.cell_with_signal((mcc, mnc), lac, cell, signal);
    report.set("status", reader.u16_le()?);
    report.set("adc1", reader.u16_le()?);
    report.set("battery", f64::from(reader.u16_le()?) / 100.0);
    report.set("power", f64::from(reader.u16_le()?) / 100.0);
    Ok(report)
}

/// Reads CCE: how many reports are left, their count, and records each with its length.
pub(super) fn read_elements(content: &[u8]) -> Result<Vec<Report>, DecodeError> {
    let mut reader = Reader::new(content);
    reader.skip(4)?;
    let mut reports = Vec::new();
    for _ in 0..reader.u16_le()? {
        let length = usize::from(reader.u16_le()?);
        reports.push(read_element_record(&mut reader.sub(length)?)?);
    }
    Ok(reports)
}

/// Groups of elements with one, two, four and any number of bytes.
fn read_element_record(reader: &mut Reader<'_>) -> Result<Report, DecodeError> {
    let mut report = Report::default();
    // How many elements there are in total.
    reader.skip(2)?;
    for _ in 0..reader.u8()? {
        set_of_one(&mut report, number(reader)?, reader.u8()?);
    }
    for _ in 0..reader.u8()? {
        set_of_two(&mut report, number(reader)?, reader.u16_le()?);
    }
    let (mut latitude, mut longitude) = (None, None);
    for _ in 0..reader.u8()? {
        let id = number(reader)?;
        let raw = reader.u32_le()?;
        match id {
            0x02 => latitude = Some(f64::from(raw.cast_signed()) / 1e6),
            0x03 => longitude = Some(f64::from(raw.cast_signed()) / 1e6),
            _ => set_of_four(&mut report, id, raw),
        }
    }
    if let Some((latitude, longitude)) = latitude.zip(longitude) {
        report.locate(latitude, longitude);
    }
    for _ in 0..reader.u8()? {
        let id = number(reader)?;
        let length = usize::from(reader.u8()?);
        // An element that is too short is ignored; later ones are not affected.
        let _ = set_long(&mut report, id, &mut reader.sub(length)?);
    }
    Ok(report)
}

/// An element's number: one byte, or two that begin with `FE`.
fn number(reader: &mut Reader<'_>) -> Result<u16, DecodeError> {
    if reader.peek(0) == Some(0xfe) { reader.u16() } else { Ok(reader.u8()?.into()) }
}
