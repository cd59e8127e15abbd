//! Locations: position, time and readings of a device, as scaled integers.

mod compaction;
mod coordinate;
mod decimal;
mod fields;
mod fix;
mod jump;
mod query;
mod rollover;
mod trust;

pub use compaction::{Compacted, CompactionBudget};
pub use coordinate::{Latitude, Longitude, Milli, OutOfRange};
pub use decimal::{Degrees, Thousandths};
pub use fields::{Bounds, Field, Kind, MILEAGE_ALIAS, Reading, Readings, kind};
pub use fix::Fix;
pub use jump::{JumpDetector, UnconfirmedJump};
pub use query::{Area, Feed, LastFilter};
pub use rollover::undo_rollover;
pub use trust::{Trust, is_coarse, judge, supersedes};

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// One report of the position of a device, normalised when it was read.
///
/// Two locations of a device are the same exactly when all these fields are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// When the fix was taken.
    pub time: Timestamp,
    /// Degrees north, WGS 84.
    pub latitude: Latitude,
    /// Degrees east, WGS 84.
    pub longitude: Longitude,
    /// All other values that the sender gave.
    pub readings: Readings,
}

/// Method by which a position was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FixSource {
    /// By satellite navigation, on the device.
    Gnss,
    /// By the network that carried the message.
    Network,
    /// By the Doppler shift of a satellite's signal.
    Doppler,
    /// Entered by a person.
    Manual,
}

impl FixSource {
    /// Every source, in the order of the API document.
    pub const ALL: [Self; 4] = [Self::Gnss, Self::Network, Self::Doppler, Self::Manual];

    /// The name of the source in the API.
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
    /// A text of up to [`Location::TEXT_MAX`] characters.
    Text(String),
    /// A number without a fraction.
    Integer(i64),
    /// A number with a fraction, never infinite and never NaN.
    Real(f64),
    /// Yes or no, such as an input that is on.
    Flag(bool),
}

impl Location {
    /// Maximum number of locations that one request may submit.
    pub const BATCH_MAX: usize = 10_000;
    /// Maximum number of attributes of a location.
    pub const ATTRIBUTES_MAX: usize = 200;
    /// Maximum number of items in a list of a location.
    pub const LIST_MAX: usize = 64;
    /// Maximum number of characters in a text of a location.
    pub const TEXT_MAX: usize = 1_000;
    /// Maximum number of bytes of all texts of a location together: names and values of attributes, warnings, alerts,
    /// accessories. Pages, chunks and caches contain thousands of locations.
    pub const ALL_TEXTS_MAX_BYTES: usize = 16 * 1024;
}

/// A location as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredLocation {
    /// The location as submitted.
    pub location: Location,
    /// When the service received it.
    pub received_at: Timestamp,
    /// Whether it is late or suspect.
    pub trust: Trust,
    /// Its number in the location log, which grows in the order of arrival.
    pub number: i64,
}

/// When a submitted location counts as one that is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateRule {
    /// Every submitted field is equal.
    #[default]
    Content,
    /// Same time, and same position within about a metre. For fixes that arrive by several feeds with different
    /// readings.
    Fix,
}

impl DuplicateRule {
    /// Positions that are nearer than this, in 1e-7 degrees, are the same: providers round to six digits or five.
    const NEAR_E7: u32 = 100;

    /// Whether two positions are the same to about a metre.
    pub fn is_near(a: (Latitude, Longitude), b: (Latitude, Longitude)) -> bool {
        a.0.as_e7().abs_diff(b.0.as_e7()) <= Self::NEAR_E7
            && a.1.as_e7().abs_diff(b.1.as_e7()) <= Self::NEAR_E7
    }
}

/// The result of submitting one location or alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is new and was stored.
    Accepted,
    /// An equal one was stored before; nothing changed.
    Duplicate,
}

/// From one instant to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeRange {
    /// The earliest fix time.
    pub from: Timestamp,
    /// The latest fix time.
    pub to: Timestamp,
}

impl TimeRange {
    /// Every instant that can be stored.
    pub const ALL: Self = Self { from: Timestamp::MIN, to: Timestamp::MAX };
}

/// The order of a history by fix time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest location first.
    Ascending,
    /// The newest location first.
    Descending,
}

/// Where a history continues: after the item with this time and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryCursor {
    /// The fix time of the item.
    pub time: Timestamp,
    /// The number of the item, which orders items of the same time.
    pub number: i64,
}

/// Which part of a history is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The fix times, both ends included.
    pub range: TimeRange,
    /// By fix time, then by number.
    pub order: Order,
    /// Where to continue; from the beginning when absent.
    pub after: Option<HistoryCursor>,
    /// The largest number of items.
    pub limit: u32,
}

/// A part of a history, and where the next one begins.
#[derive(Clone, Debug, PartialEq)]
pub struct History<T> {
    /// The items, in the order requested.
    pub items: Vec<T>,
    /// Where to continue, when there is more.
    pub next: Option<HistoryCursor>,
}
