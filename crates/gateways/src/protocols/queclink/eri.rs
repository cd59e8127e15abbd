//! Expanded fixed reports: positions, then measurements of the model, then accessories by a mask.

use crate::notation::fields::{hex, integer, real};
use crate::notation::number::signed;
use crate::report::Report;

use super::sentence::{Sentence, read_hours, set_analog, set_odometer, set_state};

/// A cursor over the fields.
struct Walk<'s, 'a> {
    sentence: &'s Sentence<'a>,
    at: usize,
}

impl<'a> Walk<'_, 'a> {
    fn take(&mut self) -> &'a str {
        let field = self.sentence.get(self.at);
        self.at += 1;
        field
    }
}

/// Reads all positions; later fields belong to the last one.
pub(super) fn read_eri(sentence: &Sentence<'_>) -> Vec<Report> {
    let model = sentence.model.as_str();
    // GV500 has the VIN of the vehicle before the name of the device.
    let vin = if model == "GV500" { sentence.get(3) } else { "" };
    let mut walk = Walk { sentence, at: if model == "GV500" { 5 } else { 4 } };
    let mask = hex(walk.take()).unwrap_or(0);
    let power = real(walk.take()).map(|millivolts| millivolts / 1000.0);
    walk.at += 1;
    let count = integer(walk.take()).unwrap_or(1).clamp(1, 15);
    let mut reports = Vec::new();
    for _ in 0..count {
        let mut report = sentence.report();
        report.set_text("vin", vin);
        if sentence.get(walk.at).is_empty() {
            report.set("hdop", 0.0);
        }
        walk.at = sentence.read_position(&mut report, walk.at);
        if model.starts_with("GL5") {
            walk.at += 2;
        }
        if model != "GL320M" {
            walk.at = sentence.read_appended(&mut report, walk.at);
        }
        reports.push(report);
    }
    if let Some(last) = reports.last_mut() {
        last.set_some("power", power);
        read_measures(last, &mut walk, model, mask);
        read_accessories(last, &mut walk, model, mask);
    }
    reports
}

fn read_measures(report: &mut Report, walk: &mut Walk<'_, '_>, model: &str, mask: u64) {
    let personal = model.starts_with("GL5");
    if personal {
        report.set_some("batteryLevel", integer(walk.take()));
        walk.at += 1;
        report.set_some("motion", integer(walk.take()).map(|motion| motion > 0));
        return;
    }
    if model == "GL320M" {
        set_odometer(report, walk.take());
        report.set_some("batteryLevel", integer(walk.take()));
        if mask & 0x80 != 0 {
            report.set_some("externalBattery", integer(walk.take()));
        }
        return;
    }
    set_odometer(report, walk.take());
    report.set_some("hours", read_hours(walk.take()));
    set_analog(report, 1, walk.take());
    if model.starts_with("GV") && !model.starts_with("GV6") && model != "GV350M" {
        set_analog(report, 2, walk.take());
    }
    if matches!(model, "GV200" | "GV310LAU" | "GV350CEU") {
        set_analog(report, 3, walk.take());
    } else if (model.starts_with("GV3") && model.ends_with("CEU")) || model.starts_with("GV600M") {
        walk.at += 1;
    }
    if model == "GV200" {
        report.set_some("input", hex(walk.take()));
        report.set_some("output", hex(walk.take()));
    } else {
        report.set_some("batteryLevel", integer(walk.take()));
        set_state(report, walk.take());
    }
    // The device on the serial port.
    walk.at += 1;
}

fn read_accessories(report: &mut Report, walk: &mut Walk<'_, '_>, model: &str, mask: u64) {
    let gv350m = model == "GV350M";
    let personal = model == "GL320M";
    if mask & 1 != 0 && !gv350m {
        report.set_some("fuel", hex(walk.take()));
    }
    if mask >> 29 & 1 == 1 {
        // A fuel sensor with its own mask: level, then height.
        walk.at += 2;
        let measured = hex(walk.take()).unwrap_or(0);
        if measured & 1 != 0 {
            report.set_some("fuel", hex(walk.take()));
        }
        if measured & 2 != 0 {
            walk.at += 1;
        }
    }
    if mask & 2 != 0 {
        for index in 1..=devices(walk.take()) {
            walk.at += 2;
            let degrees =
                hex(walk.take()).map(|raw| crate::notation::number::real(signed(raw & 0xffff, 16)) * 0.0625);
            report.set_some(("temp", index), degrees);
        }
    }
    if mask & 4 != 0 {
        // Data of the vehicle bus have a length that depends on their own masks.
        return;
    }
    if mask & 0x18 != 0 || (mask & 1 != 0 && gv350m) {
        for _ in 0..devices(walk.take()) {
            walk.at += 1;
            if gv350m {
                walk.at += 1;
                if mask & 1 != 0 {
                    report.set_some("fuel", hex(walk.take()));
                }
            }
            if mask & 8 != 0 {
                report.set_some("fuel", real(walk.take()));
            }
            // Volume, then the fuel's temperature.
            walk.at += usize::from(mask & 0x10 != 0) + usize::from(mask & 0x400 != 0);
        }
    }
    if mask & 0x80 != 0 && !personal {
        for _ in 0..devices(walk.take()) {
            walk.at += 1;
            let humid = walk.take() == "2";
            walk.at += if humid { 2 } else { 1 };
        }
    }
    if mask & 0x100 != 0 && !personal {
        for index in 1..=devices(walk.take()) {
            read_tag(report, walk, index, model.starts_with("GV600M"));
        }
    }
}

/// The number of devices that follow; 0 if the field is not a number.
fn devices(text: &str) -> u32 {
    integer(text).and_then(|count| u32::try_from(count).ok()).unwrap_or(0).min(32)
}

/// A Bluetooth accessory: fields by its mask.
fn read_tag(report: &mut Report, walk: &mut Walk<'_, '_>, index: u32, counted: bool) {
    // Index, type, model, length of the raw data if it is sent, raw data.
    walk.at += if counted { 5 } else { 4 };
    let mask = hex(walk.take()).unwrap_or(0);
    for bit in 0..15_u32 {
        if mask >> bit & 1 == 0 || bit == 6 {
            continue;
        }
        let field = walk.take();
        match bit {
            0 => report.set_text(("tag", index, "Name"), field),
            1 => report.set_text(("tag", index, "Id"), field),
            4 => report.set_some(("tag", index, "Temp"), real(field)),
            5 => report.set_some(("tag", index, "Humidity"), integer(field)),
            13 => report.set_some(("tag", index, "Battery"), integer(field)),
            _ => {}
        }
    }
}
