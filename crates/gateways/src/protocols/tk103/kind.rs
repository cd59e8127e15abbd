//! The meaning of the type of a TK103 sentence.

use crate::alarm::{AlarmTable, Notation, text};
use crate::report::Report;

/// Types of sentences.
pub(super) const KIND: AlarmTable = AlarmTable {
    field: "kind of sentence",
    notation: Notation::Text,
    codes: &[
        text("ZC11", "movement"),
        text("DW31", "movement"),
        text("DW51", "movement"),
        text("ZC12", "lowBattery"),
        text("DW32", "lowBattery"),
        text("DW52", "lowBattery"),
        text("ZC13", "powerCut"),
        text("DW33", "powerCut"),
        text("DW53", "powerCut"),
        text("ZC17", "removing"),
        text("DW37", "removing"),
        text("DW57", "removing"),
        text("ZC25", "sos"),
        text("DW3E", "sos"),
        text("DW5E", "sos"),
        text("ZC26", "tampering"),
        text("DW3F", "tampering"),
        text("DW5F", "tampering"),
        text("ZC27", "lowPower"),
        text("DW40", "lowPower"),
        text("DW60", "lowPower"),
    ],
};

/// The digit of an alarm (`BO01`).
pub(super) const ALARM: AlarmTable = AlarmTable {
    field: "first digit of `BO01`",
    notation: Notation::Text,
    codes: &[
        text("0", "powerCut"),
        text("1", "accident"),
        text("2", "sos"),
        text("3", "vibration"),
        text("4", "lowspeed"),
        text("5", "overspeed"),
        text("6", "geofenceExit"),
    ],
};

/// The number of an alarm with its own list (`BQ81`).
pub(super) const LISTED: AlarmTable = AlarmTable {
    field: "number of `BQ81`",
    notation: Notation::Text,
    codes: &[
        text("0", "lowBattery"),
        text("1", "overspeed"),
        text("2", "idle"),
        text("3", "hardAcceleration"),
        text("4", "hardBraking"),
        text("5", "temperature"),
    ],
};

/// Sets the alarm or the ignition that a type stands for. `detail` is the digits after some types.
pub(super) fn set_kind(report: &mut Report, kind: &str, detail: &str) {
    let word = match kind {
        "BQ81" => LISTED.word_of(detail),
        "BO01" => detail.get(..1).and_then(|digit| ALARM.word_of(digit)),
        "ZC15" | "DW35" | "DW55" | "ZC29" | "DW42" | "DW62" => return report.set("ignition", true),
        "ZC16" | "DW36" | "DW56" => return report.set("ignition", false),
        _ => KIND.word_of(kind),
    };
    report.alarm_some(word);
}
