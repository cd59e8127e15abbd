//! Tests of who drove.

use std::sync::Arc;

use super::*;
use crate::id::{AccountId, DeviceId, SegmentId};
use crate::locations::location::{Latitude, Longitude};
use crate::revision::Revision;
use crate::time::Timestamp;
use crate::timeline::{DistanceSource, Segment, SegmentLabels};

const ANA: DriverId = DriverId::from_i64(1);
const BEA: DriverId = DriverId::from_i64(2);
const CAI: DriverId = DriverId::from_i64(3);

/// A trip of one second that begins at this second.
fn trip(second: i64) -> StoredSegment {
    let (from, position) =
        (Timestamp::from_millis(second * 1_000), (Latitude::from_e7(0), Longitude::from_e7(0)));
    StoredSegment {
        account: AccountId::from_i64(1),
        device: DeviceId::from_i64(1),
        id: SegmentId::from_i64(1),
        segment: Segment {
            kind: SegmentKind::Trip,
            from,
            to: from.plus_seconds(1),
            start: position,
            end: position,
            distance_m: 0,
            distance_source: DistanceSource::Legs,
            moving_s: 1,
            standing_s: 0,
            idling_s: 0,
            engine_s: None,
            max_speed: None,
            fuel_used: None,
            driver_tag: None,
            inferred: false,
        },
        is_open: false,
        labels: SegmentLabels::default(),
        driver: None,
        revision: Revision::FIRST,
        updated_at: from,
        change: 0,
    }
}

/// Ana has the tag `A1`; Bea is assigned from second 10 to second 20, Cai from then on.
fn lookup() -> DriverLookup {
    let names = [(ANA, "Ana"), (BEA, "Bea"), (CAI, "Cai")];
    let assignment = |from: i64, to: Option<i64>| AssignmentSettings {
        device: DeviceId::from_i64(1),
        from: Timestamp::from_millis(from * 1_000),
        to: to.map(|to| Timestamp::from_millis(to * 1_000)),
    };
    DriverLookup {
        names: names.into_iter().map(|(id, name)| (id, name.to_owned())).collect(),
        tags: HashMap::from([("a1".parse().unwrap(), ANA)]),
        assignments: vec![(assignment(10, Some(20)), BEA), (assignment(20, None), CAI)],
    }
}

fn tagged(second: i64, tag: &str) -> StoredSegment {
    let mut trip = trip(second);
    trip.segment.driver_tag = Some(Arc::from(tag));
    trip
}

fn by_hand(of: StoredSegment, id: Option<DriverId>, text: &str) -> StoredSegment {
    let labels = SegmentLabels { driver: Some(text.to_owned()), driver_id: id, ..of.labels };
    StoredSegment { labels, ..of }
}

fn check(segment: &StoredSegment, expect: Option<(Option<DriverId>, &str, DriverSource)>) {
    let expect = expect.map(|(id, name, source)| SegmentDriver { id, name: name.to_owned(), source });
    assert_eq!(lookup().resolve(segment), expect);
}

#[test]
fn a_hand_comes_before_a_tag_and_a_tag_before_an_assignment() {
    check(&trip(9), None);
    check(&trip(10), Some((Some(BEA), "Bea", DriverSource::Assignment)));
    check(&trip(19), Some((Some(BEA), "Bea", DriverSource::Assignment)));
    check(&trip(20), Some((Some(CAI), "Cai", DriverSource::Assignment)));
    check(&tagged(10, "0A-1"), Some((Some(ANA), "Ana", DriverSource::Tag)));
    check(&tagged(10, "B2"), Some((Some(BEA), "Bea", DriverSource::Assignment)));
    check(&by_hand(tagged(10, "A1"), Some(CAI), "Cai"), Some((Some(CAI), "Cai", DriverSource::Manual)));
    check(&by_hand(tagged(10, "A1"), None, "Dan"), Some((None, "Dan", DriverSource::Manual)));
}

#[test]
fn a_stop_has_a_driver_only_by_hand() {
    let mut stop = tagged(10, "A1");
    stop.segment.kind = SegmentKind::Stop;
    check(&stop, None);
    check(&by_hand(stop, Some(ANA), "Ana"), Some((Some(ANA), "Ana", DriverSource::Manual)));
}

#[test]
fn trips_of_another_device_have_other_assignments() {
    check(&StoredSegment { device: DeviceId::from_i64(2), ..trip(10) }, None);
}

#[test]
fn a_renamed_driver_has_the_new_name_everywhere() {
    check(&by_hand(trip(1), Some(ANA), "Anna"), Some((Some(ANA), "Ana", DriverSource::Manual)));
}

#[test]
fn trips_keep_the_name_of_a_deleted_driver() {
    let gone = DriverId::from_i64(9);
    let before = SegmentDriver { id: Some(gone), name: "Eva".to_owned(), source: DriverSource::Tag };
    let former = StoredSegment { driver: Some(before), ..tagged(10, "A1") };
    check(&former, Some((None, "Eva", DriverSource::Tag)));
    let again = StoredSegment { driver: lookup().resolve(&former), ..former };
    check(&again, Some((None, "Eva", DriverSource::Tag)));
    check(&by_hand(trip(1), Some(gone), "Eva"), Some((None, "Eva", DriverSource::Manual)));
}

#[test]
fn a_driver_who_lost_a_tag_or_an_assignment_loses_the_trips() {
    let before = |source| SegmentDriver { id: Some(ANA), name: "Ana".to_owned(), source };
    for source in [DriverSource::Tag, DriverSource::Assignment] {
        check(&StoredSegment { driver: Some(before(source)), ..tagged(1, "F0") }, None);
    }
    let unnamed = StoredSegment { driver: Some(before(DriverSource::Manual)), ..trip(1) };
    check(&unnamed, None);
}
