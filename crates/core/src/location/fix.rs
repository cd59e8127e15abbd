//! What of a location decides about the next one: when and where it was, and how good it is.

use super::{FixSource, Latitude, Location, Longitude, Milli, StoredLocation};
use crate::time::Timestamp;

/// A location without what it measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fix {
    /// When it was taken.
    pub time: Timestamp,
    /// Its number in the log.
    pub number: i64,
    /// Degrees north.
    pub latitude: Latitude,
    /// Degrees east.
    pub longitude: Longitude,
    /// Metres.
    pub accuracy: Option<Milli>,
    /// How it was found.
    pub source: Option<FixSource>,
    /// The sender's own fix flag.
    pub valid: Option<bool>,
}

impl Fix {
    /// That of a location with this number.
    pub const fn of(location: &Location, number: i64) -> Self {
        Self {
            time: location.time,
            number,
            latitude: location.latitude,
            longitude: location.longitude,
            accuracy: location.readings.accuracy,
            source: location.readings.source,
            valid: location.readings.valid,
        }
    }

    /// Latitude and longitude.
    pub const fn position(&self) -> (Latitude, Longitude) {
        (self.latitude, self.longitude)
    }
}

impl From<&StoredLocation> for Fix {
    fn from(stored: &StoredLocation) -> Self {
        Self::of(&stored.location, stored.number)
    }
}
