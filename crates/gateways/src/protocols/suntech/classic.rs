//! Lines of ST2, ST3, ST5, ST6 and SA2 units, whose fields depend on the model.

use crate::decoded::{Context, DecodeError, Decoded};
use crate::notation::fields::{Fields, hex, integer, real};
use crate::notation::number::real_u64;
use crate::report::{CellTower, Report};

use super::alarm::{alert, emergency};
use super::decode::{date_and_time, set_motion};
use super::optional_fields::set_tail;

/// `ST300STT;name;[model;]version;date;time;[cell;]latitude;longitude;speed;course;satellites;fix;metres;volts;pins;…`.
pub(super) fn read_classic(mut fields: Fields<'_>, context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let head = fields.take();
    let (model, kind) = head
        .split_at_checked(5)
        .ok_or(DecodeError::Malformed("a line must begin with the model of the tracker"))?;
    let decoded = Decoded { model: Some(model.to_owned()), ..Decoded::identified(fields.take()) };
    if !matches!(kind, "STT" | "EMG" | "EVT" | "ALT" | "UEX") {
        return Err(DecodeError::Malformed("the type of the message, at its start, is unknown"));
    }
    let mut report = Report::default();
    report.set_text("type", kind);
    if model.starts_with("ST3") || matches!(model, "ST500" | "ST600") {
        fields.skip(1);
    }
    report.set_text("versionFw", fields.take());
    report.time = date_and_time(fields.take(), fields.take());
    if model != "ST500" {
        let cell = fields.hex();
        if model == "ST600" {
            set_cell(&mut report, &mut fields, cell);
        }
    }
    set_motion(&mut report, &mut fields);
    report.set_some("sat", integer(fields.take()));
    report.valid = Some(fields.take() == "1");
    report.set_some("odometer", integer(fields.take()));
    report.set_some("power", fields.real());
    set_pins(&mut report, fields.take());
    set_kind(&mut report, kind, &mut fields);
    if context.options.flag("hbm") || context.options.integer("hbm").is_some_and(|hbm| hbm > 0) {
        set_tail(&mut report, &mut fields, context.options);
    }
    if report.position.is_none() {
        return Err(DecodeError::Malformed("the line has no coordinates"));
    }
    Ok(Decoded { reports: vec![report], ..decoded })
}

fn set_cell(report: &mut Report, fields: &mut Fields<'_>, cell: Option<u64>) {
    let (mcc, mnc, lac) = (fields.number(), fields.number(), fields.hex());
    // The field has no sign.
    let signal = fields.number::<i32>().map(|signal| -signal.abs());
    let lac = lac.and_then(|lac| u32::try_from(lac).ok());
    if let (Some(mcc), Some(mnc), Some(lac), Some(cell)) = (mcc, mnc, lac, cell) {
        report.cells.push(CellTower { mcc, mnc, lac, cell, signal });
    }
}

/// Ignition, three inputs and two outputs, a digit each.
pub(super) fn set_pins(report: &mut Report, digits: &str) {
    let [ignition, first, second, third, out_first, out_second, ..] = digits.as_bytes() else { return };
    report.set("ignition", *ignition == b'1');
    for (pin, digit) in [(1, first), (2, second), (3, third)] {
        report.input(pin, *digit == b'1');
    }
    report.output(1, *out_first == b'1');
    report.output(2, *out_second == b'1');
}

/// The fields after the pins, by the type of line.
fn set_kind(report: &mut Report, kind: &str, fields: &mut Fields<'_>) {
    match kind {
        "STT" => {
            report.set_some("status", integer(fields.take()));
            report.set_some("index", integer(fields.take()));
        }
        "EMG" => report.alarm_some(fields.number().and_then(emergency)),
        "ALT" => report.alarm_some(fields.number().and_then(alert)),
        "EVT" => report.set_some("event", integer(fields.take())),
        _ => set_serial(report, fields),
    }
}

/// The length of the data of the serial port, the data, and a checksum.
pub(super) fn set_serial(report: &mut Report, fields: &mut Fields<'_>) {
    /// The remaining bytes may be a line end.
    const LINE_END: usize = 2;
    let mut left = fields.number::<usize>().unwrap_or(0);
    let mut fuel = 0.0;
    while left > LINE_END && fields.remaining() > 0 {
        let part = fields.take();
        left = left.saturating_sub(part.chars().count() + 1);
        fuel += set_serial_part(report, part);
    }
    if fuel > 0.0 {
        report.set("fuel", fuel);
    }
    fields.skip(1);
}

/// The text without blanks and control characters at both ends.
fn without_controls(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

/// Sets a part of the data of the serial port; returns the fuel level in it.
fn set_serial_part(report: &mut Report, part: &str) -> f64 {
    if part.starts_with("CabAVL") {
        let mut sum = 0.0;
        for (name, text) in [("fuel1", 2), ("fuel2", 3)] {
            let level = part.split(',').nth(text).and_then(real).filter(|level| *level > 0.0);
            report.set_some(name, level);
            sum += level.unwrap_or(0.0);
        }
        return sum;
    }
    if part.starts_with("GTSL") {
        report.set_text("driverUniqueId", part.split('|').nth(4).unwrap_or_default());
        return 0.0;
    }
    let Some((name, value)) = part.split_once('=') else {
        report.set_text("serial", without_controls(part));
        return 0.0;
    };
    let number = value.trim().split('.').next().and_then(hex);
    let sensor = name.get(2..3).and_then(|digit| digit.parse::<u32>().ok()).unwrap_or(0);
    match (name.as_bytes().first(), number) {
        (Some(b't'), Some(number)) => report.set(("temp", sensor), number),
        (Some(b'N'), Some(number)) => {
            report.set(("fuel", sensor), number);
            return real_u64(number);
        }
        (Some(b'Q'), Some(number)) => report.set("drivingQuality", number),
        _ => report.set_text("serial", without_controls(part)),
    }
    0.0
}
