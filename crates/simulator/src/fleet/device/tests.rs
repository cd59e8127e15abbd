//! Tests that the fleet is plausible: positions, speeds and times that are possible, and the same ones every time.

use std::collections::HashSet;

use super::super::geo_point::GeoPoint;
use super::super::vessel::LANES;
use super::*;

const START: i64 = 1_780_000_000_000;
const DAY_MS: i64 = 86_400_000;

fn day_of(device: SimulatedDevice) -> Vec<Fix> {
    device.track(START).take_while(|fix| fix.time_ms < START + DAY_MS).collect()
}

fn position(fix: &Fix) -> GeoPoint {
    GeoPoint::new(f64::from(fix.latitude_e7) / 1e7, f64::from(fix.longitude_e7) / 1e7)
}

/// The fastest a kind travels, in metres a second.
fn top_speed(kind: Kind) -> f64 {
    match kind {
        Kind::Vehicle => 36.0,
        Kind::Vessel => 12.0,
        Kind::Hiker => 1.6,
    }
}

#[test]
fn tracks_are_possible() {
    for index in 0..60 {
        let device = SimulatedDevice::new(7, index);
        let day = day_of(device);
        let fastest = top_speed(device.kind());
        for pair in day.windows(2) {
            let [before, after] = pair else { continue };
            let seconds = f64::from(i32::try_from(after.time_ms - before.time_ms).unwrap()) / 1000.0;
            assert!(seconds > 0.0, "{device:?}");
            let (_, metres) = position(before).towards(position(after));
            assert!(metres <= fastest * seconds + 15.0, "{device:?}: {metres} m in {seconds} s");
            assert!(f64::from(after.speed_dkmh) / 36.0 <= fastest, "{device:?}: {after:?}");
        }
        for fix in &day {
            assert!(
                fix.latitude_e7.abs() < 750_000_000 && fix.longitude_e7.abs() <= 1_800_000_000,
                "{fix:?}"
            );
            assert!((0..3600).contains(&fix.course_ddeg) && fix.accuracy_dm > 0, "{fix:?}");
            assert!((-1000..70_000).contains(&fix.altitude_dm), "{fix:?}");
        }
    }
}

#[test]
fn kinds_report_at_their_own_pace() {
    let fixes = |index| day_of(SimulatedDevice::new(7, index)).len();
    assert!((1000..=8640).contains(&fixes(0)), "{}", fixes(0));
    assert!((479..=480).contains(&fixes(2)), "{}", fixes(2));
    assert!((22..=25).contains(&fixes(4)), "{}", fixes(4));
}

#[test]
fn vehicles_drive_turn_stop_and_park() {
    let day = day_of(SimulatedDevice::new(7, 0));
    let moving = day.iter().filter(|fix| fix.speed_dkmh > 50).count();
    let stopped = day.iter().filter(|fix| fix.speed_dkmh == 0 && fix.ignition == Some(true)).count();
    let parked = day.iter().filter(|fix| fix.ignition == Some(false)).count();
    assert!(moving > day.len() / 3 && stopped > 10 && parked > 5, "{moving} {stopped} {parked}");
    let turns = day.windows(2).filter(|pair| {
        let by = (pair[1].course_ddeg - pair[0].course_ddeg).rem_euclid(3600);
        (300..3300).contains(&by)
    });
    assert!(turns.count() > 50);
}

#[test]
fn vessels_keep_to_their_lanes() {
    for index in [2, 6, 10, 14, 18, 22, 26] {
        let track = SimulatedDevice::new(3, index).track(START).take(480 * 20);
        for fix in track {
            let here = position(&fix);
            let off = LANES.iter().flat_map(|lane| lane.windows(2)).map(|leg| {
                let (along, length) = leg[0].towards(leg[1]);
                let (bearing, metres) = leg[0].towards(here);
                // Distances to the ends count as well: lanes are long, and the formula is for short distances.
                let across = metres * (bearing - along).to_radians().sin().abs();
                if metres > length * 1.02 { leg[1].towards(here).1 } else { across }
            });
            let nearest = off.fold(f64::INFINITY, f64::min);
            assert!(nearest < 60_000.0, "{index}: {here:?} is {nearest} m off");
        }
    }
}

#[test]
fn a_seed_makes_the_same_bytes_every_time() {
    let bytes = |seed, index| {
        let mut out = Vec::new();
        for delivery in SimulatedDevice::new(seed, index).deliveries(START).take(500) {
            delivery.fix.write_json(&mut out);
        }
        out
    };
    for index in [0, 2, 4] {
        assert_eq!(bytes(1, index), bytes(1, index));
        assert_ne!(bytes(1, index), bytes(2, index));
    }
    assert_ne!(bytes(1, 0), bytes(1, 1));
}

#[test]
fn networks_lose_delay_reorder_and_repeat() {
    let device = SimulatedDevice::new(5, 1);
    let deliveries: Vec<_> = device.deliveries(START).take(40_000).collect();
    assert!(deliveries.windows(2).all(|pair| pair[0].at_ms <= pair[1].at_ms));
    assert!(deliveries.iter().all(|delivery| delivery.at_ms > delivery.fix.time_ms));
    let times: HashSet<i64> = deliveries.iter().map(|delivery| delivery.fix.time_ms).collect();
    let repeated = deliveries.len() - times.len();
    assert!((50..500).contains(&repeated), "{repeated}");
    let late = deliveries.iter().filter(|delivery| delivery.at_ms - delivery.fix.time_ms > 60_000).count();
    assert!(late > 100, "{late}");
    let disordered = deliveries.windows(2).filter(|pair| pair[1].fix.time_ms < pair[0].fix.time_ms).count();
    assert!(disordered > 100, "{disordered}");
    let newest = deliveries.iter().map(|delivery| delivery.fix.time_ms).max().unwrap();
    let taken = device.track(START).take_while(|fix| fix.time_ms <= newest).count();
    assert!(taken > times.len(), "some are lost");
}
