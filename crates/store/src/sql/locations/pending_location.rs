//! Locations that wait for their commit, kept small: time and position as they are, the readings packed.

use bytes::Bytes;
use perigee_core::locations::location::{DuplicateRule, Fix, Location, StoredLocation};

use crate::codec::{pack_all_readings, pack_readings};

/// A submitted location that is not stored yet.
#[derive(Debug)]
#[cfg_attr(feature = "unsafe-early-ack", derive(Clone))]
pub(crate) struct PendingLocation {
    /// Time and position; its number is 0 until the location is stored.
    pub(crate) fix: Fix,
    /// Everything else, packed. Locations of one submission share one allocation.
    pub(crate) readings: Bytes,
    /// Decides which stored locations count as the same location.
    pub(crate) duplicate_rule: DuplicateRule,
}

impl PendingLocation {
    /// Packs locations on the caller's thread, before the writer or a lock is involved.
    pub(super) fn pack_all(locations: &[Location], duplicate_rule: DuplicateRule) -> Vec<Self> {
        let readings = pack_all_readings(locations.iter().map(|location| &location.readings));
        let pending = |(location, readings)| Self { fix: Fix::of(location, 0), readings, duplicate_rule };
        locations.iter().zip(readings).map(pending).collect()
    }

    /// Whether a stored location is the same: in every submitted field, or in time and position. Equal readings give
    /// equal bytes.
    pub(super) fn is_same(&self, stored: &StoredLocation) -> bool {
        let Location { time, latitude, longitude, readings } = &stored.location;
        if self.duplicate_rule == DuplicateRule::Fix {
            let here = (self.fix.latitude, self.fix.longitude);
            return self.fix.time == *time && DuplicateRule::is_near(here, (*latitude, *longitude));
        }
        (self.fix.time, self.fix.latitude, self.fix.longitude) == (*time, *latitude, *longitude)
            && self.readings == pack_readings(readings)
    }
}
