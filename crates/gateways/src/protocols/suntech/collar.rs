//! Lines of units without an engine: ST9 (`ST910;Location;…`) and ST4 (`ST410STT;…`).

use crate::decoded::{DecodeError, Decoded};
use crate::notation::fields::{Fields, integer};
use crate::report::{CellTower, Report};

use super::alarm::COLLAR;
use super::decode::{date_and_time, set_motion};

/// `ST910;kind;name;[version;]date;time;[cell;]latitude;longitude;speed;course;fix[;metres]`.
pub(super) fn read_collar(mut fields: Fields<'_>) -> Result<Decoded, DecodeError> {
    fields.skip(1);
    let kind = fields.take();
    if !matches!(kind, "Location" | "Emergency" | "Alert") {
        return Err(DecodeError::Malformed("the type of the message, in the second field, is unknown"));
    }
    let decoded = Decoded::identified(fields.take());
    let mut report = Report::default();
    report.alarm_some(COLLAR.word_of(kind));
    // An alert of some units has no version.
    if !fields.peek(1).contains(':') {
        report.set_text("versionFw", fields.take());
    }
    report.time = date_and_time(fields.take(), fields.take());
    // Coordinates have a sign; a cell has none.
    let cell = !fields.peek(0).starts_with(['+', '-']);
    fields.skip(usize::from(cell));
    set_motion(&mut report, &mut fields);
    report.valid = Some(fields.take() == "1");
    if cell {
        report.set_some("odometer", integer(fields.take()));
    }
    Ok(Decoded { reports: vec![report], ..decoded })
}

/// `ST410STT;name;version;model;` seven cells `;volts;live;number;mode;[…;]date;time;latitude;…;satellites;fix`.
pub(super) fn read_st4(mut fields: Fields<'_>) -> Result<Decoded, DecodeError> {
    let head = fields.take();
    let kind = head.get(5..).unwrap_or_default();
    let decoded = Decoded::identified(fields.take());
    if !matches!(kind, "STT" | "ALT") {
        return Err(DecodeError::Malformed("the type of the message, at its start, is unknown"));
    }
    let mut report = Report::default();
    report.set_text("type", kind);
    report.set_text("versionFw", fields.take());
    // The model, which has one field, or two on newer units. The signal of the serving cell, which is negative, shows
    // how many.
    fields.skip(if fields.peek(5).starts_with('-') && !fields.peek(4).starts_with('-') { 2 } else { 1 });
    for index in 0..7 {
        set_cell(&mut report, &mut fields, index == 0);
    }
    report.set_some("battery", fields.real());
    if fields.take() == "0" {
        report.set("archive", true);
    }
    report.set_some("index", integer(fields.take()));
    let mode = integer(fields.take());
    if kind == "ALT" {
        report.alarm_some(mode.and_then(|mode| u16::try_from(mode).ok()).and_then(super::alarm::alert));
    } else {
        report.set_some("status", mode);
    }
    set_sensors(&mut report, &mut fields);
    report.time = date_and_time(fields.take(), fields.take());
    set_motion(&mut report, &mut fields);
    if report.position.is_some() {
        report.set_some("sat", integer(fields.take()));
        report.valid = Some(fields.take() == "1");
    }
    Ok(Decoded { reports: vec![report], ..decoded })
}

/// Three digits of a shared network, or inputs, a temperature and whether the unit is at rest.
fn set_sensors(report: &mut Report, fields: &mut Fields<'_>) {
    if fields.peek(0).len() == 3 {
        fields.skip(1);
    } else if fields.peek(0).len() == 8 && !fields.peek(1).contains(':') {
        fields.skip(1);
        report.set_some("deviceTemp", fields.real());
        report.set("motion", fields.take() != "1");
    }
}

/// The serving cell has its signal before the area, neighbours have it after the area. Cell 0 means none.
fn set_cell(report: &mut Report, fields: &mut Fields<'_>, serving: bool) {
    let (cell, mcc, mnc) = (fields.number::<u64>(), fields.number(), fields.number());
    let (first, second) = (fields.take(), fields.take());
    // The distance of the cell.
    fields.skip(1);
    let (lac, signal) = if serving { (second, first) } else { (first, second) };
    let (Some(cell), Some(mcc), Some(mnc), Ok(lac)) = (cell.filter(|cell| *cell > 0), mcc, mnc, lac.parse())
    else {
        return;
    };
    let signal = signal.parse().ok().filter(|signal| *signal != 0);
    report.cells.push(CellTower { mcc, mnc, lac, cell, signal });
}
