//! A record: `date;time;latitude;N;longitude;E;speed;course;altitude;satellites`, and on long ones
//! `;hdop;inputs;outputs;analog;driver;parameters`. `NA` or an empty field means unknown.

use std::collections::BTreeMap;

use perigee_core::time::Timestamp;

use crate::alarm::{AlarmTable, Notation, text};
use crate::notation::bits::bit;
use crate::notation::calendar::Civil;
use crate::notation::fields::{Fields, degrees_minutes, hemisphere, integer, real};
use crate::report::Report;
use crate::value::{Name, Value};

/// Parameters that are alarms if they are on: a number above 0, or true.
pub(super) const PARAMETER: AlarmTable = AlarmTable {
    field: "parameter that is on, in any letter case",
    notation: Notation::Text,
    codes: &[text("sos", "sos")],
};

/// Reads a record; none when it has neither ten nor sixteen fields.
pub(super) fn read_record(text: &str) -> Option<Report> {
    let mut fields = Fields::split(text, ';');
    if fields.count() != 10 && fields.count() < 16 {
        return None;
    }
    let mut next = || Some(fields.take().trim()).filter(|field| !field.is_empty() && *field != "NA");
    let mut report = Report::default();
    let (date, time) = (next(), next());
    report.time = date.zip(time).and_then(|(date, time)| instant(date, time));
    let (latitude, north, longitude, east) = (next(), next(), next(), next());
    if let Some((latitude, longitude)) =
        latitude.and_then(degrees_minutes).zip(longitude.and_then(degrees_minutes))
    {
        report.locate(
            hemisphere(latitude, north.unwrap_or_default()),
            hemisphere(longitude, east.unwrap_or_default()),
        );
    }
    report.speed_kmh = next().and_then(real);
    report.course = next().and_then(real);
    report.altitude_m = next().and_then(real);
    if let Some(count) = next().and_then(integer) {
        report.set("sat", count);
        report.valid = Some(count >= 3);
    }
    report.set_some("hdop", next().and_then(real));
    for name in ["input", "output"] {
        if let Some(text) = next() {
            report.set_text(name, text);
            set_pins(&mut report, name == "input", text);
        }
    }
    for (number, field) in (1..).zip(next().into_iter().flat_map(|list| list.split(','))) {
        report.set_text(("adc", number), field);
    }
    if let Some(driver) = next() {
        report.set_text("driverUniqueId", driver);
    }
    // Texts may contain semicolons.
    let rest: Vec<&str> = std::iter::from_fn(|| (fields.remaining() > 0).then(|| fields.take())).collect();
    set_parameters(&mut report, &rest.join(";"));
    Some(report)
}

/// `ddMMyy` and `HHmmss`, which may have a fraction.
pub(super) fn instant(date: &str, time: &str) -> Option<Timestamp> {
    let part = |text: &str, from: usize| text.get(from..from + 2)?.parse::<u8>().ok();
    let civil = Civil {
        year: part(date, 4)?.into(),
        month: part(date, 2)?,
        day: part(date, 0)?,
        hour: part(time, 0)?,
        minute: part(time, 2)?,
        second: part(time, 4)?,
    };
    civil.instant()
}

/// A number whose bits are pins; pins above the highest set bit may not exist.
fn set_pins(report: &mut Report, input: bool, text: &str) {
    let Some(mask) = text.parse::<u32>().ok() else { return };
    for index in 0..(u32::BITS - mask.leading_zeros()) {
        let on = bit(mask, index);
        if input { report.input(index + 1, on) } else { report.output(index + 1, on) }
    }
}

/// `name:kind:value` between commas; kinds are 1 whole, 2 real and 3 text.
fn set_parameters(report: &mut Report, text: &str) {
    let mut cells: BTreeMap<u32, [Option<u64>; 4]> = BTreeMap::new();
    for parameter in text.split(',') {
        let mut parts = parameter.splitn(3, ':');
        let (Some(name), Some(kind), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if name.is_empty() || kind.len() != 1 {
            continue;
        }
        let name = name.trim().to_lowercase();
        let value = match (real(text), text) {
            (Some(number), _) => Value::Real(number),
            (None, "true" | "false") => Value::Flag(text == "true"),
            (None, _) => Value::text(text),
        };
        if let Some((slot, number)) = cell_part(&name) {
            let parts = cells.entry(number).or_default();
            if let Some(part) = parts.get_mut(slot) {
                *part = text.trim().parse().ok();
            }
        }
        if is_on(&value) {
            report.alarm_some(PARAMETER.word_of(&name));
        }
        let known = match name.as_str() {
            "bat" => Name::Fixed("batteryLevel"),
            "temp" => Name::Fixed("deviceTemp"),
            _ => Name::from(name),
        };
        report.set(known, value);
    }
    for parts in cells.into_values() {
        if let [Some(mcc), Some(mnc), Some(lac), Some(cell)] = parts
            && let (Ok(mcc), Ok(mnc), Ok(lac)) = (u16::try_from(mcc), u16::try_from(mnc), u32::try_from(lac))
        {
            report.cell(mcc, mnc, lac, cell);
        }
    }
}

/// Whether a parameter is on: a number above 0, or true.
fn is_on(value: &Value) -> bool {
    matches!(value, Value::Flag(true)) || value.as_f64().is_some_and(|number| number > 0.0)
}

/// The cell and the part of it that a parameter such as `lac2` contains.
fn cell_part(name: &str) -> Option<(usize, u32)> {
    let parts = ["mcc", "mnc", "lac", "cell_id"];
    let of = |(slot, part): (usize, &&str)| Some((slot, name.strip_prefix(*part)?.parse().ok()?));
    parts.iter().enumerate().find_map(of)
}
