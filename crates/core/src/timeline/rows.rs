//! Collects the segments of a piece. A stop at the end stays open, because the next piece may continue it.

use super::plane::east_e7;
use super::{DistanceSource, OpenStop, Position, Segment, SegmentKind, TimelinePoint, TimelineSettings};
use crate::locations::location::{Latitude, Longitude, Milli};
use crate::time::Timestamp;

/// The segments of a piece, and the stop that is open.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) settings: TimelineSettings,
    pub(super) usual_interval_ms: Option<i64>,
    segments: Vec<Segment>,
    stop: Option<OpenStop>,
}

impl Rows {
    pub(super) const fn new(
        settings: TimelineSettings,
        stop: Option<OpenStop>,
        usual_interval_ms: Option<i64>,
    ) -> Self {
        Self { settings, usual_interval_ms, segments: Vec::new(), stop }
    }

    /// The closed segments, the open stop and the learned interval.
    pub(super) fn split(self) -> (Vec<Segment>, Option<OpenStop>, Option<i64>) {
        (self.segments, self.stop, self.usual_interval_ms)
    }

    /// All segments; an open stop ends at the latest point.
    pub(super) fn finish(mut self, latest: Option<&TimelinePoint>) -> Vec<Segment> {
        if let Some(latest) = latest {
            self.end_stop(latest.time);
        }
        self.segments
    }

    /// Whether a stop is open.
    pub(super) const fn has_stop(&self) -> bool {
        self.stop.is_some()
    }

    /// Continues the open stop, or begins one, from the first to the last of these points. Only `positions` count for the
    /// centre.
    pub(super) fn stand(
        &mut self,
        points: &[TimelinePoint],
        positions: &[Position],
        silence_ms: i64,
        (from, to): (Timestamp, Timestamp),
    ) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
        let stop = self.stop.get_or_insert_with(|| OpenStop::begin(first, from));
        // The state of the engine at the first fix is assumed since the estimated arrival, that at the last fix until the
        // departure.
        stop.add_engine(first, first.time.as_millis() - from.as_millis(), silence_ms);
        stop.add_engine(last, to.as_millis() - last.time.as_millis(), silence_ms);
        for position in positions {
            stop.add_position(*position);
        }
        for (from, to) in points.iter().zip(points.iter().skip(1)) {
            stop.add_leg(from, to, silence_ms);
        }
        for point in points {
            stop.add_readings(point);
        }
    }

    /// Ends the open stop and adds a trip or a gap.
    pub(super) fn add(&mut self, segment: Segment) {
        self.end_stop(segment.from);
        self.segments.push(segment);
    }

    fn end_stop(&mut self, to: Timestamp) {
        if let Some(stop) = self.stop.take()
            && stop.from < to
        {
            self.segments.push(stop.close(to));
        }
    }
}

impl OpenStop {
    fn begin(first: &TimelinePoint, from: Timestamp) -> Self {
        Self {
            from,
            origin: first.position(),
            count: 0,
            north_e7: 0,
            east_e7: 0,
            engine_ms: 0,
            engine_known: false,
            inferred: false,
            first_fuel: None,
            last_fuel: None,
            driver_tag: None,
        }
    }

    fn add_position(&mut self, position: Position) {
        self.count += 1;
        self.north_e7 += i64::from(position.0.as_e7()) - i64::from(self.origin.0.as_e7());
        self.east_e7 += east_e7(self.origin, position);
    }

    fn add_leg(&mut self, from: &TimelinePoint, to: &TimelinePoint, silence_ms: i64) {
        let length_ms = to.time.as_millis() - from.time.as_millis();
        self.engine_known |= from.engine_on().is_some();
        self.inferred |= length_ms >= silence_ms;
        self.add_engine(from, length_ms, silence_ms);
    }

    /// Adds the time for which the engine was on. In a long silence its state is unknown.
    fn add_engine(&mut self, point: &TimelinePoint, length_ms: i64, silence_ms: i64) {
        if point.engine_on() == Some(true) && length_ms < silence_ms {
            self.engine_ms += length_ms.max(0);
        }
    }

    fn add_readings(&mut self, point: &TimelinePoint) {
        self.first_fuel = self.first_fuel.or(point.fuel);
        self.last_fuel = point.fuel.or(self.last_fuel);
        if self.driver_tag.is_none() {
            self.driver_tag.clone_from(&point.driver_tag);
        }
    }

    /// The mean of the positions.
    fn centre(&self) -> Position {
        let count = self.count.max(1);
        let half = |sum: i64| (sum + sum.signum() * count / 2) / count;
        let north = i64::from(self.origin.0.as_e7()) + half(self.north_e7);
        let east = i64::from(self.origin.1.as_e7()) + half(self.east_e7);
        // The sum can pass the antimeridian.
        let east = (east + 1_800_000_000).rem_euclid(3_600_000_000) - 1_800_000_000;
        let clamped = |units: i64, most: i64| i32::try_from(units.clamp(-most, most)).unwrap_or_default();
        (Latitude::from_e7(clamped(north, 900_000_000)), Longitude::from_e7(clamped(east, 1_800_000_000)))
    }

    fn close(self, to: Timestamp) -> Segment {
        let centre = self.centre();
        let standing_s = whole_seconds(to.as_millis() - self.from.as_millis());
        let engine_s = whole_seconds(self.engine_ms).min(standing_s);
        Segment {
            kind: SegmentKind::Stop,
            from: self.from,
            to,
            start: centre,
            end: centre,
            distance_m: 0,
            distance_source: DistanceSource::Legs,
            moving_s: 0,
            standing_s,
            idling_s: engine_s,
            engine_s: self.engine_known.then_some(engine_s),
            max_speed: None,
            fuel_used: fuel_used(self.first_fuel, self.last_fuel),
            driver_tag: self.driver_tag,
            inferred: self.inferred,
        }
    }
}

/// Seconds of a time that is not negative, rounded down.
pub(super) fn whole_seconds(milliseconds: i64) -> u64 {
    u64::try_from(milliseconds / 1_000).unwrap_or(0)
}

/// The fuel used between two readings of a tank; `None` if the level rose.
pub(super) fn fuel_used(first: Option<Milli>, last: Option<Milli>) -> Option<Milli> {
    let used = first?.as_thousandths() - last?.as_thousandths();
    (used >= 0).then(|| Milli::from_thousandths(used))
}
