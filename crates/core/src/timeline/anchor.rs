//! The state of a derivation at an instant at which it does not depend on the past.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Position;
use crate::locations::location::Milli;
use crate::time::Timestamp;

/// An instant inside a stop, or between two parts of a very long trip. Segments after it depend on earlier points only
/// through the values stored here.
///
/// Equal anchors are followed by equal segments if the points from [`Self::at`] on are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// The fix time of a point. A resumed derivation reads the points from here on, this one included.
    pub at: Timestamp,
    /// The fix time of the newest point that was read to find the anchor. A change at or before it invalidates it.
    pub settled: Timestamp,
    /// The usual reporting interval in motion, learned on the latest longer trip, in milliseconds.
    pub usual_interval_ms: Option<i64>,
    /// The part of the stop before this instant; `None` between two parts of a trip.
    pub stop: Option<OpenStop>,
}

/// A stop from its beginning to an anchor: sums for the stored segment. No decision of the derivation reads them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenStop {
    /// Beginning of the stop.
    pub from: Timestamp,
    /// The first position, to which the sums refer.
    pub origin: Position,
    /// Number of positions in the sums below.
    pub count: i64,
    /// Sum of the offsets to the north, in 1e-7 degrees.
    pub north_e7: i64,
    /// Sum of the offsets to the east, in 1e-7 degrees.
    pub east_e7: i64,
    /// Milliseconds with the engine on.
    pub engine_ms: i64,
    /// Whether the state of the engine was reported.
    pub engine_known: bool,
    /// Whether a long silence is part of the stop.
    pub inferred: bool,
    /// The first reading of the first tank, in percent.
    pub first_fuel: Option<Milli>,
    /// The latest reading of the first tank, in percent.
    pub last_fuel: Option<Milli>,
    /// The first driver tag.
    pub driver_tag: Option<Arc<str>>,
}

impl Anchor {
    /// Beginning of the stop that contains the anchor. Derived segments replace the stored ones from here on.
    pub fn stop_from(&self) -> Timestamp {
        self.stop.as_ref().map_or(self.at, |stop| stop.from)
    }
}
