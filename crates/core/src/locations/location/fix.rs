//! The part of a location that later locations are compared with: time, position and quality.

use super::{FixSource, Latitude, Location, Longitude, Milli, StoredLocation};
use crate::time::Timestamp;

/// Time, position and quality of a location, without its other readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fix {
    /// When the fix was taken.
    pub time: Timestamp,
    /// Its number in the location log.
    pub number: i64,
    /// Degrees north, WGS 84.
    pub latitude: Latitude,
    /// Degrees east, WGS 84.
    pub longitude: Longitude,
    /// The accuracy in metres.
    pub accuracy: Option<Milli>,
    /// How the position was found.
    pub source: Option<FixSource>,
    /// The sender's own fix flag.
    pub valid: Option<bool>,
}

impl Fix {
    /// The fix of a location with this number.
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

    /// Latitude and longitude as a pair.
    pub const fn position(&self) -> (Latitude, Longitude) {
        (self.latitude, self.longitude)
    }
}

impl From<&StoredLocation> for Fix {
    fn from(stored: &StoredLocation) -> Self {
        Self::of(&stored.location, stored.number)
    }
}
