//! The JSON of segments.

use perigee_core::drivers::DriverSource;
use perigee_core::locations::location::{Degrees, Milli};
use perigee_core::locations::place::Reader;
use perigee_core::timeline::{DistanceSource, Position, Segment, SegmentKind, StoredSegment};

use crate::http::input::{Word, words};
use crate::http::place::place_of;
use crate::http::prelude::*;

words! {
    "SegmentKind", "Kind of a segment. `trip`: the device moved from one stop to the next; waiting at a light is part of the trip. `stop`: \
     the device did not move. `gap`: the device was silent, and afterwards at another position." => SegmentKind;
    "DistanceSource", "Method by which a distance was computed. `legs`: sum of the distances from location to location. `mileage`: difference \
     of the reading `mileage` at both ends. `straight`: straight distance between both ends; only for gaps." => DistanceSource;
    "DriverSource", "How it is known who drove. `manual`: a user set the driver. `tag`: the device reported the key tag of the driver. \
     `assignment`: the driver was assigned to the device when the trip began." => DriverSource;
}

/// A kind of segment, as the API describes it.
pub type SegmentKindName = Word<SegmentKind>;
/// A source of a distance, as the API describes it.
pub type DistanceSourceName = Word<DistanceSource>;

/// How a driver is known, as the API describes it.
pub type DriverSourceName = Word<DriverSource>;

/// Position at which a segment begins or ends.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SegmentEnd)]
pub struct EndView {
    /// Latitude, in degrees north (WGS 84).
    #[schema(value_type = f64, example = 42.2406, minimum = -90, maximum = 90)]
    latitude: Degrees,
    /// Longitude, in degrees east (WGS 84).
    #[schema(value_type = f64, example = -8.7207, minimum = -180, maximum = 180)]
    longitude: Degrees,
    /// Position in words. Present only with `place=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "2 km SW of Vigo, Spain")]
    place: Option<String>,
}

/// Segment of a timeline: a trip, a stop or a gap of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Segment)]
pub struct SegmentView {
    /// Unique identifier of the segment, assigned by the server. It stays the same when late locations change the beginning
    /// or the end of the segment.
    #[schema(example = "seg_01jc2m8k4n5p6")]
    id: String,
    /// ID of the device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Kind of the segment: `trip`, `stop` or `gap`.
    #[schema(value_type = SegmentKindName, example = "trip")]
    kind: &'static str,
    /// Beginning of the segment, or of the requested period if that is later.
    #[schema(example = "2026-05-01T08:12:00Z", format = DateTime)]
    from: String,
    /// End of the segment, or of the requested period if that is earlier. The next segment begins at this time.
    #[schema(example = "2026-05-01T08:55:00Z", format = DateTime)]
    to: String,
    /// Whether this is the latest segment of the device, which new locations may extend.
    #[schema(example = false)]
    open: bool,
    /// Position at which the segment begins. For a stop, its centre.
    start: EndView,
    /// Position at which the segment ends. For a stop, its centre.
    end: EndView,
    /// Distance travelled, in kilometres. 0 for a stop. The distance of a gap is not part of any trip. If the segment is cut
    /// to the requested period, the distance is divided in proportion to time.
    #[schema(example = 43.215, minimum = 0)]
    distance: f64,
    /// Method by which `distance` was computed: `legs`, `mileage` or `straight`.
    #[schema(value_type = DistanceSourceName, example = "legs")]
    distance_source: &'static str,
    /// Time in motion, in seconds. 0 for stops and gaps.
    #[schema(example = 2400, minimum = 0)]
    moving_seconds: u64,
    /// Time at rest, in seconds: the whole stop, or the pauses of a trip. 0 for gaps.
    #[schema(example = 180, minimum = 0)]
    standing_seconds: u64,
    /// Time at rest with the engine on, in seconds. It is part of `standingSeconds`.
    #[schema(example = 60, minimum = 0)]
    idling_seconds: u64,
    /// Time with the engine on, in seconds. Null if the device did not report the state of the engine.
    #[schema(example = 2580, minimum = 0)]
    engine_seconds: Option<u64>,
    /// Highest speed, in km/h. Null for stops and gaps.
    #[schema(example = 96.5, minimum = 0)]
    max_speed: Option<f64>,
    /// Mean speed while in motion, in km/h. Null for stops and gaps, and for trips without time in motion.
    #[schema(example = 64.8, minimum = 0)]
    average_speed: Option<f64>,
    /// Fuel used, in percent of the first tank. Null if the device did not report the level, or if the level rose.
    #[schema(example = 4.5, minimum = 0)]
    fuel_used: Option<f64>,
    /// Whether the stop includes a long silence after which the device was at the same position.
    #[schema(example = false)]
    inferred: bool,
    /// Key tag of the driver, as reported by the device. Null if it reported none.
    #[schema(example = "A1B2C3D4")]
    driver_tag: Option<String>,
    /// Name of the segment, set by a user. Null if not set.
    #[schema(example = "Delivery to Porto")]
    name: Option<String>,
    /// Purpose of the segment, set by a user: `business`, `private` or any other text. Null if not set.
    #[schema(example = "business")]
    purpose: Option<String>,
    /// Note about the segment, set by a user. Null if not set.
    #[schema(example = json!(null))]
    note: Option<String>,
    /// Name of the driver, set by a user. Null if not set.
    #[schema(example = "Ana")]
    driver: Option<String>,
    /// ID of the driver: the one that a user set, or else the one whose key tag the device reported, or else the one who was
    /// assigned to the device when the trip began. Null if nobody is known, if a user gave only a name, or if the driver was
    /// deleted.
    #[schema(example = "drv_01jc2m8k4n5p6")]
    driver_id: Option<String>,
    /// Name of the driver. Null if nobody is known.
    #[schema(example = "Ana")]
    driver_name: Option<String>,
    /// How the driver is known: `manual`, `tag` or `assignment`. Null if nobody is known.
    #[schema(value_type = Option<DriverSourceName>, example = "tag")]
    driver_source: Option<&'static str>,
    /// Time of the last change of the segment, by late locations or by a user.
    #[schema(example = "2026-05-01T08:55:20Z", format = DateTime)]
    updated_at: String,
}

fn decimal(number: Milli) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "speeds and percents are far below 2^53 thousandths")]
    let units = number.as_thousandths() as f64;
    units / 1_000.0
}

fn end((latitude, longitude): Position, reader: Option<Reader>) -> EndView {
    EndView {
        latitude: latitude.into(),
        longitude: longitude.into(),
        place: place_of(reader, latitude, longitude),
    }
}

impl SegmentView {
    /// A segment that is not cut to a period.
    pub fn described(stored: StoredSegment, reader: Option<Reader>) -> Self {
        let segment = stored.segment.clone();
        Self::part(stored, segment, reader)
    }

    /// The part of a segment that falls into a period.
    pub(super) fn part(stored: StoredSegment, segment: Segment, reader: Option<Reader>) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "distances are far below 2^53 metres")]
        let distance = segment.distance_m as f64 / 1_000.0;
        let (labels, driver) = (stored.labels, stored.driver);
        Self {
            id: stored.id.to_string(),
            device_id: stored.device.to_string(),
            kind: segment.kind.name(),
            from: segment.from.to_string(),
            to: segment.to.to_string(),
            open: stored.is_open,
            start: end(segment.start, reader),
            end: end(segment.end, reader),
            distance,
            distance_source: segment.distance_source.name(),
            moving_seconds: segment.moving_s,
            standing_seconds: segment.standing_s,
            idling_seconds: segment.idling_s,
            engine_seconds: segment.engine_s,
            max_speed: segment.max_speed.map(decimal),
            average_speed: segment.average_speed().map(decimal),
            fuel_used: segment.fuel_used.map(decimal),
            inferred: segment.inferred,
            driver_tag: segment.driver_tag.map(|tag| tag.to_string()),
            name: labels.name,
            purpose: labels.purpose,
            note: labels.note,
            driver: labels.driver,
            driver_id: driver.as_ref().and_then(|driver| driver.id).map(|id| id.to_string()),
            driver_source: driver.as_ref().map(|driver| driver.source.name()),
            driver_name: driver.map(|driver| driver.name),
            updated_at: stored.updated_at.to_string(),
        }
    }
}

impl From<StoredSegment> for SegmentView {
    fn from(stored: StoredSegment) -> Self {
        Self::described(stored, None)
    }
}
