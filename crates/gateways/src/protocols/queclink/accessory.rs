//! Bluetooth accessories, access points and cells.

use crate::notation::fields::{hex, integer, real};
use crate::report::{CellTower, Report};
use crate::value::Value;

use super::sentence::{Sentence, is_mac, push_wifi};

/// An alarm or a detection of an accessory: fields by a mask, then a position.
pub(super) fn read_accessory(sentence: &Sentence<'_>) -> Report {
    let mut report = sentence.report();
    let mask_at = if sentence.kind == "BAA" { 8 } else { 6 };
    let mask = hex(sentence.get(mask_at)).unwrap_or(0);
    let mut at = mask_at;
    for bit in 0..6_u32 {
        if mask >> bit & 1 == 0 {
            continue;
        }
        at += 1;
        let field = sentence.get(at);
        match bit {
            0 => report.set("accessoryName", Value::text(field)),
            1 => report.set("accessoryMac", Value::text(field)),
            2 => report.set_some("accessoryStatus", integer(field)),
            3 => report.set_some("accessoryVoltage", real(field).map(|millivolts| millivolts / 1000.0)),
            4 => report.set_some("accessoryTemp", integer(field)),
            _ => report.set_some("accessoryHumidity", integer(field)),
        }
    }
    if let Some(position) = sentence.find_position(at + 1) {
        sentence.read_position(&mut report, position);
    }
    report
}

/// Access points, then the battery's level.
pub(super) fn read_wifi(sentence: &Sentence<'_>) -> Report {
    let mut report = sentence.report();
    let mut at = 5;
    while is_mac(sentence.get(at)) {
        push_wifi(&mut report, sentence.get(at), sentence.get(at + 1));
        at += 5;
    }
    report.set_some("batteryLevel", integer(sentence.get(sentence.end.saturating_sub(1))));
    report
}

/// Cells, six fields each.
pub(super) fn read_cells(sentence: &Sentence<'_>, first: usize) -> Report {
    let mut report = sentence.report();
    if sentence.kind == "LBS" {
        report.set_some("batteryLevel", integer(sentence.get(6)));
    }
    for at in (first..sentence.end).step_by(6) {
        let number =
            |index: usize| integer(sentence.get(index)).and_then(|number| u16::try_from(number).ok());
        let lac = hex(sentence.get(at + 2)).and_then(|lac| u32::try_from(lac).ok());
        let (Some(mcc), Some(mnc), Some(lac), Some(cell)) =
            (number(at), number(at + 1), lac, hex(sentence.get(at + 3)))
        else {
            continue;
        };
        let signal = integer(sentence.get(at + 4)).and_then(|signal| i32::try_from(signal).ok());
        report.cells.push(CellTower { mcc, mnc, lac, cell, signal });
    }
    report
}
