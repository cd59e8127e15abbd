//! Reports of the vehicle's bus and diagnostics.

use crate::notation::fields::{hex, integer, real};
use crate::notation::number::whole;
use crate::report::Report;

use super::sentence::Sentence;

/// A type of field that a mask announces.
#[derive(Clone, Copy, Debug)]
enum Field {
    Skip,
    Text(&'static str),
    Integer(&'static str),
    Real(&'static str),
    Hex(&'static str),
    /// A letter or more, then the number: `H149381`, `P94.80`.
    Unit(&'static str),
    UnitInteger(&'static str),
    /// Litres with or without `L`. Kilograms of gas, which begin with `K`, are ignored.
    Litres(&'static str),
    Ignition,
    Consumption,
    Range,
    Hours,
    Millivolts,
}

/// Fields of the first mask in the order in which they are sent, which differs slightly from that of the bits.
const FIRST: [(u32, Field); 22] = [
    (0, Field::Text("vin")),
    (1, Field::Ignition),
    (2, Field::UnitInteger("obdOdometer")),
    (3, Field::Litres("fuelUsed")),
    (5, Field::Integer("rpm")),
    (4, Field::Integer("obdSpeed")),
    (6, Field::Integer("coolantTemp")),
    (7, Field::Consumption),
    (8, Field::Unit("fuel")),
    (9, Field::Range),
    (10, Field::Integer("throttle")),
    (11, Field::Hours),
    (12, Field::Real("drivingTime")),
    (13, Field::Real("idleHours")),
    (14, Field::Litres("idleFuelConsumption")),
    (15, Field::Integer("axleWeight")),
    (16, Field::Hex("tachographInfo")),
    (17, Field::Hex("indicators")),
    (18, Field::Hex("lights")),
    (19, Field::Hex("doors")),
    (20, Field::Real("vehicleOverspeed")),
    (21, Field::Real("engineOverspeed")),
];

/// Fields of the second mask.
const SECOND: [(u32, Field); 20] = [
    (0, Field::Unit("adBlueLevel")),
    (1, Field::Integer("axleWeight1")),
    (2, Field::Integer("axleWeight3")),
    (3, Field::Integer("axleWeight4")),
    (4, Field::Skip),
    (5, Field::Skip),
    (6, Field::Skip),
    (7, Field::Millivolts),
    (8, Field::Skip),
    (9, Field::Skip),
    (10, Field::Skip),
    (11, Field::Skip),
    (12, Field::Skip),
    (13, Field::Skip),
    (14, Field::Skip),
    (15, Field::Text("driver1Card")),
    (16, Field::Text("driver2Card")),
    (17, Field::Text("driver1Name")),
    (18, Field::Text("driver2Name")),
    (19, Field::Text("registration")),
];

/// Reads a report of the vehicle's bus.
pub(super) fn read_can(sentence: &Sentence<'_>) -> Report {
    let mut report = sentence.report();
    let mask = hex(sentence.get(6)).unwrap_or(0);
    let mut at = read_masked(&mut report, sentence, 7, mask, &FIRST);
    // Counters of some models precede the second mask.
    let counters = match sentence.model.as_str() {
        "GV350M" => 22..25,
        "GV350CEU" | "GV355CEU" => 22..29,
        _ => 22..22,
    };
    at += counters.filter(|bit| mask >> bit & 1 == 1).count();
    if mask >> 29 & 1 == 1 {
        let second = hex(sentence.get(at)).unwrap_or(0);
        read_masked(&mut report, sentence, at + 1, second, &SECOND);
    }
    if let Some(position) = sentence.find_position(7) {
        sentence.read_position(&mut report, position);
        report.values.retain(|(name, _)| *name != crate::Name::Fixed("hdop"));
    }
    report
}

fn read_masked(
    report: &mut Report,
    sentence: &Sentence<'_>,
    from: usize,
    mask: u64,
    fields: &[(u32, Field)],
) -> usize {
    let mut at = from;
    for (bit, field) in fields {
        if mask >> bit & 1 == 0 {
            continue;
        }
        let text = sentence.get(at);
        at += 1;
        let after_letters = text.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '/');
        match field {
            Field::Text(name) => report.set_text(*name, text),
            Field::Integer(name) => report.set_some(*name, integer(text)),
            Field::Real(name) => report.set_some(*name, real(text)),
            Field::Hex(name) => report.set_some(*name, hex(text)),
            Field::Unit(name) => report.set_some(*name, real(after_letters)),
            Field::UnitInteger(name) => report.set_some(*name, integer(after_letters)),
            Field::Litres(name) => {
                report.set_some(*name, real(text.strip_prefix('L').unwrap_or(text)));
            }
            Field::Ignition => report.set_some("ignition", integer(text).map(|state| state > 0)),
            Field::Consumption if text.starts_with("L/H") => {
                report.set_some("fuelConsumption", real(after_letters));
            }
            Field::Skip | Field::Consumption => {}
            Field::Range => {
                let metres = integer(text).map(|hundreds| hundreds.saturating_mul(100));
                report.set_some("range", metres);
            }
            Field::Hours => report.set_some("hours", real(text).map(|hours| whole(hours * 3_600_000.0))),
            Field::Millivolts => report.set_some("adc1", real(text).map(|millivolts| millivolts / 1000.0)),
        }
    }
    at
}

/// Reads diagnostics of the engine.
pub(super) fn read_obd(sentence: &Sentence<'_>) -> Report {
    let mut report = sentence.report();
    report.set_text("vin", sentence.get(3));
    report.set_some("power", real(sentence.get(9)).map(|millivolts| millivolts / 1000.0));
    report.set_some("rpm", integer(sentence.get(11)));
    report.set_some("obdSpeed", integer(sentence.get(12)));
    report.set_some("temp1", integer(sentence.get(13)));
    report.set_text("fuelConsumption", sentence.get(14));
    report.set_some("dtcsClearedDistance", integer(sentence.get(15)));
    report.set_some("odbConnect", integer(sentence.get(17)).map(|connected| connected == 1));
    report.set_some("dtcsNumber", integer(sentence.get(18)));
    report.set_text("dtcsCodes", sentence.get(19));
    report.set_some("throttle", integer(sentence.get(20)));
    report.set_some("fuel", integer(sentence.get(22)));
    if let Some(position) = sentence.find_position(20) {
        let kilometres = integer(sentence.get(position - 1)).filter(|_| position > 23);
        report.set_some("obdOdometer", kilometres.map(|kilometres| kilometres.saturating_mul(1000)));
        let after = sentence.read_position(&mut report, position);
        let kilometres = real(sentence.get(after + 1));
        report.set_some("obdOdometer", kilometres.map(|kilometres| whole(kilometres * 1000.0)));
    }
    report
}
