//! A part of a timeline.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::locations::location::{Latitude, Longitude, Milli};
use crate::time::Timestamp;

/// Degrees north and degrees east.
pub type Position = (Latitude, Longitude);

/// Kind of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SegmentKind {
    /// The device moved from one stop to the next. Waiting at a light is part of the trip.
    Trip,
    /// The device did not move.
    Stop,
    /// The device was silent, and afterwards at another position.
    Gap,
}

/// Method by which the distance of a segment was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DistanceSource {
    /// The sum of the distances from position to position.
    Legs,
    /// The difference of the readings `mileage` at both ends.
    Mileage,
    /// The straight distance between both ends; only for gaps.
    Straight,
}

/// One trip, stop or gap. Neighbouring segments share their boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// A trip, a stop or a gap.
    pub kind: SegmentKind,
    /// The beginning, which belongs to the segment.
    pub from: Timestamp,
    /// The end, which belongs to the next segment; always later than the beginning.
    pub to: Timestamp,
    /// Position at the beginning; for a stop, its centre.
    pub start: Position,
    /// Position at the end; for a stop, its centre.
    pub end: Position,
    /// Metres; 0 for a stop. The distance of a gap is not part of any trip.
    pub distance_m: u64,
    /// Method by which `distance_m` was computed.
    pub distance_source: DistanceSource,
    /// Seconds in motion; 0 for stops and gaps. Together with `standing_s` the whole seconds of a trip.
    pub moving_s: u64,
    /// Seconds at rest, in trips and stops; 0 for gaps.
    pub standing_s: u64,
    /// Seconds at rest with the engine on; part of `standing_s`.
    pub idling_s: u64,
    /// Seconds with the engine on, as far as it was reported; `None` if it never was.
    pub engine_s: Option<u64>,
    /// The highest speed that was reported, or else computed from positions, in km/h. Only for trips.
    pub max_speed: Option<Milli>,
    /// Percent of the first tank, if it was reported at both ends and did not rise.
    pub fuel_used: Option<Milli>,
    /// The first driver tag that was reported.
    pub driver_tag: Option<Arc<str>>,
    /// Whether a stop includes a silence of at least the gap's length after which the device was at the same position.
    pub inferred: bool,
}

impl SegmentKind {
    /// Every kind, in the order of the API document.
    pub const ALL: [Self; 3] = [Self::Trip, Self::Stop, Self::Gap];

    /// The name of the kind in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trip => "trip",
            Self::Stop => "stop",
            Self::Gap => "gap",
        }
    }
}

impl DistanceSource {
    /// Every source, in the order of the API document.
    pub const ALL: [Self; 3] = [Self::Legs, Self::Mileage, Self::Straight];

    /// The name of the source in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Legs => "legs",
            Self::Mileage => "mileage",
            Self::Straight => "straight",
        }
    }
}

impl Segment {
    /// Duration in milliseconds.
    pub const fn length_ms(&self) -> i64 {
        self.to.as_millis() - self.from.as_millis()
    }

    /// The mean speed while in motion, in km/h. `None` for stops, gaps and trips without time in motion.
    pub fn average_speed(&self) -> Option<Milli> {
        if self.kind != SegmentKind::Trip || self.moving_s == 0 {
            return None;
        }
        let thousandths = u128::from(self.distance_m) * 3_600 / u128::from(self.moving_s);
        i64::try_from(thousandths).ok().map(Milli::from_thousandths)
    }
}
