//! Messages about the device itself: its state (`INF`) and its versions (`VER`).

use crate::notation::fields::{hex, integer, real};
use crate::report::Report;
use crate::value::Value;

use super::sentence::{Sentence, is_mac, is_vin};

/// State, SIM card, signal and voltages. None for units whose messages have a different format.
pub(super) fn read_information(sentence: &Sentence<'_>) -> Vec<Report> {
    if sentence.version.is_empty() {
        return Vec::new();
    }
    let mut report = sentence.report();
    // GV500 and similar models have the VIN of the vehicle before the name of the device.
    let vin = Some(sentence.get(3)).filter(|text| is_vin(text) && sentence.get(4).is_empty());
    report.set_text("vin", vin.unwrap_or_default());
    let shift = usize::from(vin.is_some());
    let field = |index: usize| sentence.get(index + shift);
    match hex(field(4)) {
        Some(0x12 | 0x16 | 0x1a) => set_motion(&mut report, Some(false), true),
        Some(0x11) => set_motion(&mut report, Some(false), false),
        Some(0x21) => set_motion(&mut report, Some(true), false),
        Some(0x22) => set_motion(&mut report, Some(true), true),
        Some(0x41) => set_motion(&mut report, None, false),
        Some(0x42) => set_motion(&mut report, None, true),
        _ => {}
    }
    report.set_text("iccid", field(5));
    report.set_some("rssi", integer(field(6)));
    let volts = |text: &str| real(text).map(|millivolts| millivolts / 1000.0);
    // A Bluetooth sensor: its address, temperature and humidity precede the voltages.
    let has_sensor = is_mac(field(9));
    if has_sensor {
        report.set_some("deviceTemp", real(field(10)));
        report.set_some("humidity", real(field(11)));
    }
    let supply = if has_sensor { 12 } else { 9 };
    // Personal trackers have their odometer at the position of the voltage of vehicle trackers.
    if field(supply).contains('.') {
        super::sentence::set_odometer(&mut report, field(supply));
    } else {
        report.set_some("power", volts(field(supply)));
    }
    let model = sentence.model.as_str();
    let battery = if model == "GV500VC" { supply + 1 } else { supply + 2 };
    if !matches!(model, "GV500VC" | "GV350M" | "GV310LAU") {
        report.set_some("power2", volts(field(supply + 1)));
    }
    report.set_some("battery", real(field(battery)));
    report.set_some(
        "charge",
        match field(battery + 1) {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        },
    );
    if model == "GV310LAU" {
        for (index, at) in (1..=3).zip(18..) {
            report.set_some(("adc", index), integer(field(at)));
        }
    }
    vec![report]
}

fn set_motion(report: &mut Report, ignition: Option<bool>, motion: bool) {
    report.set_some("ignition", ignition);
    report.set("motion", motion);
}

/// Type of the device and versions.
pub(super) fn read_version(sentence: &Sentence<'_>) -> Report {
    let mut report = sentence.report();
    report.set("deviceType", Value::text(sentence.get(4)));
    report.set_some("versionFw", hex(sentence.get(5)));
    report.set_some("versionHw", hex(sentence.get(6)));
    report
}
