//! What one record of a frame says.

use std::fmt::Write as _;

use perigee_core::locations::location::FixSource;
use perigee_core::time::Timestamp;

use crate::pins::Pins;
use crate::value::{Name, Value};

/// Degrees north and east as they were sent, not yet checked for their range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
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
    /// Signal strength as sent, dBm or the device's own scale.
    pub signal: Option<i32>,
}

/// A wireless network that the device saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessPoint {
    /// Hardware address, lower case with colons.
    pub mac: String,
    /// Signal strength as sent, dBm or the device's own scale.
    pub signal: Option<i32>,
}

/// One record: a position, or readings without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// None: readings only, at `time` or on arrival.
    pub place: Option<Position>,
    /// None: the frame has no time, or one that does not exist.
    pub time: Option<Timestamp>,
    /// The sender's own fix flag; none where the protocol has no such flag.
    pub valid: Option<bool>,
    /// Metres.
    pub altitude_m: Option<f64>,
    /// Kilometres an hour.
    pub speed_kmh: Option<f64>,
    /// Degrees from true north.
    pub course: Option<f64>,
    /// Metres.
    pub accuracy_m: Option<f64>,
    /// How the place was found; none where the protocol does not say.
    pub source: Option<FixSource>,
    /// Cells of the mobile network.
    pub cells: Vec<CellTower>,
    /// Wireless networks.
    pub wifi: Vec<AccessPoint>,
    /// Everything else; of two values with one name the later counts.
    pub values: Vec<(Name, Value)>,
    /// Alarm words such as `powerCut`, each at most once.
    pub alarms: Vec<&'static str>,
    /// What people read with these alarms, such as the name of a region.
    pub alarm_text: Option<String>,
    /// Digital inputs.
    pub inputs: Pins,
    /// Digital outputs.
    pub outputs: Pins,
}

/// Kilometres an hour in a knot.
pub const KNOT_KMH: f64 = 1.852;
/// Kilometres an hour in a mile an hour.
pub const MILE_KMH: f64 = 1.609_344;

impl Report {
    /// Sets the place.
    pub const fn locate(&mut self, latitude: f64, longitude: f64) {
        self.place = Some(Position { latitude, longitude });
    }

    /// Sets a place that the device found by satellite navigation.
    pub const fn fix(&mut self, latitude: f64, longitude: f64) {
        self.locate(latitude, longitude);
        self.source = Some(FixSource::Gnss);
    }

    /// Sets a place that the network estimated, with the radius of its error in metres.
    pub const fn estimate(&mut self, latitude: f64, longitude: f64, accuracy_m: Option<f64>) {
        self.locate(latitude, longitude);
        self.accuracy_m = accuracy_m;
        self.source = Some(FixSource::Network);
    }

    /// Adds a reading.
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

    /// Adds an alarm word once.
    pub fn alarm(&mut self, word: &'static str) {
        if !self.alarms.contains(&word) {
            self.alarms.push(word);
        }
    }

    /// Adds an alarm word if there is one.
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

    /// Adds a wireless network by the six bytes of its address.
    pub fn access_point(&mut self, mac: [u8; 6], signal: Option<i32>) {
        let mut text = String::with_capacity(17);
        for (index, byte) in mac.iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}{byte:02x}", if index == 0 { "" } else { ":" });
        }
        self.wifi.push(AccessPoint { mac: text, signal });
    }

    /// Whether the frame said nothing beyond its time.
    pub fn is_bare(&self) -> bool {
        self.place.is_none()
            && self.cells.is_empty()
            && self.wifi.is_empty()
            && self.values.is_empty()
            && self.alarms.is_empty()
            && self.inputs == Pins::default()
            && self.outputs == Pins::default()
    }
}
