use perigee_core::id::{AccountId, DeviceId, SegmentId};
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::revision::Revision;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{DistanceSource, Segment, SegmentKind, SegmentLabels, StoredSegment};

use super::reconcile;

fn segment(kind: SegmentKind, from: i64, to: i64) -> Segment {
    let here = (Latitude::from_e7(0), Longitude::from_e7(0));
    Segment {
        kind,
        from: Timestamp::from_millis(from),
        to: Timestamp::from_millis(to),
        start: here,
        end: here,
        distance_m: 0,
        distance_source: DistanceSource::Legs,
        moving_s: 0,
        standing_s: 0,
        idling_s: 0,
        engine_s: None,
        max_speed: None,
        fuel_used: None,
        driver_tag: None,
        inferred: false,
    }
}

fn stored(id: i64, name: Option<&str>, segment: Segment) -> StoredSegment {
    StoredSegment {
        account: AccountId::from_i64(1),
        device: DeviceId::from_i64(1),
        id: SegmentId::from_i64(id),
        segment,
        is_open: false,
        labels: SegmentLabels { name: name.map(str::to_owned), ..SegmentLabels::default() },
        driver: None,
        revision: Revision::FIRST,
        updated_at: Timestamp::from_millis(0),
        change: 0,
    }
}

/// The id and the name of each derived segment, and the ids of the removed ones.
type Found = (Vec<(Option<i64>, Option<String>)>, Vec<i64>);

fn found(old: Vec<StoredSegment>, new: Vec<Segment>) -> Found {
    let (matches, removed) = reconcile(old, new);
    let one = |found: super::Match| (found.old.map(|old| old.id.as_i64()), found.labels.name);
    (matches.into_iter().map(one).collect(), removed.iter().map(|old| old.id.as_i64()).collect())
}

use SegmentKind::{Stop, Trip};

#[test]
fn a_moved_start_is_the_same_trip() {
    let old = vec![stored(1, None, segment(Stop, 0, 10)), stored(2, None, segment(Trip, 10, 30))];
    let new = vec![segment(Stop, 0, 8), segment(Trip, 8, 30)];
    assert_eq!(found(old, new), (vec![(Some(1), None), (Some(2), None)], vec![]));
}

#[test]
fn of_a_divided_trip_the_longest_part_stays() {
    let old = vec![stored(1, Some("tour"), segment(Trip, 0, 30))];
    let new = vec![segment(Trip, 0, 10), segment(Stop, 10, 15), segment(Trip, 15, 30)];
    let expect = vec![(None, None), (None, None), (Some(1), Some("tour".to_owned()))];
    assert_eq!(found(old, new), (expect, vec![]));
}

#[test]
fn of_joined_trips_the_named_one_stays() {
    let old = vec![
        stored(1, None, segment(Trip, 0, 20)),
        stored(2, None, segment(Stop, 20, 25)),
        stored(3, Some("tour"), segment(Trip, 25, 30)),
    ];
    let expect = (vec![(Some(3), Some("tour".to_owned()))], vec![1, 2]);
    assert_eq!(found(old, vec![segment(Trip, 0, 30)]), expect);
}

#[test]
fn neighbours_are_not_the_same() {
    let old = vec![stored(1, None, segment(Trip, 0, 10))];
    assert_eq!(found(old, vec![segment(Trip, 10, 20)]), (vec![(None, None)], vec![1]));
}
