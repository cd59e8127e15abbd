//! AAA reports: fields between commas.

use crate::decoded::Context;
use crate::notation::calendar::Civil;
use crate::notation::fields::{Fields, hex, integer, real};
use crate::notation::number::{real_u64, signed};
use crate::report::{CellTower, Report};

use super::alarm::alarm;

/// Reads `AAA,event,latitude,longitude,…`; none when the text has no position.
pub(super) fn read_text(text: &str, context: &Context<'_>) -> Option<Report> {
    let mut fields = Fields::split(text, ',');
    fields.skip(1);
    // Buffered reports have a count before the event.
    if !fields.peek(1).contains('.') {
        fields.skip(1);
    }
    let mut report = Report::default();
    let event: u16 = fields.number()?;
    report.set("event", event);
    report.alarm_some(alarm(event));
    let (latitude, longitude) = (fields.real()?, fields.real()?);
    report.locate(latitude, longitude);
    report.time = Civil::parse(fields.take()).and_then(Civil::instant);
    report.valid = Some(fields.take() == "A");
    report.set_some("sat", integer(fields.take()));
    let signal = fields.number::<i32>();
    report.set_some("rssi", signal);
    report.speed_kmh = fields.real();
    report.course = fields.real();
    report.set_some("hdop", fields.real());
    report.altitude_m = fields.real();
    report.set_some("odometer", integer(fields.take()));
    report.set_text("runtime", fields.take());
    set_cell(&mut report, fields.take(), signal);
    let pins = fields.take();
    for (name, digits) in [("input", pins.get(..2)), ("output", pins.get(2..4))] {
        report.set_some(name, digits.and_then(hex));
    }
    set_voltages(&mut report, fields.take(), context);
    if fields.remaining() >= 4 {
        set_extras(&mut report, &mut fields, event);
    }
    Some(report)
}

/// `mcc|mnc|lac|cell`, area and cell hexadecimal.
fn set_cell(report: &mut Report, text: &str, signal: Option<i32>) {
    let mut parts = Fields::split(text, '|');
    let (mcc, mnc) = (parts.number::<u16>(), parts.number::<u16>());
    let (Some(mcc), Some(mnc)) = (mcc.filter(|mcc| *mcc != 0), mnc) else { return };
    if let (Some(lac), Some(cell)) = (parts.hex().and_then(|lac| u32::try_from(lac).ok()), parts.hex()) {
        report.cells.push(CellTower { mcc, mnc, lac, cell, signal });
    }
}

/// Analog inputs, battery and supply: five numbers, hexadecimal or, on newer units, volts of battery and supply first.
fn set_voltages(report: &mut Report, text: &str, context: &Context<'_>) {
    let mut parts = Fields::split(text, '|');
    if text.contains('.') {
        report.set_some("battery", parts.real());
        report.set_some("power", parts.real());
        return;
    }
    for number in 1..=3 {
        let field = parts.take();
        report.set_some(("adc", number), hex(field).filter(|_| !field.is_empty()));
    }
    // Volts per step of the converter, for the battery and the supply.
    let (battery, power) = match context.model.map(str::to_uppercase).as_deref() {
        Some("MVT340" | "MVT380") => (3.0 * 2.0 / 1024.0, 3.0 * 16.0 / 1024.0),
        Some("MT90") => (3.3 * 2.0 / 4096.0, 1.0),
        Some("T1" | "T3" | "MVT100" | "MVT600" | "MVT800" | "TC68" | "TC68S") => {
            (3.3 * 2.0 / 4096.0, 3.3 * 16.0 / 4096.0)
        }
        _ => (0.01, 0.01),
    };
    for (name, volts) in [("battery", battery), ("power", power)] {
        report.set(name, real_u64(parts.hex().unwrap_or(0)) * volts);
    }
}

/// `event data,reserved,version,fuel,temperatures,count,…`.
fn set_extras(report: &mut Report, fields: &mut Fields<'_>, event: u16) {
    report.set_text(if event == 37 { "driverUniqueId" } else { "eventData" }, fields.take());
    fields.skip(1);
    let version = integer(fields.take()).unwrap_or(0);
    let fuel = fields.take();
    // Hundredths of a percent, as in binary messages.
    let level = hex(fuel).filter(|_| fuel.len() == 4);
    report.set_some("fuelLevel", level.map(|level| real_u64(level) / 100.0));
    for sensor in fields.take().split('|').filter(|sensor| sensor.len() == 6) {
        let (Some(index), Some(raw)) = (sensor.get(..2).and_then(hex), sensor.get(2..).and_then(hex)) else {
            continue;
        };
        let degrees = if version >= 3 {
            crate::notation::number::real(signed(raw, 16)) / 100.0
        } else {
            let whole = crate::notation::number::real(signed(raw >> 8, 8));
            let hundredths = real_u64(raw & 0xff) / 100.0;
            if whole < 0.0 { whole - hundredths } else { whole + hundredths }
        };
        report.set(("temp", u32::try_from(index).unwrap_or(0)), degrees);
    }
    // How many fields follow.
    fields.skip(1);
    let first = fields.position();
    report.set_text("tempData", fields.get(first + 1));
    set_taximeter(report, fields.get(first + 5));
}

/// `state|start|end|distance|fare|trip|wait`; the last five only when a trip has ended.
fn set_taximeter(report: &mut Report, text: &str) {
    let parts: Vec<&str> = text.split('|').collect();
    let [state, start, rest @ ..] = parts.as_slice() else { return };
    report.set("taximeterOn", state.ends_with('0'));
    report.set_text("taximeterStart", start);
    if let [end, distance, fare, trip, wait, ..] = rest {
        report.set_text("taximeterEnd", end);
        report.set_some("taximeterDistance", real(distance));
        report.set_some("taximeterFare", real(fare));
        report.set_text("taximeterTrip", trip);
        report.set_text("taximeterWait", wait);
    }
}
