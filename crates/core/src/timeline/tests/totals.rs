//! The totals of the parts of a period add up to those of the whole.

use proptest::prelude::*;

use super::history::{BEGIN_MS, SETTINGS, journey};
use crate::time::Timestamp;
use crate::timeline::{Segment, SegmentFigures, SegmentKind, TimelinePoint, Totals, derive};

fn totals(segments: &[Segment], from: Timestamp, to: Timestamp) -> Totals {
    let mut totals = Totals::default();
    for segment in segments {
        totals.add(&SegmentFigures::of(segment, false), from, to);
    }
    totals
}

proptest! {
    #[test]
    fn parts_add_up(seed: u64, cuts in prop::collection::vec(0_i64..200_000_000, 0..12)) {
        let mut points = journey(seed);
        points.sort_by(TimelinePoint::order);
        let segments = derive(points, SETTINGS());
        let (begin, end) = (Timestamp::from_millis(BEGIN_MS - 1), Timestamp::from_millis(BEGIN_MS + 300_000_000));
        let mut limits: Vec<Timestamp> = cuts.iter().map(|cut| Timestamp::from_millis(BEGIN_MS + cut)).collect();
        limits.extend([begin, end]);
        limits.sort_unstable();
        let mut sum = Totals::default();
        for pair in limits.windows(2) {
            sum.merge(&totals(&segments, pair[0], pair[1]));
        }
        let whole = totals(&segments, begin, end);
        prop_assert_eq!(&sum, &whole);
        let trips: Vec<&Segment> = segments.iter().filter(|segment| segment.kind == SegmentKind::Trip).collect();
        prop_assert_eq!(whole.distance_m, trips.iter().map(|trip| trip.distance_m).sum::<u64>());
        prop_assert_eq!(whole.trips, u64::try_from(trips.len()).unwrap());
        prop_assert_eq!(whole.first_departure, trips.first().map(|trip| trip.from));
        prop_assert_eq!(whole.last_arrival, trips.last().map(|trip| trip.to));
    }
}
