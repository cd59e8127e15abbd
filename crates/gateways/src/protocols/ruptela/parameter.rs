//! Parameters of Ruptela records by their number.

use crate::alarm::{AlarmTable, Notation, number as code};
use crate::notation::number::{real, signed};
use crate::notation::reader::{Reader, hex_digits};
use crate::report::Report;
use crate::value::{Name, Value};

/// Parameters that are alarms.
pub(super) const PARAMETER: AlarmTable = AlarmTable {
    field: "parameter that is not 0; 415: that is 0; 758: that is 1",
    notation: Notation::Decimal,
    codes: &[
        code(88, "jamming"),
        code(134, "hardBraking"),
        code(136, "hardAcceleration"),
        code(410, "tow"),
        code(411, "accident"),
        code(415, "gpsAntennaCut"),
        code(758, "tampering"),
    ],
};

/// Sets a parameter of one, two, four or eight bytes. A parameter without a known meaning is stored as `io` and its
/// number.
pub(super) fn set_parameter(report: &mut Report, id: u16, bytes: &[u8]) {
    let Ok(raw) = Reader::new(bytes).uint(bytes.len()) else { return };
    let number = signed(raw, 64);
    let width = match bytes.len() {
        1 => 8,
        2 => 16,
        4 => 32,
        _ => 64,
    };
    let with_sign = signed(raw, width);
    let on = raw > 0;
    let scaled = |scale: f64| Value::Real(real(number) * scale);
    let alarm = |report: &mut Report, raised: bool| {
        report.alarm_some(PARAMETER.word(id.into()).filter(|_| raised));
    };
    let (name, value): (Name, Value) = match id {
        2..=5 => {
            let pin = u32::from(id) - 1;
            report.input(pin, on);
            (("in", pin).into(), number.into())
        }
        13 | 173 => ("motion".into(), on.into()),
        20 => ("adc3".into(), number.into()),
        21 => ("adc4".into(), number.into()),
        22 => ("adc1".into(), number.into()),
        23 => ("adc2".into(), number.into()),
        29 => ("power".into(), scaled(0.001)),
        30 => ("battery".into(), scaled(0.001)),
        32 => ("deviceTemp".into(), with_sign.into()),
        34 => ("driverUniqueId".into(), hex_digits(bytes).into()),
        39 => ("engineLoad".into(), number.into()),
        65 => ("odometer".into(), number.into()),
        74 => ("temp3".into(), Value::Real(real(with_sign) * 0.1)),
        78..=80 => (("temp", u32::from(id) - 78).into(), Value::Real(real(with_sign) * 0.1)),
        88 | 134 | 136 | 410 | 411 => return alarm(report, on),
        94 => ("rpm".into(), scaled(0.25)),
        95 => ("obdSpeed".into(), number.into()),
        98 => ("fuel".into(), Value::Real(real(number) * 100.0 / 255.0)),
        100 => ("fuelConsumption".into(), Value::Real(real(number) / 20.0)),
        150 => ("operator".into(), number.into()),
        163 => ("odometer".into(), number.saturating_mul(5).into()),
        164 => ("tripOdometer".into(), number.saturating_mul(5).into()),
        165 => ("obdSpeed".into(), Value::Real(real(number) / 256.0)),
        166 | 197 => ("rpm".into(), scaled(0.125)),
        170 => ("charge".into(), on.into()),
        205 => ("fuel".into(), number.into()),
        207 => ("fuelLevel".into(), scaled(0.4)),
        208 => ("fuelUsed".into(), scaled(0.5)),
        251 | 409 => ("ignition".into(), on.into()),
        415 => return alarm(report, !on),
        645 => ("obdOdometer".into(), number.saturating_mul(1000).into()),
        758 => return alarm(report, number == 1),
        _ => (("io", u32::from(id)).into(), number.into()),
    };
    report.set(name, value);
}

/// Texts of sixteen characters come as two numbers.
pub(super) fn join_parts(report: &mut Report) {
    for (name, first, second) in
        [("driverUniqueId", 126, 127), ("driverUniqueId", 155, 156), ("tagId", 760, 761)]
    {
        let Some((high, low)) = take(report, first).zip(take(report, second)) else { continue };
        if name == "tagId" {
            report.set(name, format!("{high:x}{low:x}"));
            continue;
        }
        let bytes = [high.to_be_bytes(), low.to_be_bytes()].concat();
        // Without a card all bytes are zero.
        report.set_text(name, String::from_utf8_lossy(&bytes).trim_matches('\0'));
    }
}

/// Removes a number from the values of the report.
fn take(report: &mut Report, id: u32) -> Option<i64> {
    let wanted = Name::Numbered("io", id, "");
    let at = report.values.iter().position(|(name, _)| *name == wanted)?;
    match report.values.remove(at) {
        (_, Value::Integer(number)) => Some(number),
        _ => None,
    }
}
