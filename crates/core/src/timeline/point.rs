//! The part of a location that the timeline reads, and which locations count.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Position;
use crate::locations::location::{
    Attribute, Fix, FixSource, Latitude, Location, Longitude, Milli, StoredLocation, Trust, is_coarse, judge,
};
use crate::time::Timestamp;

/// Accuracy above which a fix is a coarse estimate, whatever its source, in metres.
const COARSE_OVER_M: i64 = 1_000;
/// The attribute in which decoders report the key tag of the driver.
const DRIVER_TAG: &str = "driverUniqueId";
/// The longest driver tag that is kept, in bytes.
const DRIVER_TAG_MAX: usize = 100;

/// A location as the timeline reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelinePoint {
    /// The fix time.
    pub time: Timestamp,
    /// Degrees north (WGS 84).
    pub latitude: Latitude,
    /// Degrees east (WGS 84).
    pub longitude: Longitude,
    /// Speed over ground that the device reported, in km/h.
    pub speed: Option<Milli>,
    /// Whether the ignition is on.
    pub ignition: Option<bool>,
    /// Revolutions per minute of the engine.
    pub rpm: Option<Milli>,
    /// The device's own count of kilometres.
    pub mileage: Option<Milli>,
    /// Accuracy of the position, in metres.
    pub accuracy: Option<Milli>,
    /// Percent of the first tank.
    pub fuel: Option<Milli>,
    /// The driver's key tag.
    pub driver_tag: Option<Arc<str>>,
    /// Method by which the position was determined.
    pub source: Option<FixSource>,
}

impl TimelinePoint {
    /// The point of a stored location, or nothing if the location does not count.
    ///
    /// Coarse estimates, positions that the sender marked as invalid, and fixes that are suspect by themselves (null
    /// island, a time in the future) do not count. The flag of a jump is not read, because it depends on the order of
    /// arrival, and a timeline must not. The derivation compares each location with its neighbours in time instead and
    /// leaves out far-off fixes.
    pub fn from_stored(stored: &StoredLocation) -> Option<Self> {
        let fix = Fix::from(stored);
        Self::counts(&fix, judge(&fix, stored.received_at)).then(|| Self::of(&stored.location))
    }

    /// Whether a fix counts, given the checks of the fix by itself.
    pub fn counts(fix: &Fix, alone: Trust) -> bool {
        let is_region = fix.accuracy.is_some_and(|metres| metres.as_thousandths() > COARSE_OVER_M * 1_000);
        !alone.suspect && fix.valid != Some(false) && !is_region && !is_coarse(fix)
    }

    /// The point of a location, whether it counts or not.
    pub fn of(location: &Location) -> Self {
        let readings = &location.readings;
        Self {
            time: location.time,
            latitude: location.latitude,
            longitude: location.longitude,
            speed: readings.speed,
            ignition: readings.ignition,
            rpm: readings.rpm,
            mileage: readings.mileage,
            accuracy: readings.accuracy,
            fuel: readings.fuel,
            driver_tag: readings.attributes.get(DRIVER_TAG).and_then(driver_tag),
            source: readings.source,
        }
    }

    /// Latitude and longitude as a pair.
    pub const fn position(&self) -> Position {
        (self.latitude, self.longitude)
    }

    /// Whether the engine runs; `None` if neither ignition nor engine speed was reported.
    pub fn engine_on(&self) -> Option<bool> {
        self.ignition.or_else(|| self.rpm.map(|rpm| rpm.as_thousandths() > 0))
    }

    /// The order of points: by fix time, then by everything that the timeline reads, never by arrival. Sort by it before
    /// a derivation; of points with one time only the first counts.
    pub fn order(&self, other: &Self) -> Ordering {
        let key = |point: &Self| {
            (
                point.time,
                // The better fix first, and a fix with more readings before one with fewer.
                point.accuracy.map_or(i64::MAX, Milli::as_thousandths),
                (point.mileage.is_none(), point.speed.is_none(), point.ignition.is_none()),
                (point.latitude, point.longitude),
                (point.mileage, point.speed, point.ignition, point.rpm, point.fuel),
            )
        };
        key(self).cmp(&key(other)).then_with(|| self.driver_tag.cmp(&other.driver_tag))
    }
}

fn driver_tag(attribute: &Attribute) -> Option<Arc<str>> {
    match attribute {
        Attribute::Text(text) => {
            let text = text.trim();
            (!text.is_empty() && text.len() <= DRIVER_TAG_MAX).then(|| text.into())
        }
        Attribute::Integer(number) => (*number != 0).then(|| number.to_string().into()),
        Attribute::Real(_) | Attribute::Flag(_) => None,
    }
}
