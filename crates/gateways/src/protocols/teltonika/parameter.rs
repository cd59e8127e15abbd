//! The meaning of the numbered elements of a record.

use crate::decoded::Context;
use crate::notation::number::{real, signed};
use crate::report::{CellTower, Report};
use crate::value::{Name, Value};

use super::alarm::{BUTTON, ELEMENTS, FMB, GEOFENCE, GREEN_DRIVING};

/// Families of models whose elements have different meanings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// No model is set: only elements that all models share.
    Unknown,
    /// FMB, FMC, FMM and later, and MTB100, MSP500.
    Fmb,
    /// FMB003, which reads the odometer of the car.
    Fmb003,
    /// The FMB6 series and its like.
    Fmb6,
    /// TAT100: cells in elements of their own.
    Tat100,
    /// Personal trackers with a button: TMT250, GH5200.
    Button,
}

impl Family {
    /// The family of a device's model.
    pub(super) fn of(context: &Context<'_>) -> Self {
        let Some(model) = context.model.map(str::to_ascii_uppercase) else { return Self::Unknown };
        match model.as_bytes() {
            b"FMB003" => Self::Fmb003,
            [b'F', b'M', _, b'6', _, _] => Self::Fmb6,
            [b'F', b'M', b'B'..=b'Z', _, _, _] | b"MTB100" | b"MSP500" => Self::Fmb,
            b"TAT100" => Self::Tat100,
            _ if is_listed(BUTTON, &model) => Self::Button,
            _ => Self::Unknown,
        }
    }

    /// The models of the family in the table of alarms.
    const fn alarm_models(self) -> &'static str {
        match self {
            Self::Unknown | Self::Tat100 => "",
            Self::Fmb | Self::Fmb003 | Self::Fmb6 => FMB,
            Self::Button => BUTTON,
        }
    }
}

/// Whether a list of models, separated by commas, has this one.
fn is_listed(models: &str, model: &str) -> bool {
    models.split(',').any(|listed| listed.trim() == model)
}

/// The conversion of an element to a reading.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Input(u32),
    Output(u32),
    Flag(&'static str),
    Count(&'static str),
    Signed(&'static str),
    /// A number that is divided by this value.
    Part(&'static str, f64),
    SignedPart(&'static str, f64),
    /// A number that is multiplied by this value.
    Times(&'static str, i64),
    Text(&'static str),
    Alarm,
    Speed,
    Driver,
    GreenDriving,
    Geofence,
}

/// Elements of all models.
const fn common(identifier: u16) -> Option<Meaning> {
    use Meaning::{Alarm, Count, Driver, Flag, GreenDriving, Input, Output, Part, Signed, SignedPart};
    Some(match identifier {
        1 => Input(1),
        2 => Input(2),
        3 => Input(3),
        4 => Input(4),
        16 => Count("odometer"),
        17 => Signed("axisX"),
        18 => Signed("axisY"),
        19 => Signed("axisZ"),
        21 => Count("rssi"),
        25 => SignedPart("bleTemp1", 100.0),
        26 => SignedPart("bleTemp2", 100.0),
        27 => SignedPart("bleTemp3", 100.0),
        28 => SignedPart("bleTemp4", 100.0),
        66 => Part("power", 1000.0),
        67 => Part("battery", 1000.0),
        78 => Driver,
        179 => Output(1),
        180 => Output(2),
        181 => Part("pdop", 10.0),
        182 => Part("hdop", 10.0),
        199 => Count("tripOdometer"),
        236 => Alarm,
        239 => Flag("ignition"),
        240 => Flag("motion"),
        241 => Count("operator"),
        253 => GreenDriving,
        _ => return None,
    })
}

/// Elements of FMB and later models.
const fn fmb(identifier: u16) -> Option<Meaning> {
    use Meaning::{Alarm, Count, Flag, Geofence, Part, Signed, SignedPart, Speed, Text};
    Some(match identifier {
        9 => Part("adc1", 1000.0),
        10 => Part("adc2", 1000.0),
        11 => Text("iccid"),
        12 => Part("fuelUsed", 1000.0),
        13 => Part("fuelConsumption", 100.0),
        24 => Speed,
        30 => Count("faultCount"),
        31 => Count("engineLoad"),
        32 => Signed("coolantTemp"),
        36 => Count("rpm"),
        43 => Count("milDistance"),
        57 => Signed("hybridBatteryLevel"),
        68 => Part("batteryCurrent", 1000.0),
        72 => SignedPart("temp1", 10.0),
        73 => SignedPart("temp2", 10.0),
        74 => SignedPart("temp3", 10.0),
        75 => SignedPart("temp4", 10.0),
        107 => Part("fuelUsed", 10.0),
        110 => Part("fuelConsumption", 10.0),
        113 => Count("batteryLevel"),
        115 => SignedPart("engineTemp", 10.0),
        175 => Geofence,
        200 => Count("sleepMode"),
        205 => Count("cid2g"),
        206 => Count("lac"),
        232 => Flag("cngStatus"),
        233 => Part("cngUsed", 10.0),
        234 => Count("cngLevel"),
        235 => Count("oilLevel"),
        246 | 247 | 249 | 251 | 252 => Alarm,
        636 => Count("cid4g"),
        662 => Flag("door"),
        10644 => SignedPart("tempProbe1", 100.0),
        10645 => SignedPart("tempProbe2", 100.0),
        10646 => SignedPart("tempProbe3", 100.0),
        10647 => SignedPart("tempProbe4", 100.0),
        10648 => SignedPart("tempProbe5", 100.0),
        10649 => SignedPart("tempProbe6", 100.0),
        10800 => SignedPart("eyeTemp1", 100.0),
        10801 => SignedPart("eyeTemp2", 100.0),
        10802 => SignedPart("eyeTemp3", 100.0),
        10803 => SignedPart("eyeTemp4", 100.0),
        10832 => Signed("eyeRoll1"),
        10833 => Signed("eyeRoll2"),
        10834 => Signed("eyeRoll3"),
        10835 => Signed("eyeRoll4"),
        _ => return None,
    })
}

/// Elements of the vehicle bus adapter, which the FMB6 series numbers differently.
const fn bus(identifier: u16) -> Option<Meaning> {
    use Meaning::{Count, Part};
    Some(match identifier {
        80 => Count("dataMode"),
        81 => Count("obdSpeed"),
        82 => Count("throttle"),
        83 => Part("fuelUsed", 10.0),
        84 => Part("fuel", 10.0),
        85 => Count("rpm"),
        87 => Count("obdOdometer"),
        89 => Count("fuelLevel"),
        _ => return None,
    })
}

/// Elements of personal trackers.
const fn button(identifier: u16) -> Option<Meaning> {
    use Meaning::{Alarm, Count, Flag};
    Some(match identifier {
        113 => Count("batteryLevel"),
        116 => Flag("charge"),
        242 => Alarm,
        _ => return None,
    })
}

const fn fmb6(identifier: u16) -> Option<Meaning> {
    use Meaning::SignedPart;
    Some(match identifier {
        701 => SignedPart("bleTemp1", 100.0),
        702 => SignedPart("bleTemp2", 100.0),
        703 => SignedPart("bleTemp3", 100.0),
        704 => SignedPart("bleTemp4", 100.0),
        _ => return None,
    })
}

fn meaning(identifier: u16, family: Family) -> Option<Meaning> {
    let own = match family {
        Family::Unknown | Family::Tat100 => None,
        Family::Button => button(identifier),
        Family::Fmb003 if identifier == 389 => Some(Meaning::Times("obdOdometer", 1000)),
        Family::Fmb | Family::Fmb003 => fmb(identifier).or_else(|| bus(identifier)),
        Family::Fmb6 => fmb6(identifier).or_else(|| fmb(identifier)),
    };
    own.or_else(|| common(identifier))
}

/// Adds an element of one, two, four or eight bytes.
pub(super) fn set_parameter(report: &mut Report, identifier: u16, raw: u64, width: usize, family: Family) {
    let bits = u32::try_from(width * 8).unwrap_or(64);
    let with_sign = signed(raw, bits);
    // Eight bytes are read as signed, because no element uses their full range.
    let number = if width == 8 { with_sign } else { i64::try_from(raw).unwrap_or(i64::MAX) };
    let Some(meaning) = meaning(identifier, family) else {
        report.set(("io", identifier.into()), number);
        return;
    };
    match meaning {
        Meaning::Input(pin) => report.input(pin, raw > 0),
        Meaning::Output(pin) => report.output(pin, raw > 0),
        Meaning::Flag(name) => report.set(name, raw > 0),
        Meaning::Count(name) => report.set(name, number),
        Meaning::Signed(name) => report.set(name, with_sign),
        Meaning::Part(name, part) => report.set(name, real(number) / part),
        Meaning::SignedPart(name, part) => report.set(name, real(with_sign) / part),
        Meaning::Times(name, times) => report.set(name, number.saturating_mul(times)),
        Meaning::Text(name) => report.set(name, number.to_string()),
        Meaning::Alarm => {
            let word = ELEMENTS.word_on(identifier.into(), family.alarm_models());
            report.alarm_some(word.filter(|_| raw > 0));
        }
        Meaning::Speed => report.speed_kmh = Some(real(number)),
        Meaning::Driver if raw != 0 => report.set("driverUniqueId", format!("{:016X}", raw.swap_bytes())),
        Meaning::Driver => {}
        Meaning::GreenDriving => {
            report.alarm_some(u32::try_from(raw).ok().and_then(|code| GREEN_DRIVING.word(code)));
        }
        Meaning::Geofence => report.alarm_some(GEOFENCE.word_of(if raw > 0 { "not 0" } else { "0" })),
    }
}

/// Adds readings that follow from several elements together.
pub(super) fn finish(report: &mut Report, family: Family) {
    match family {
        Family::Unknown | Family::Button => {}
        Family::Tat100 => {
            for (network, first) in [(1200, 287), (1201, 290), (1202, 293), (1203, 296)] {
                add_listed_cell(report, network, first);
            }
        }
        Family::Fmb | Family::Fmb003 | Family::Fmb6 => add_serving_cell(report),
    }
    if family == Family::Fmb6
        && let (Some(Value::Integer(high)), Some(Value::Integer(low))) =
            (report.get("io195"), report.get("io196"))
    {
        let bytes = [high.to_be_bytes(), low.to_be_bytes()].concat();
        report.set("driverUniqueId", String::from_utf8_lossy(&bytes).into_owned());
    }
}

/// A cell whose area, number and signal are three consecutive elements; its country is not sent.
fn add_listed_cell(report: &mut Report, network: u32, first: u32) {
    let number = |report: &Report, identifier: u32| find_number(report, &Name::from(("io", identifier)));
    let (mnc, lac, cell) = (number(report, network), number(report, first), number(report, first + 1));
    let (Some(mnc), Some(lac), Some(cell)) = (mnc, lac, cell) else { return };
    let signal = number(report, first + 2).and_then(|signal| i32::try_from(signal).ok());
    push_cell(report, 0, mnc, lac, cell, signal);
    let taken = [network, first, first + 1, first + 2].map(|identifier| Name::from(("io", identifier)));
    report.values.retain(|(name, _)| !taken.contains(name));
}

/// The serving cell, with country and network from the operator's number.
fn add_serving_cell(report: &mut Report) {
    let number = |name: &'static str| find_number(report, &Name::from(name));
    let (Some(lac), Some(cell)) = (number("lac"), number("cid2g").or_else(|| number("cid4g"))) else {
        return;
    };
    let operator = number("operator").filter(|operator| *operator >= 1000).unwrap_or(0);
    push_cell(report, operator / 100, operator % 100, lac, cell, None);
    let taken = ["lac", "cid2g", "cid4g"].map(Name::from);
    report.values.retain(|(name, _)| !taken.contains(name));
}

fn find_number(report: &Report, wanted: &Name) -> Option<i64> {
    report.values.iter().find_map(|(name, value)| match value {
        Value::Integer(number) if name == wanted => Some(*number),
        _ => None,
    })
}

fn push_cell(report: &mut Report, mcc: i64, mnc: i64, lac: i64, cell: i64, signal: Option<i32>) {
    if let (Ok(mcc), Ok(mnc), Ok(lac), Ok(cell)) =
        (u16::try_from(mcc), u16::try_from(mnc), u32::try_from(lac), u64::try_from(cell))
    {
        report.cells.push(CellTower { mcc, mnc, lac, cell, signal });
    }
}
