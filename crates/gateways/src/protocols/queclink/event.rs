//! Queclink messages that no other file of this folder reads: events with at most one position.

use crate::notation::fields::{hex, integer, is_digits};
use crate::report::Report;
use crate::value::Value;

use super::alarm::{BEHAVIOUR, KIND, WARNING};
use super::sentence::{Sentence, read_hours, set_odometer};

/// An answer to a command.
pub(super) fn read_answer(sentence: &Sentence<'_>) -> Report {
    let mut report = sentence.report();
    report.set("result", Value::text(sentence.header));
    report
}

/// An event with its position, if it has one.
pub(super) fn read_event(sentence: &Sentence<'_>) -> Report {
    let mut report = sentence.report();
    let position = sentence.find_position(3);
    read_own(&mut report, sentence);
    match position.or_else(|| sentence.find_empty_position(4)) {
        Some(start) => {
            if sentence.get(start).is_empty() && is_ignition(sentence.kind) {
                report.set("hdop", 0.0);
            }
            let after_cell = sentence.read_position(&mut report, start);
            let next = sentence.read_appended(&mut report, after_cell);
            read_rest(&mut report, sentence, next);
        }
        None => set_cell_if_present(&mut report, sentence),
    }
    report.alarm_some(KIND.word_of(sentence.kind));
    report
}

fn is_ignition(kind: &str) -> bool {
    matches!(kind, "IGN" | "IGF" | "VGN" | "VGF")
}

/// Sets a cell without a position: four digits, four digits, and two hexadecimal numbers.
fn set_cell_if_present(report: &mut Report, sentence: &Sentence<'_>) {
    let four = |index: usize| is_digits(sentence.get(index)) && sentence.get(index).len() == 4;
    let start = (3..sentence.end).find(|at| four(*at) && four(at + 1) && hex(sentence.get(at + 3)).is_some());
    if let Some(start) = start {
        sentence.read_cell(report, start);
    }
}

/// The fields of an event before its position.
fn read_own(report: &mut Report, sentence: &Sentence<'_>) {
    let code = Some(sentence.get(5)).filter(|text| matches!(text.len(), 1 | 2)).and_then(hex);
    match (sentence.kind, code) {
        ("NMR", Some(code)) => report.set("motion", code == 1),
        ("DIS", Some(code)) => {
            report.input(u32::try_from(code / 16).unwrap_or(0), code % 16 == 1);
        }
        ("IGL", Some(code)) => report.set("ignition", code % 16 == 1),
        ("HBM", Some(code)) => {
            report.alarm_some(u32::try_from(code % 16).ok().and_then(|code| BEHAVIOUR.word(code)));
        }
        ("LSW" | "TSW", _) => {
            report.input(if sentence.kind == "LSW" { 1 } else { 2 }, sentence.get(5) == "1");
        }
        ("IDA", _) => report.set_text("driverUniqueId", sentence.get(5)),
        ("DAT", _) => report.set_text("data", sentence.get(7)),
        ("DTT", _) => read_serial(report, sentence.get(8)),
        ("DAR", _) if sentence.get(4) == "1" => {
            report.alarm_some(WARNING.word(1));
            report.set_some("fatigueDegree", integer(sentence.get(5)));
        }
        ("DAR", _) => report.set_some("warningType", integer(sentence.get(4))),
        (kind, _) if is_ignition(kind) => report.set("ignition", kind.ends_with("GN")),
        _ => {}
    }
}

/// Data of the serial port, in hexadecimal digits: `COMB,0,94.0,...` is a fuel level.
fn read_serial(report: &mut Report, digits: &str) {
    let Some(bytes) = crate::notation::hex::parse_hex(digits).filter(|bytes| !bytes.is_empty()) else {
        return;
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let fuel = text
        .contains("COMB")
        .then(|| text.split(',').nth(2))
        .flatten()
        .and_then(crate::notation::fields::real);
    match fuel {
        Some(fuel) => report.set("fuel", fuel),
        None => report.set("result", text),
    }
}

/// The fields of an event after its position.
fn read_rest(report: &mut Report, sentence: &Sentence<'_>, at: usize) {
    let field = |offset: usize| sentence.get(at + offset);
    match sentence.kind {
        kind if is_ignition(kind) => {
            report.set_some("hours", read_hours(field(0)));
            set_odometer(report, field(1));
        }
        "IDA" => set_odometer(report, field(0)),
        "LSA" => {
            report.set_some("lightLevel", integer(field(1)));
            report.set_some("batteryLevel", integer(field(2)));
            report.set_some("temp1", crate::notation::fields::real(field(5)));
        }
        _ => {
            let last = sentence.get(sentence.end.saturating_sub(1));
            if sentence.end > at && is_digits(last) && last.len() <= 3 {
                report.set_some("batteryLevel", integer(last));
            } else if field(0).contains('.') && sentence.end == at + 1 {
                set_odometer(report, field(0));
            }
        }
    }
}
