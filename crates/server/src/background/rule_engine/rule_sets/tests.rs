//! Tests of memory and pause of compiled rules.

use perigee_core::id::GeofenceId;
use perigee_core::locations::geofence::{Geofence, GeofenceSettings, Position, Shape};
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::revision::Revision;
use perigee_core::rules::rule::Condition;
use perigee_core::time::Timestamp;

use super::super::testing::rule_of;
use super::*;

fn account(number: i64) -> AccountId {
    AccountId::from_i64(number)
}

fn at(millis: u64) -> Monotonic {
    Monotonic::from_start(Duration::from_millis(millis))
}

/// A corridor of 2,000 positions.
fn corridor(id: i64) -> Geofence {
    let line = (0..2_000).map(|number| Position {
        latitude: Latitude::from_e7(number * 1_000),
        longitude: Longitude::from_e7(0),
    });
    Geofence {
        id: GeofenceId::from_i64(id),
        account: account(1),
        revision: Revision::FIRST,
        settings: GeofenceSettings {
            name: "corridor".into(),
            description: None,
            shape: Shape::Corridor { line: line.collect(), width_m: 100.0 },
        },
        creation: Timestamp::MIN,
        last_modified: Timestamp::MIN,
    }
}

/// One rule with the first `named` of this many corridors.
fn set(revision: i64, corridors: i64, named: i64) -> Arc<RuleSet> {
    let rule = rule_of(Condition::Route { geofences: (0..named).map(GeofenceId::from_i64).collect() });
    let fences: Vec<Geofence> = (0..corridors).map(corridor).collect();
    Arc::new(RuleSet::new(revision, vec![rule], &fences))
}

#[test]
fn sets_are_limited_by_their_bytes() {
    let (sets, large, small) = (RuleSets::default(), set(1, 100, 100), set(1, 0, 0));
    assert!(large.bytes() > 20 * LARGE, "{} bytes", large.bytes());
    sets.insert(account(0), small, at(0));
    for number in 1..=10 {
        sets.insert(account(number), Arc::clone(&large), at(0));
    }
    let state = sets.0.lock();
    assert!(state.bytes <= BYTES_MAX);
    assert_eq!(state.sets.len(), 1 + BYTES_MAX / large.bytes(), "the small one stays");
    assert_eq!(state.bytes, state.sets.values().map(|(_, bytes)| bytes).sum::<usize>());
}

#[test]
fn a_large_set_is_compiled_once_a_second() {
    let (sets, one) = (RuleSets::default(), account(1));
    assert!(matches!(sets.find(one, 1, at(0)), Known::Outdated));
    sets.insert(one, set(1, 10, 10), at(0));
    assert!(matches!(sets.find(one, 1, at(10)), Known::Current(_)));
    assert!(matches!(sets.find(one, 2, at(999)), Known::TooSoon));
    assert!(matches!(sets.find(one, 2, at(1_000)), Known::Outdated));
    assert_eq!(sets.0.lock().bytes, 0, "the outdated one is dropped before the next is compiled");
    sets.insert(one, set(2, 0, 0), at(1_000));
    assert!(matches!(sets.find(one, 3, at(1_001)), Known::Outdated), "a small one is compiled at once");
}

#[test]
fn geofences_that_no_rule_names_take_nothing() {
    assert_eq!(set(1, 50, 5).bytes(), set(1, 5, 5).bytes());
}
