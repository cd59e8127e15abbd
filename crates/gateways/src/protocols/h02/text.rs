//! H02's sentences.

use crate::decoded::{Context, DecodeError, Decoded};
use crate::notation::fields::{Fields, degrees_minutes, hemisphere, hex, integer, is_digits, real};
use crate::report::{CellTower, KNOT_KMH, Report};
use crate::value::Value;

use super::status::{answer, answer_r12, read_time, set_status};

pub(super) fn read_text(text: &str, context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let sentence = text.trim();
    let body = sentence.split('#').next().unwrap_or_default();
    let fields = Fields::split(body, ',');
    let (name, kind) = (fields.get(1), fields.get(2));
    // Some units omit the identifier after the connection has sent it.
    let mut decoded = match name {
        "" if context.known => Decoded::nothing(),
        _ if is_digits(name) => Decoded::identified(name),
        _ => return Err(DecodeError::Malformed("the identifier of a device must consist of decimal digits")),
    };
    match kind {
        "V0" | "HTBT" => {
            let head = format!("{},{name},{kind}#", fields.get(0));
            decoded.reply(head);
            let level = integer(fields.get(3)).filter(|_| kind == "HTBT");
            decoded.reports.extend(level.map(|level| one_value("batteryLevel", level)));
        }
        "NBR" => {
            decoded.reports.extend(read_cells(&fields));
            if !decoded.reports.is_empty() {
                decoded.reply(answer(name, "NBR", context.now));
            }
        }
        "LINK" => decoded.reports.extend(read_link(&fields)),
        "V3" => decoded.reports.extend(read_v3(&fields)),
        "VP1" => decoded.reports.extend(read_vp1(&fields, body)),
        "SMS" => {
            let text = body.splitn(4, ',').nth(3).unwrap_or_default();
            decoded.reports.push(one_value("result", Value::text(text)));
        }
        _ if kind.starts_with('V') => {
            decoded.reports.extend(read_position(&fields));
            if !decoded.reports.is_empty() {
                if kind == "V1" {
                    decoded.reply(answer(name, "V1", context.now));
                } else if context.options.flag("ack") {
                    decoded.reply(answer_r12(name, context.now));
                }
            }
        }
        _ => {}
    }
    Ok(decoded)
}

fn one_value(name: &'static str, value: impl Into<Value>) -> Report {
    let mut report = Report::default();
    report.set(name, value);
    report
}

/// Time, validity, coordinates with their hemispheres, speed, course, date, status and additions of makers. V4 has the
/// answer to a command before the time.
fn read_position(fields: &Fields<'_>) -> Option<Report> {
    let at = |index: usize| fields.get(index).trim();
    let letter_at = (5..fields.count())
        .find(|index| matches!(at(*index), "N" | "S") && matches!(at(index + 2), "E" | "W"))?;
    let mut report = Report::default();
    let latitude = hemisphere(read_degrees(at(letter_at - 1))?, at(letter_at));
    let longitude = hemisphere(read_degrees(at(letter_at + 1))?, at(letter_at + 2));
    report.locate(latitude, longitude);
    let validity = at(letter_at - 2);
    report.valid = Some(validity == "A" || is_digits(validity));
    if fields.get(2) == "V4" {
        let answer: Vec<&str> = (3..letter_at.saturating_sub(3)).map(|index| fields.get(index)).collect();
        report.set_text("result", &answer.join(","));
    }
    report.speed_kmh = real(at(letter_at + 3)).map(|knots| knots * KNOT_KMH);
    report.course = real(at(letter_at + 4));
    // Some units have the battery before the date.
    let is_date = |text: &str| text.len() == 6 && is_digits(text);
    let date =
        if !is_date(at(letter_at + 5)) && is_date(at(letter_at + 6)) { letter_at + 6 } else { letter_at + 5 };
    report.time = read_time(at(letter_at - 3), at(date));
    let is_status = |text: &str| text.len() == 8 && hex(text).is_some();
    let Some(status) = (date + 1..fields.count()).find(|index| is_status(at(*index))) else {
        return Some(report);
    };
    if let Some(state) = hex(at(status)).and_then(|state| u32::try_from(state).ok()) {
        set_status(&mut report, state);
    }
    read_added(&mut report, fields, status + 1);
    Some(report)
}

/// `ddmm.mmmm`, `-dd-mm.mmmm`, or without its point.
fn read_degrees(text: &str) -> Option<f64> {
    if let Some((degrees, minutes)) = text.strip_prefix('-').and_then(|rest| rest.split_once('-')) {
        return Some(real(degrees)? + real(minutes)? / 60.0);
    }
    if text.contains('.') {
        return degrees_minutes(text);
    }
    let (whole, part) = text.split_at_checked(text.len().checked_sub(4)?)?;
    if is_digits(text) { degrees_minutes(&format!("{whole}.{part}")) } else { None }
}

/// Odometer, temperature, fuel, altitude and cell in six fields; any other list is kept unchanged.
fn read_added(report: &mut Report, fields: &Fields<'_>, from: usize) {
    let at = |index: usize| fields.get(from + index).trim();
    let known = fields.count() == from + 6
        && is_digits(at(0))
        && integer(at(1)).is_some()
        && at(2).contains('.')
        && real(at(2)).is_some()
        && integer(at(3)).is_some();
    if known {
        report.set_some("odometer", integer(at(0)));
        report.set_some("temp1", integer(at(1)));
        report.set_some("fuel", real(at(2)));
        report.altitude_m = real(at(3));
        let lac = hex(at(4)).and_then(|lac| u32::try_from(lac).ok());
        if let Some((lac, cell)) = lac.zip(hex(at(5))) {
            report.cell(0, 0, lac, cell);
        }
        return;
    }
    for (number, index) in (1..).zip(from..fields.count()) {
        report.set_text(("io", number), fields.get(index).trim());
    }
}

/// `NBR,time,mcc,mnc,delay,count,(lac,cell,signal)...,date,status`
fn read_cells(fields: &Fields<'_>) -> Option<Report> {
    let number = |index: usize| fields.get(index).trim().parse::<u16>().ok();
    let (mcc, mnc) = (number(4)?, number(5)?);
    let count = usize::from(number(7)?);
    let mut report = Report::default();
    let cells = 8..8 + count.min(fields.count()) * 3;
    for at in cells.step_by(3) {
        let (lac, cell) = (fields.get(at).parse().ok()?, fields.get(at + 1).parse().ok()?);
        report.cells.push(CellTower { mcc, mnc, lac, cell, signal: fields.get(at + 2).parse().ok() });
    }
    let date = 8 + count * 3;
    finish(&mut report, fields, date)?;
    Some(report)
}

/// The time of field 3 with the date of this field, and the state after it.
fn finish(report: &mut Report, fields: &Fields<'_>, date: usize) -> Option<()> {
    report.time = Some(read_time(fields.get(3), fields.get(date))?);
    let state = hex(fields.get(date + 1)).and_then(|state| u32::try_from(state).ok())?;
    set_status(report, state);
    Some(())
}

/// `LINK,time,signal,satellites,battery,steps,turnovers,date,status`
fn read_link(fields: &Fields<'_>) -> Option<Report> {
    let mut report = Report::default();
    for (name, index) in ["rssi", "sat", "batteryLevel", "steps", "turnovers"].into_iter().zip(4..) {
        report.set(name, integer(fields.get(index))?);
    }
    finish(&mut report, fields, 9)?;
    Some(report)
}

/// `V3,time,mccmnc,count,(lac,cell,signal,?)...,battery,reboot,X,date,status`
fn read_v3(fields: &Fields<'_>) -> Option<Report> {
    let (mcc, mnc) = fields.get(4).split_at_checked(3)?;
    let (mcc, mnc) = (mcc.parse().ok()?, mnc.parse().ok()?);
    let count = fields.get(5).parse::<usize>().ok()?.min(fields.count());
    let mut report = Report::default();
    for at in (6..6 + count * 4).step_by(4) {
        if let (Ok(lac), Ok(cell)) = (fields.get(at).parse(), fields.get(at + 1).parse()) {
            report.cells.push(CellTower { mcc, mnc, lac, cell, signal: fields.get(at + 2).parse().ok() });
        }
    }
    let battery = 6 + count * 4;
    report.set("battery", hex(fields.get(battery))?);
    finish(&mut report, fields, battery + 3)?;
    Some(report)
}

/// `VP1,V,mcc,mnc,lac,cell,signalY...` or `VP1,A,lat,N,lon,E,speed,course,date`
fn read_vp1(fields: &Fields<'_>, body: &str) -> Option<Report> {
    let mut report = Report::default();
    if fields.get(3) == "V" {
        let (mcc, mnc) = (fields.get(4).parse().ok()?, fields.get(5).parse().ok()?);
        for cell in body.splitn(7, ',').nth(6)?.split('Y') {
            let mut parts = cell.split(',');
            let (lac, cell) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let signal = parts.next().and_then(|signal| signal.parse().ok());
            report.cells.push(CellTower { mcc, mnc, lac, cell, signal });
        }
        return Some(report);
    }
    report.valid = Some(true);
    report.locate(
        hemisphere(read_degrees(fields.get(4))?, fields.get(5)),
        hemisphere(read_degrees(fields.get(6))?, fields.get(7)),
    );
    report.speed_kmh = real(fields.get(8)).map(|knots| knots * KNOT_KMH);
    report.course = real(fields.get(9));
    report.time = read_time("", fields.get(10));
    Some(report)
}
