//! Locations: where a device was and what it measured, in whole numbers from the door to the disk.

mod compaction;
mod coordinate;
mod fix;
mod many;
mod rollover;
mod trust;
mod whereabouts;

pub use compaction::{Compacted, CompactionBudget};
pub use coordinate::{Latitude, Longitude, Milli, OutOfRange};
pub use fix::Fix;
pub use many::{Area, Feed, LastFilter};
pub use rollover::undo_rollover;
pub use trust::{Trust, is_coarse, judge, supersedes};
pub use whereabouts::{Doubt, Whereabouts};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Where a device was, as normalised at the door.
///
/// Two locations of a device are the same exactly when all these fields are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// When the fix was taken.
    pub time: Timestamp,
    /// Degrees north, times 1e7.
    pub latitude: Latitude,
    /// Degrees east, times 1e7.
    pub longitude: Longitude,
    /// Everything else the sender gave.
    pub readings: Readings,
}

/// What a device may report beside its position; each is absent unless it was sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Readings {
    /// Metres.
    pub altitude: Option<Milli>,
    /// Kilometres an hour.
    pub speed: Option<Milli>,
    /// Degrees from true north, 0 to under 360.
    pub course: Option<Milli>,
    /// Metres.
    pub accuracy: Option<Milli>,
    /// The sender's own fix flag.
    pub valid: Option<bool>,
    /// Satellites used.
    pub satellites: Option<u32>,
    /// Horizontal dilution of precision.
    pub hdop: Option<Milli>,
    /// Percent.
    pub battery: Option<Milli>,
    /// Percent.
    pub fuel: Option<Milli>,
    /// Percent, second tank.
    pub fuel2: Option<Milli>,
    /// Degrees Celsius.
    pub temperature: Option<Milli>,
    /// Degrees Celsius, second probe.
    pub temperature2: Option<Milli>,
    /// Seconds each of four sensors was on.
    pub sensor_time_s: [Option<Milli>; 4],
    /// Seconds without movement.
    pub inactive_s: Option<Milli>,
    /// Revolutions a minute.
    pub rpm: Option<Milli>,
    /// Kilometres.
    pub mileage: Option<Milli>,
    /// Whether the ignition is on.
    pub ignition: Option<bool>,
    /// Digital inputs.
    pub inputs: Option<Vec<bool>>,
    /// Digital outputs.
    pub outputs: Option<Vec<bool>>,
    /// Names of warnings.
    pub warnings: Option<Vec<String>>,
    /// Their texts.
    pub warning_texts: Option<Vec<String>>,
    /// Names of alerts the position carries.
    pub alerts: Option<Vec<String>>,
    /// Their texts.
    pub alert_texts: Option<Vec<String>>,
    /// Whether one of them is critical.
    pub has_critical_alert: Option<bool>,
    /// How the position was found.
    pub source: Option<FixSource>,
    /// Whatever else was sent.
    pub attributes: BTreeMap<String, Attribute>,
    /// What attached accessories sent.
    pub accessories: Option<Vec<BTreeMap<String, String>>>,
}

/// How a position was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FixSource {
    /// By satellite navigation, on the device.
    Gnss,
    /// By the network that carried the message.
    Network,
    /// By Doppler shift.
    Doppler,
    /// By hand.
    Manual,
}

impl FixSource {
    /// Every source there is.
    pub const ALL: [Self; 4] = [Self::Gnss, Self::Network, Self::Doppler, Self::Manual];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gnss => "gnss",
            Self::Network => "network",
            Self::Doppler => "doppler",
            Self::Manual => "manual",
        }
    }
}

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, never infinite and never NaN.
    Real(f64),
    /// Yes or no.
    Flag(bool),
}

impl Location {
    /// Locations one call may bring.
    pub const BATCH_MAX: usize = 10_000;
    /// Attributes a location may have.
    pub const ATTRIBUTES_MAX: usize = 200;
    /// Items in a list of a location.
    pub const LIST_MAX: usize = 64;
    /// Characters in a text of a location.
    pub const TEXT_MAX: usize = 1_000;
}

/// A location as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredLocation {
    /// What was sent.
    pub location: Location,
    /// When it was received.
    pub received_at: Timestamp,
    /// What is doubtful about it.
    pub trust: Trust,
    /// Its number in the log, in arrival order.
    pub number: i64,
}

/// What became of one submitted location or alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is new and kept.
    Accepted,
    /// It was there already.
    Duplicate,
}

/// From one instant to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// The first instant.
    pub from: Timestamp,
    /// The last instant.
    pub to: Timestamp,
}

impl TimeRange {
    /// All of time.
    pub const ALL: Self = Self { from: Timestamp::MIN, to: Timestamp::MAX };
}

/// The direction of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}

/// A place in a history: after the item with this time and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryCursor {
    /// The item's time.
    pub time: Timestamp,
    /// Its number, which tells items of one time apart.
    pub number: i64,
}

/// A part of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The span of time.
    pub range: TimeRange,
    /// The direction.
    pub order: Order,
    /// Where to go on.
    pub after: Option<HistoryCursor>,
    /// Items at the most.
    pub limit: u32,
}

/// A part of a history, and where to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct History<T> {
    /// The items, in the order asked for.
    pub items: Vec<T>,
    /// Where to go on, when there is more.
    pub next: Option<HistoryCursor>,
}
