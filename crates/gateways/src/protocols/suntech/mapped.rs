//! Lines with a report map: a mask whose bits show which fields follow.

use crate::decoded::{DecodeError, Decoded};
use crate::notation::bits::bit;
use crate::notation::fields::{Fields, integer};
use crate::report::Report;

use super::alarm::alert;
use super::classic::set_serial;
use super::decode::date_and_time;

/// The report map of tags, which do not send one: model, version, date, time, coordinates.
const TAG_MAP: u32 = 0b1_1000_0011_0110;

/// `STT;name;map;…`, `ALT;name;map;…`, `UEX;name;map;…` or `BLE;name;…`.
pub(super) fn read_mapped(mut fields: Fields<'_>) -> Result<Decoded, DecodeError> {
    let kind = fields.take();
    let decoded = Decoded::identified(fields.take());
    if !matches!(kind, "STT" | "ALT" | "UEX" | "BLE") {
        return Ok(Decoded {
            error: Some(DecodeError::Malformed("the type of the message is not supported")),
            ..decoded
        });
    }
    let map = if kind == "BLE" {
        TAG_MAP
    } else {
        let map = fields.hex().and_then(|map| u32::try_from(map).ok());
        map.ok_or(DecodeError::Malformed("the report map is not hexadecimal"))?
    };
    let mut report = Report::default();
    report.set_text("type", kind);
    set_head(&mut report, &mut fields, map);
    if kind == "BLE" {
        report.valid = Some(true);
        set_tags(&mut report, &mut fields);
    } else {
        set_rest(&mut report, &mut fields, map, kind);
    }
    Ok(Decoded { reports: vec![report], ..decoded })
}

/// Bits 1 to 12: model, version, whether live, date, time, cell, signal, coordinates.
fn set_head(report: &mut Report, fields: &mut Fields<'_>, map: u32) {
    let mut next = |index: u32| if bit(map, index) { fields.take() } else { "" };
    next(1);
    report.set_text("versionFw", next(2));
    if next(3) == "0" {
        report.set("archive", true);
    }
    report.time = date_and_time(next(4), next(5));
    let hexadecimal = |text: &str| crate::notation::fields::hex(text).filter(|_| !text.is_empty());
    let (cell, mcc, mnc, lac) =
        (hexadecimal(next(6)), next(7).parse(), next(8).parse(), hexadecimal(next(9)));
    if let (Some(cell), Ok(mcc), Ok(mnc), Some(lac)) = (cell, mcc, mnc, lac)
        && let Ok(lac) = u32::try_from(lac)
    {
        report.cell(mcc, mnc, lac, cell);
    }
    report.set_some("rssi", integer(next(10)));
    let (latitude, longitude) =
        (crate::notation::fields::real(next(11)), crate::notation::fields::real(next(12)));
    if let Some((latitude, longitude)) = latitude.zip(longitude) {
        report.locate(latitude, longitude);
    }
}

/// Bits 13 to 23: motion, satellites, fix, pins, the fields of the message type, readings with their own map.
fn set_rest(report: &mut Report, fields: &mut Fields<'_>, map: u32, kind: &str) {
    let mut next = |index: u32| if bit(map, index) { fields.take() } else { "" };
    report.speed_kmh = crate::notation::fields::real(next(13));
    report.course = crate::notation::fields::real(next(14));
    report.set_some("sat", integer(next(15)));
    if bit(map, 16) {
        report.valid = Some(next(16) == "1");
    }
    let inputs = next(17);
    if !inputs.is_empty() {
        // A digit for each pin, the ignition last.
        report.set_some("input", integer(inputs));
        report.set("ignition", inputs.ends_with('1'));
        for (pin, digit) in (1..).zip(inputs.bytes().rev().skip(1)) {
            report.input(pin, digit == b'1');
        }
    }
    let outputs = next(18);
    report.set_some("output", integer(outputs));
    for (pin, digit) in (1..).zip(outputs.bytes().rev()) {
        report.output(pin, digit == b'1');
    }
    if kind == "UEX" {
        set_serial(report, fields);
    } else if kind == "ALT" {
        let number = integer(next(19));
        report.set_some("alertId", number);
        report.alarm_some(number.and_then(|number| u16::try_from(number).ok()).and_then(alert));
        report.set_text("alertModifier", next(20));
        report.set_text("alertData", next(21));
    } else {
        report.set_some("mode", integer(next(19)));
        report.set_some("reason", integer(next(20)));
        report.set_some("index", integer(next(21)));
    }
    if bit(map, 22) {
        fields.skip(1);
    }
    if bit(map, 23) && kind != "UEX" {
        let assigned = fields.hex().and_then(|map| u32::try_from(map).ok()).unwrap_or(0);
        for index in (0..31).filter(|index| bit(assigned, *index)) {
            report.set_text(("io", index + 1), fields.take());
        }
    }
    for number in 1..=32 {
        if fields.remaining() == 0 {
            break;
        }
        report.set_text(("assign", number), fields.take());
    }
}

/// The tags in range: mean, minimum and maximum signal, name, samples and two numbers.
fn set_tags(report: &mut Report, fields: &mut Fields<'_>) {
    let count = fields.number::<u32>().unwrap_or(0);
    for number in 1..=count {
        if fields.remaining() < 7 {
            break;
        }
        report.set_some(("tag", number, "Rssi"), integer(fields.take()));
        fields.skip(2);
        report.set_text(("tag", number, "Id"), fields.take());
        report.set_some(("tag", number, "Samples"), integer(fields.take()));
        report.set_some(("tag", number, "Major"), integer(fields.take()));
        report.set_some(("tag", number, "Minor"), integer(fields.take()));
    }
}
