//! A report: the decoded content of one record of a frame.

use std::fmt::Write as _;

use perigee_core::locations::location::FixSource;
use perigee_core::time::Timestamp;

use crate::pins::Pins;
use crate::value::{Name, Value};

/// Degrees north and east as they were sent, not yet checked for their range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Degrees north (WGS 84).
    pub latitude: f64,
    /// Degrees east (WGS 84).
    pub longitude: f64,
}

/// A cell of a mobile network that the device saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellTower {
    /// Mobile country code.
    pub mcc: u16,
    /// Mobile network code.
    pub mnc: u16,
    /// Location area or tracking area code.
    pub lac: u32,
    /// Cell identity.
    pub cell: u64,
    /// Signal strength as sent: in dBm, or in the device's own scale.
    pub signal: Option<i32>,
}

/// A wireless network that the device saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessPoint {
    /// Hardware address, lower case with colons.
    pub mac: String,
    /// Signal strength as sent: in dBm, or in the device's own scale.
    pub signal: Option<i32>,
}

/// A report: a position, or readings without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// None if the report has only readings, at `time` or on arrival.
    pub position: Option<Position>,
    /// None if the frame has no time, or an invalid one.
    pub time: Option<Timestamp>,
    /// The fix flag of the sender; none if the protocol has no such flag.
    pub valid: Option<bool>,
    /// Altitude in metres.
    pub altitude_m: Option<f64>,
    /// Speed over ground.
    pub speed_kmh: Option<f64>,
    /// Course in degrees clockwise from true north.
    pub course: Option<f64>,
    /// Accuracy in metres.
    pub accuracy_m: Option<f64>,
    /// How the position was determined; none if the protocol does not report it.
    pub source: Option<FixSource>,
    /// Cells of the mobile network.
    pub cells: Vec<CellTower>,
    /// Wireless networks in reach, with their signal strength.
    pub wifi: Vec<AccessPoint>,
    /// All other readings; the later of two values with one name is used.
    pub values: Vec<(Name, Value)>,
    /// Alarm names such as `powerCut`, each at most once.
    pub alarms: Vec<&'static str>,
    /// Text for people that belongs to these alarms, such as the name of a region.
    pub alarm_text: Option<String>,
    /// States of the digital inputs, counted from 1.
    pub inputs: Pins,
    /// States of the digital outputs, counted from 1.
    pub outputs: Pins,
}

/// Factor from knots to km/h.
pub const KNOT_KMH: f64 = 1.852;
/// Factor from miles per hour to km/h.
pub const MILE_KMH: f64 = 1.609_344;

impl Report {
    /// Sets the position, in degrees.
    pub const fn locate(&mut self, latitude: f64, longitude: f64) {
        self.position = Some(Position { latitude, longitude });
    }

    /// Sets a position that the device found by satellite navigation.
    pub const fn fix(&mut self, latitude: f64, longitude: f64) {
        self.locate(latitude, longitude);
        self.source = Some(FixSource::Gnss);
    }

    /// Sets a position that the network estimated, with the radius of its error in metres.
    pub const fn estimate(&mut self, latitude: f64, longitude: f64, accuracy_m: Option<f64>) {
        self.locate(latitude, longitude);
        self.accuracy_m = accuracy_m;
        self.source = Some(FixSource::Network);
    }

    /// Adds a reading. It takes precedence over an earlier one of this name.
    pub fn set(&mut self, name: impl Into<Name>, value: impl Into<Value>) {
        self.values.push((name.into(), value.into()));
    }

    /// Adds a reading if there is one.
    pub fn set_some(&mut self, name: impl Into<Name>, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// Adds a text; nothing when it is empty.
    pub fn set_text(&mut self, name: impl Into<Name>, text: &str) {
        if !text.is_empty() {
            self.set(name, Value::text(text));
        }
    }

    /// The latest value of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let same = |known: &Name| match known {
            Name::Fixed(known) => *known == name,
            Name::Sent(known) => &**known == name,
            Name::Numbered(..) => known.to_string() == name,
        };
        self.values.iter().rev().find(|(known, _)| same(known)).map(|(_, value)| value)
    }

    /// Adds an alarm name once.
    pub fn alarm(&mut self, word: &'static str) {
        if !self.alarms.contains(&word) {
            self.alarms.push(word);
        }
    }

    /// Adds an alarm name if there is one.
    pub fn alarm_some(&mut self, word: Option<&'static str>) {
        if let Some(word) = word {
            self.alarm(word);
        }
    }

    /// Sets an input; pins count from 1.
    pub fn input(&mut self, pin: u32, on: bool) {
        if !self.inputs.set(pin, on) {
            self.set(("in", pin), on);
        }
    }

    /// Sets an output; pins count from 1.
    pub fn output(&mut self, pin: u32, on: bool) {
        if !self.outputs.set(pin, on) {
            self.set(("out", pin), on);
        }
    }

    /// Adds a cell of the mobile network.
    pub fn cell(&mut self, mcc: u16, mnc: u16, lac: impl Into<u32>, cell: impl Into<u64>) {
        self.cells.push(CellTower { mcc, mnc, lac: lac.into(), cell: cell.into(), signal: None });
    }

    /// Adds a cell of the mobile network with its signal strength.
    pub fn cell_with_signal(
        &mut self,
        (mcc, mnc): (u16, u16),
        lac: impl Into<u32>,
        cell: impl Into<u64>,
        signal: impl Into<i32>,
    ) {
        let signal = Some(signal.into());
        self.cells.push(CellTower { mcc, mnc, lac: lac.into(), cell: cell.into(), signal });
    }

    /// Adds a wireless network by the six bytes of its address.
    pub fn access_point(&mut self, mac: [u8; 6], signal: Option<i32>) {
        let mut text = String::with_capacity(17);
        for (index, byte) in mac.iter().enumerate() {
            // Writing to a `String` never fails.
            let _ = write!(text, "{}{byte:02x}", if index == 0 { "" } else { ":" });
        }
        self.wifi.push(AccessPoint { mac: text, signal });
    }

    /// Whether the report contains nothing besides its time.
    pub fn is_bare(&self) -> bool {
        self.position.is_none()
            && self.cells.is_empty()
            && self.wifi.is_empty()
            && self.values.is_empty()
            && self.alarms.is_empty()
            && self.inputs == Pins::default()
            && self.outputs == Pins::default()
    }
}
