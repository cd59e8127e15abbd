//! Sums over segments.

use super::clip::{part_of, share};
use super::{Segment, SegmentKind};
use crate::locations::location::Milli;
use crate::time::Timestamp;

/// Sums over the segments of a device, or of several, within an interval.
///
/// Segments at its ends are divided in proportion to time, like [`clip`](super::clip()) does, so that the totals of
/// neighbouring intervals add up to those of both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Metres of trips.
    pub distance_m: u64,
    /// Straight metres of gaps.
    pub gap_distance_m: u64,
    /// Seconds in motion.
    pub moving_s: u64,
    /// Seconds at rest, in trips and stops.
    pub standing_s: u64,
    /// Seconds at rest with the engine on; part of `standing_s`.
    pub idling_s: u64,
    /// Seconds with the engine on; `None` if it was never reported.
    pub engine_s: Option<u64>,
    /// Seconds of gaps.
    pub gap_s: u64,
    /// Number of trips that began in the interval.
    pub trips: u64,
    /// Number of stops that began in the interval.
    pub stops: u64,
    /// The first beginning of a trip in the interval.
    pub first_departure: Option<Timestamp>,
    /// The last end of a finished trip in the interval.
    pub last_arrival: Option<Timestamp>,
    /// The greatest speed of the trips in the interval, in km/h.
    pub max_speed: Option<Milli>,
}

/// The numbers of a segment that are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentFigures {
    /// What the device did.
    pub kind: SegmentKind,
    /// The beginning.
    pub from: Timestamp,
    /// The end.
    pub to: Timestamp,
    /// Whether it is the latest segment of the device.
    pub is_open: bool,
    /// Metres.
    pub distance_m: u64,
    /// Seconds in motion.
    pub moving_s: u64,
    /// Seconds at rest.
    pub standing_s: u64,
    /// Seconds at rest with the engine on.
    pub idling_s: u64,
    /// Seconds with the engine on, if it was reported.
    pub engine_s: Option<u64>,
    /// The greatest speed, in km/h.
    pub max_speed: Option<Milli>,
}

impl SegmentFigures {
    /// The numbers of this segment. The latest segment of a device is open.
    pub const fn of(segment: &Segment, is_open: bool) -> Self {
        Self {
            kind: segment.kind,
            from: segment.from,
            to: segment.to,
            is_open,
            distance_m: segment.distance_m,
            moving_s: segment.moving_s,
            standing_s: segment.standing_s,
            idling_s: segment.idling_s,
            engine_s: segment.engine_s,
            max_speed: segment.max_speed,
        }
    }
}

impl Totals {
    /// Adds the part of a segment that falls between two instants.
    pub fn add(&mut self, segment: &SegmentFigures, from: Timestamp, to: Timestamp) {
        let whole = (segment.from, segment.to);
        let Some(part) = part_of(whole, (from, to)) else { return };
        let part = |total: u64| share(whole, total, part);
        let begins = segment.from >= from;
        match segment.kind {
            SegmentKind::Gap => {
                self.gap_distance_m += part(segment.distance_m);
                let length_ms = segment.to.as_millis().abs_diff(segment.from.as_millis());
                self.gap_s += part(length_ms / 1_000);
                return;
            }
            SegmentKind::Stop => self.stops += u64::from(begins),
            SegmentKind::Trip => {
                self.trips += u64::from(begins);
                self.distance_m += part(segment.distance_m);
                self.max_speed = self.max_speed.max(segment.max_speed);
                if begins {
                    self.depart(segment.from);
                }
                if !segment.is_open && segment.to <= to {
                    self.last_arrival = self.last_arrival.max(Some(segment.to));
                }
            }
        }
        self.moving_s += part(segment.moving_s);
        self.standing_s += part(segment.standing_s);
        self.idling_s += part(segment.idling_s);
        self.run(segment.engine_s.map(part));
    }

    /// Adds the totals of another device or interval.
    pub fn merge(&mut self, other: &Self) {
        self.distance_m += other.distance_m;
        self.gap_distance_m += other.gap_distance_m;
        self.moving_s += other.moving_s;
        self.standing_s += other.standing_s;
        self.idling_s += other.idling_s;
        self.run(other.engine_s);
        self.gap_s += other.gap_s;
        self.trips += other.trips;
        self.stops += other.stops;
        if let Some(first) = other.first_departure {
            self.depart(first);
        }
        self.last_arrival = self.last_arrival.max(other.last_arrival);
        self.max_speed = self.max_speed.max(other.max_speed);
    }

    /// Whether no segment fell into the interval.
    pub fn is_empty(&self) -> bool {
        let Self { moving_s, standing_s, gap_s, trips, stops, .. } = self;
        [moving_s, standing_s, gap_s, trips, stops] == [&0; 5]
    }

    fn depart(&mut self, at: Timestamp) {
        self.first_departure = Some(self.first_departure.map_or(at, |first| first.min(at)));
    }

    fn run(&mut self, engine_s: Option<u64>) {
        if let Some(seconds) = engine_s {
            *self.engine_s.get_or_insert(0) += seconds;
        }
    }
}
