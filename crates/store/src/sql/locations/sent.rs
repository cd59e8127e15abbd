//! Locations on their way into the store, small while they wait: what decides about them is at hand, the rest packed.

use bytes::Bytes;
use perigee_core::location::{Fix, Location, StoredLocation};

use crate::codec::{pack_all_readings, pack_readings};

/// A location as somebody sent it.
#[derive(Debug)]
pub(crate) struct Sent {
    /// When and where it was, without a number yet.
    pub(crate) fix: Fix,
    /// Everything else, packed. Locations sent together share the memory of it.
    pub(crate) readings: Bytes,
}

impl Sent {
    /// Packs locations before anybody waits for it.
    pub(super) fn all(locations: &[Location]) -> Vec<Self> {
        let readings = pack_all_readings(locations.iter().map(|location| &location.readings));
        let sent = |(location, readings)| Self { fix: Fix::of(location, 0), readings };
        locations.iter().zip(readings).map(sent).collect()
    }

    /// Whether the same was stored. Equal readings give equal bytes.
    pub(super) fn is_same(&self, stored: &StoredLocation) -> bool {
        let Location { time, latitude, longitude, readings } = &stored.location;
        (self.fix.time, self.fix.latitude, self.fix.longitude) == (*time, *latitude, *longitude)
            && self.readings == pack_readings(readings)
    }
}
