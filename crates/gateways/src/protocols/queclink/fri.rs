//! Fixed reports: one or more positions, then measurements of the model.

use crate::notation::fields::{hex, integer, is_digits, real};
use crate::report::Report;

use super::sentence::{Sentence, is_vin, read_hours, set_analog, set_odometer, set_state};

/// Reads all positions; later fields belong to the last one.
pub(super) fn read_fri(sentence: &Sentence<'_>) -> Vec<Report> {
    let Some(first) = sentence.find_position(4).or_else(|| sentence.find_empty_position(5)) else {
        return vec![super::event::read_event(sentence)];
    };
    let header = Header::read(sentence, first);
    let mut reports = Vec::new();
    let mut next = first;
    loop {
        let mut report = sentence.report();
        if let Some(vin) = header.vin {
            report.set_text("vin", vin);
        }
        let after_cell = sentence.read_position(&mut report, next);
        next = match real(sentence.get(after_cell)).filter(|_| sentence.get(after_cell).contains('.')) {
            Some(kilometres) => {
                report.set("odometer", kilometres * 1000.0);
                after_cell + 1
            }
            None => sentence.read_appended(&mut report, after_cell),
        };
        reports.push(report);
        // Another position follows immediately, or none.
        if sentence.find_position(next) != Some(next) {
            break;
        }
    }
    if let Some(last) = reports.last_mut() {
        header.apply(last);
        read_rest(last, sentence, next, header.report_type);
    }
    reports
}

/// The fields before the first position.
#[derive(Clone, Copy, Debug)]
struct Header<'a> {
    vin: Option<&'a str>,
    power: &'a str,
    report_type: Option<i64>,
    temperature: &'a str,
    battery: &'a str,
}

impl<'a> Header<'a> {
    fn read(sentence: &Sentence<'a>, first: usize) -> Self {
        let name = if sentence.version.is_empty() { 2 } else { 3 };
        let vin = Some(sentence.get(name)).filter(|text| is_vin(text) && first > name + 2);
        let mut from = if vin.is_some() { name + 2 } else { name + 1 };
        // GV500MAP has an additional field before the power.
        if sentence.model == "GV500MAP" && sentence.get(from).is_empty() {
            from += 1;
        }
        let field = |offset: usize| if from + offset < first { sentence.get(from + offset) } else { "" };
        Self {
            vin,
            power: field(0),
            report_type: integer(field(1)),
            temperature: Some(field(3)).filter(|text| text.contains('.')).unwrap_or_default(),
            battery: field(4),
        }
    }

    fn apply(self, report: &mut Report) {
        let millivolts = integer(self.power).filter(|millivolts| *millivolts > 10);
        report.set_some(
            "power",
            millivolts.map(|millivolts| crate::notation::number::real(millivolts) / 1000.0),
        );
        report.set_some("temp1", real(self.temperature));
        report.set_some("batteryLevel", integer(self.battery));
    }
}

fn read_rest(report: &mut Report, sentence: &Sentence<'_>, at: usize, report_type: Option<i64>) {
    let field = |offset: usize| sentence.get(at + offset);
    let left = sentence.end.saturating_sub(at);
    let short = |text: &str, most: usize| is_digits(text) && text.len() <= most;
    let flag = |text: &str| matches!(text, "0" | "1");
    let personal = left >= 6
        && short(field(0), 2)
        && (field(1).is_empty() || short(field(1), 5))
        && short(field(2), 3)
        && flag(field(3))
        && (field(4).is_empty() || flag(field(4)));
    if personal {
        // Quality of the signal, battery, mode, motion, temperature.
        report.set_some("battery", real(field(1)).map(|millivolts| millivolts / 1000.0));
        report.set_some("batteryLevel", integer(field(2)));
        report.set_some("temp1", real(field(5)));
        return;
    }
    let is_odometer = |text: &str| text.is_empty() || (text.contains('.') && real(text).is_some());
    let is_hours = |text: &str| text.is_empty() || (text.contains(':') && read_hours(text).is_some());
    if left >= 9 && is_odometer(field(0)) && is_hours(field(1)) {
        return read_vehicle(report, sentence, at);
    }
    let signal = field(0).strip_prefix('-').unwrap_or(field(0));
    if left >= 2 && short(signal, 1) && short(field(1), 3) {
        if let Some(report_type) = report_type {
            report.set("motion", report_type & 1 == 1);
            report.set("charge", report_type & 2 == 2);
        }
        report.set_some("rssi", integer(field(0)));
        report.set_some("batteryLevel", integer(field(1)));
        return;
    }
    let (odometer, battery) =
        if left >= 2 && is_odometer(field(0)) { (field(0), field(1)) } else { ("", field(0)) };
    set_odometer(report, odometer);
    if short(battery, 3) {
        report.set_some("batteryLevel", integer(battery));
    }
}

/// Odometer, hour meter, two or three analog inputs, battery, state, engine speed, consumption and fuel.
fn read_vehicle(report: &mut Report, sentence: &Sentence<'_>, at: usize) {
    let field = |offset: usize| sentence.get(at + offset);
    let is_state = |text: &str| matches!(text.len(), 2 | 6) && hex(text).is_some();
    let is_percent = |text: &str| text.is_empty() || (is_digits(text) && text.len() <= 3);
    let found = (4..=5)
        .find(|index| is_percent(field(*index)) && is_state(field(index + 1)) && field(index + 1).len() == 6);
    let battery = found
        .or_else(|| (4..=5).find(|index| is_percent(field(*index)) && is_state(field(index + 1))))
        .unwrap_or(4);
    set_odometer(report, field(0));
    report.set_some("hours", read_hours(field(1)));
    for (index, input) in (1..).zip(2..battery) {
        set_analog(report, index, field(input));
    }
    report.set_some("batteryLevel", integer(field(battery)));
    set_state(report, field(battery + 1));
    report.set_some("rpm", integer(field(battery + 2)));
    report.set_some("fuelConsumption", real(field(battery + 3)));
    report.set_some("fuel", integer(field(battery + 4)));
}
