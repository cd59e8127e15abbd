//! Positions inside and outside of shapes, above all at the antimeridian and at the poles.

use proptest::prelude::*;

use super::*;
use crate::id::GeofenceId;
use crate::locations::location::{Latitude, Longitude};

fn position(longitude: f64, latitude: f64) -> Position {
    Position {
        latitude: Latitude::from_degrees(latitude).unwrap(),
        longitude: Longitude::from_degrees(longitude).unwrap(),
    }
}

fn ring(corners: &[(f64, f64)]) -> Vec<Position> {
    corners.iter().map(|(longitude, latitude)| position(*longitude, *latitude)).collect()
}

fn area(outline: &[(f64, f64)], holes: &[&[(f64, f64)]]) -> Shape {
    Shape::Areas(vec![Area { outline: ring(outline), holes: holes.iter().map(|hole| ring(hole)).collect() }])
}

/// Checks positions against the shape and against the index.
#[track_caller]
fn check(shape: &Shape, inside: &[(f64, f64)], outside: &[(f64, f64)]) {
    assert_eq!(shape.check(), Ok(()));
    let id = GeofenceId::from_i64(7);
    let (region, index) = (shape.region(), FenceIndex::new([(id, shape)]));
    for (expect, (longitude, latitude)) in
        inside.iter().map(|at| (true, at)).chain(outside.iter().map(|at| (false, at)))
    {
        let at = position(*longitude, *latitude);
        assert_eq!(region.contains(at), expect, "{longitude}, {latitude}");
        assert_eq!(index.containing(at), if expect { vec![id] } else { vec![] }, "{longitude}, {latitude}");
    }
}

#[test]
fn areas_have_edges_and_holes() {
    let square = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0), (0.0, 0.0)];
    let hole: &[(f64, f64)] = &[(4.0, 4.0), (6.0, 4.0), (6.0, 6.0), (4.0, 6.0), (4.0, 4.0)];
    check(&area(&square, &[]), &[(5.0, 5.0), (0.0, 0.0), (10.0, 3.0)], &[(10.000_000_1, 3.0), (5.0, -0.1)]);
    check(&area(&square, &[hole]), &[(1.0, 1.0), (4.0, 5.0), (6.0, 6.0)], &[(5.0, 5.0), (4.1, 4.1)]);
    let backwards: Vec<(f64, f64)> = square.iter().rev().copied().collect();
    check(&area(&backwards, &[]), &[(5.0, 5.0)], &[(-5.0, 5.0)]);
}

#[test]
fn areas_cross_the_antimeridian() {
    let fiji = [(177.0, -20.0), (-178.0, -20.0), (-178.0, -15.0), (177.0, -15.0), (177.0, -20.0)];
    let inside = [(179.0, -18.0), (180.0, -18.0), (-180.0, -18.0), (-179.0, -18.0), (-178.0, -15.0)];
    check(&area(&fiji, &[]), &inside, &[(0.0, -18.0), (176.9, -18.0), (-177.9, -18.0), (179.0, -21.0)]);
    let from_the_west: Vec<(f64, f64)> = fiji[1..].iter().chain(&fiji[1..2]).copied().collect();
    check(&area(&from_the_west, &[]), &inside, &[(0.0, -18.0), (176.9, -18.0)]);
    let split = Shape::Areas(vec![
        Area {
            outline: ring(&[(177.0, -20.0), (180.0, -20.0), (180.0, -15.0), (177.0, -15.0)]),
            holes: vec![],
        },
        Area {
            outline: ring(&[(-180.0, -20.0), (-178.0, -20.0), (-178.0, -15.0), (-180.0, -15.0)]),
            holes: vec![],
        },
    ]);
    check(&split, &inside, &[(0.0, -18.0), (176.9, -18.0), (-177.9, -18.0)]);
}

#[test]
fn a_ring_round_the_earth_holds_its_pole() {
    let arctic = [(0.0, 70.0), (90.0, 66.0), (180.0, 70.0), (-90.0, 66.0), (0.0, 70.0)];
    let inside = [(0.0, 90.0), (123.0, 90.0), (45.0, 75.0), (-135.0, 75.0), (-180.0, 80.0), (90.0, 67.0)];
    check(&area(&arctic, &[]), &inside, &[(0.0, 60.0), (0.0, -90.0), (0.0, 69.0), (-90.0, 65.0)]);
    let antarctic = [(0.0, -70.0), (-90.0, -66.0), (180.0, -70.0), (90.0, -66.0), (0.0, -70.0)];
    check(&area(&antarctic, &[]), &[(10.0, -90.0), (-179.9, -89.0)], &[(0.0, 90.0), (0.0, -60.0)]);
}

#[test]
fn circles_are_round_everywhere() {
    let circle =
        |longitude, latitude, radius_m| Shape::Circle { centre: position(longitude, latitude), radius_m };
    check(&circle(180.0, 0.0, 120_000.0), &[(-179.0, 0.0), (179.0, 0.0)], &[(-178.0, 0.0), (0.0, 0.0)]);
    check(&circle(0.0, 90.0, 120_000.0), &[(0.0, 89.0), (180.0, 89.0), (77.0, 90.0)], &[(0.0, 88.8)]);
    check(&circle(10.0, 89.5, 120_000.0), &[(-170.0, 89.5), (10.0, 88.5)], &[(-170.0, 89.0), (10.0, 88.3)]);
    check(&circle(0.0, -89.9, 30_000.0), &[(180.0, -89.9)], &[(180.0, 89.9), (180.0, -89.7)]);
    check(&circle(2.0, 41.0, 1_000.0), &[(2.0, 41.008)], &[(2.0, 41.01), (2.0, -41.0)]);
}

#[test]
fn corridors_follow_their_line_everywhere() {
    let corridor = |line: &[(f64, f64)], width_m| Shape::Corridor { line: ring(line), width_m };
    let road = corridor(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)], 20_000.0);
    check(
        &road,
        &[(0.5, 0.089), (-0.08, 0.0), (1.05, 0.5)],
        &[(0.5, 0.091), (-0.1, 0.0), (0.5, 0.5), (1.0, 1.1)],
    );
    let lane = corridor(&[(179.0, 10.0), (-179.0, 10.0)], 20_000.0);
    check(&lane, &[(180.0, 10.0), (-179.5, 10.05)], &[(0.0, 10.0), (180.0, 10.2), (178.8, 10.0)]);
    let over_the_pole = corridor(&[(0.0, 85.0), (180.0, 85.0)], 20_000.0);
    check(&over_the_pole, &[(0.0, 90.0), (90.0, 89.95), (180.0, 86.0)], &[(90.0, 89.0), (0.0, 84.0)]);
}

#[test]
fn refuses_what_is_no_shape() {
    use ShapeError::{Distance, HoleOutside, Line, NoArea, SelfCrossing, TooFewPositions, TooManyPositions};
    let refused = |shape: Shape, error| assert_eq!(shape.check(), Err(error), "{shape:?}");
    let square = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0), (0.0, 0.0)];
    refused(Shape::Areas(vec![]), NoArea);
    refused(area(&[(0.0, 0.0), (1.0, 1.0), (0.0, 0.0)], &[]), TooFewPositions);
    refused(area(&[(5.0, 5.0), (5.0, 5.0), (5.0, 5.0), (5.0, 5.0)], &[]), TooFewPositions);
    refused(area(&[(0.0, 0.0), (10.0, 10.0), (10.0, 0.0), (0.0, 10.0), (0.0, 0.0)], &[]), SelfCrossing);
    refused(area(&[(0.0, 0.0), (10.0, 0.0), (5.0, 0.0), (5.0, 5.0), (0.0, 0.0)], &[]), SelfCrossing);
    refused(
        area(&[(0.0, 0.0), (4.0, 0.0), (2.0, 2.0), (4.0, 4.0), (0.0, 4.0), (2.0, 2.0)], &[]),
        SelfCrossing,
    );
    refused(area(&square, &[&[(20.0, 0.0), (21.0, 0.0), (21.0, 1.0)]]), HoleOutside);
    refused(area(&square, &[&[(5.0, 5.0), (15.0, 5.0), (5.0, 6.0)]]), HoleOutside);
    let many: Vec<(f64, f64)> =
        (0..2_001).map(|step| (f64::from(step) / 100.0, f64::from(step % 2))).collect();
    refused(area(&many, &[]), TooManyPositions);
    for radius_m in [0.0, -1.0, f64::NAN, f64::INFINITY, 1_000_000.1] {
        refused(Shape::Circle { centre: position(0.0, 0.0), radius_m }, Distance);
    }
    refused(Shape::Corridor { line: ring(&[(1.0, 1.0)]), width_m: 10.0 }, Line);
    refused(Shape::Corridor { line: ring(&[(1.0, 1.0), (1.0, 1.0)]), width_m: 10.0 }, Line);
    refused(Shape::Corridor { line: ring(&[(0.0, 0.0), (179.0, 0.0)]), width_m: 10.0 }, Line);
}

proptest! {
    #[test]
    fn the_index_finds_what_each_region_holds(
        shapes in prop::collection::vec((-180.0..180.0, -90.0..90.0, 1.0..900_000.0, prop::bool::ANY), 1..40),
        points in prop::collection::vec((-180.0..180.0, -90.0..90.0), 1..40),
    ) {
        let shape = |(longitude, latitude, metres, round): (f64, f64, f64, bool)| if round {
            Shape::Circle { centre: position(longitude, latitude), radius_m: metres }
        } else {
            let far = (longitude + 300.0).rem_euclid(360.0) - 180.0;
            Shape::Corridor { line: vec![position(longitude, latitude), position(far, -latitude / 2.0)], width_m: metres }
        };
        let shapes: Vec<(GeofenceId, Shape)> =
            (0..).map(GeofenceId::from_i64).zip(shapes.into_iter().map(shape)).collect();
        let index = FenceIndex::new(shapes.iter().map(|(id, shape)| (*id, shape)));
        for (longitude, latitude) in points {
            let at = position(longitude, latitude);
            let expect: Vec<GeofenceId> =
                shapes.iter().filter(|(_, shape)| shape.region().contains(at)).map(|(id, _)| *id).collect();
            prop_assert_eq!(index.containing(at), expect);
        }
    }
}
