//! Tests of turns by the cost of locations, especially near geofences with many positions.

use perigee_core::id::GeofenceId;
use perigee_core::locations::geofence::{Area, Position, Shape};
use perigee_core::locations::location::{Latitude, Location, Longitude, Readings, Trust};
use perigee_core::rules::rule::{Condition, FenceChange, Trail};

use super::super::testing::rule_of;
use super::*;

const ACCOUNT: AccountId = AccountId::from_i64(1);

fn position(longitude: f64, latitude: f64) -> Position {
    Position {
        latitude: Latitude::from_degrees(latitude).unwrap(),
        longitude: Longitude::from_degrees(longitude).unwrap(),
    }
}

/// A polygon of this many positions around the origin.
fn polygon(positions: u32) -> Shape {
    let corner = |index: u32| {
        let angle = f64::from(index) / f64::from(positions) * std::f64::consts::TAU;
        position(angle.cos(), angle.sin())
    };
    Shape::Areas(vec![Area { outline: (0..positions).map(corner).collect(), holes: Vec::new() }])
}

/// An evaluator of one rule with this many polygons of 2,000 positions, all around the origin.
fn evaluator(polygons: i64) -> SharedEvaluator {
    let shape = polygon(2_000);
    let ids: Vec<GeofenceId> = (0..polygons).map(GeofenceId::from_i64).collect();
    let rule = Arc::new(rule_of(Condition::Fence { change: FenceChange::Outside, geofences: ids.clone() }));
    let fences = RuleFences::new([&*rule], ids.iter().map(|id| (*id, &shape)));
    let start = Trail::default().start(&[&*rule], &[], Timestamp::MAX);
    Evaluator::new(vec![rule], Arc::new(fences), start)
}

/// This many locations at the origin, this many milliseconds apart.
fn locations(count: i64, apart_ms: i64) -> Vec<StoredLocation> {
    let origin = position(0.0, 0.0);
    let stored = |number: i64| {
        let time = Timestamp::from_millis(1_800_000_000_000 + number * apart_ms);
        let readings = Readings::default();
        let location = Location { time, latitude: origin.latitude, longitude: origin.longitude, readings };
        StoredLocation { location, received_at: time, trust: Trust::default(), number }
    };
    (0..count).map(stored).collect()
}

fn turns(steps: u64) -> Turns {
    Turns::new(&Budget::for_test(), ACCOUNT, steps)
}

#[tokio::test]
async fn cheap_locations_are_evaluated_at_once() {
    let mut turns = turns(u64::MAX);
    turns.finish(evaluator(2), locations(2, 1_000), Timestamp::MAX).await.unwrap();
    assert_eq!(turns.taken(), 0);
}

/// 110 polygons of 2,000 positions are 220,000 steps a location: 46 locations fill a turn.
#[tokio::test]
async fn expensive_locations_are_evaluated_in_turns() {
    for apart_ms in [1_000, 0] {
        let mut turns = turns(u64::MAX);
        turns.finish(evaluator(110), locations(100, apart_ms), Timestamp::MAX).await.unwrap();
        assert!((3..=4).contains(&turns.taken()), "{} turns, {apart_ms} ms apart", turns.taken());
        assert!((22_000_000..23_000_000).contains(&turns.used()), "{} steps", turns.used());
    }
}

#[tokio::test]
async fn a_location_that_is_expensive_alone_is_not_evaluated_at_once() {
    let mut turns = turns(u64::MAX);
    turns.advance(evaluator(110), locations(2, 1_000)).await.unwrap();
    assert_eq!(turns.taken(), 1);
}

#[tokio::test]
async fn a_round_that_costs_too_much_ends() {
    let mut turns = turns(1_000_000);
    let ended = turns.advance(evaluator(110), locations(500, 1_000)).await;
    assert!(matches!(ended, Err(RoundError::OutOfSteps(_))));
    assert_eq!(turns.taken(), 1, "it ends with the turn in which it reached its bound");
}
