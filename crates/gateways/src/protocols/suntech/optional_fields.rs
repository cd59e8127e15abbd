//! The optional fields at the end of classic lines, which a unit must be configured to send: hour meter, backup
//! battery, and more.

use crate::decoded::Options;
use crate::notation::fields::{Fields, integer};
use crate::report::{CellTower, Report};

/// Reads the optional fields. A line does not show which it has; the options of the device do: `hbm` (hour meter,
/// battery and message type; 2: also a cell tower), `adc`, `rpm` and `temperature`.
pub(super) fn set_tail(report: &mut Report, fields: &mut Fields<'_>, options: &Options) {
    report.set_some("hours", integer(fields.take()).map(|minutes| minutes.saturating_mul(60_000)));
    report.set_some("battery", fields.real());
    // The message type: 0 means that the unit stored the message and sent it later.
    if fields.take() == "0" {
        report.set("archive", true);
    }
    if options.integer("hbm") == Some(2) {
        let (cell, mcc, mnc) = (fields.number(), fields.number(), fields.number());
        let (signal, lac) = (fields.number(), fields.number());
        fields.skip(1);
        if let (Some(cell), Some(mcc), Some(mnc), Some(lac)) = (cell, mcc, mnc, lac) {
            report.cells.push(CellTower { mcc, mnc, lac, cell, signal });
        }
    }
    if options.flag("adc") {
        for number in 1..=3 {
            report.set_some(("adc", number), fields.real());
        }
    }
    if options.flag("rpm") {
        report.set_some("rpm", integer(fields.take()));
    }
    // Some models leave a field empty here.
    while fields.remaining() > 0 && fields.peek(0).is_empty() {
        fields.skip(1);
    }
    if fields.remaining() >= 2 && !fields.peek(0).contains(':') {
        report.set_text("driverUniqueId", fields.take());
        // Whether the driver is registered.
        fields.skip(1);
    }
    if options.flag("temperature") {
        // `serial number:degrees`, with nothing on either side of the colon if there is no sensor.
        let mut number = 1;
        while fields.remaining() > 0 {
            if let Some((_, degrees)) = fields.take().split_once(':') {
                report.set_some(("temp", number), crate::notation::fields::real(degrees));
                number += 1;
            }
        }
    }
}
