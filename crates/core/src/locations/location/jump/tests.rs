//! Tests of glitches, flights, transports, and devices that return.

use proptest::prelude::*;

use super::super::{FixSource, Location, Readings};
use super::*;

const NOON: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const MADRID: (f64, f64) = (40.416_8, -3.703_8);
const BARCELONA: (f64, f64) = (41.385_1, 2.173_4);
const SYDNEY: (f64, f64) = (-33.868_8, 151.209_3);

fn at(after_s: i64, (latitude, longitude): (f64, f64)) -> Location {
    Location {
        time: NOON.plus_seconds(after_s),
        latitude: Latitude::from_degrees(latitude).unwrap(),
        longitude: Longitude::from_degrees(longitude).unwrap(),
        readings: Readings::default(),
    }
}

fn from(source: FixSource, mut location: Location) -> Location {
    location.readings.source = Some(source);
    location
}

/// The indexes of the flagged locations, and the index of the last location.
fn seen(locations: &[Location]) -> (Vec<usize>, Option<usize>) {
    let (mut jump_detector, mut flagged) = (JumpDetector::default(), Vec::new());
    let mut replayed = JumpDetector::default();
    for (index, location) in locations.iter().enumerate() {
        let fix = Fix::of(location, i64::try_from(index).unwrap());
        let is_suspect = jump_detector.judge(fix, false);
        if is_suspect {
            flagged.push(index);
        }
        // As it would be kept between two transactions.
        jump_detector.unconfirmed = UnconfirmedJump::from_bytes(&jump_detector.unconfirmed.to_bytes());
        replayed.replay(fix, false, is_suspect);
        assert_eq!(replayed, jump_detector, "replaying gives the same state");
    }
    (flagged, jump_detector.last.map(|last| usize::try_from(last.number).unwrap()))
}

fn check(name: &str, locations: &[Location], flagged: &[usize], last: usize) {
    assert_eq!(seen(locations), (flagged.to_vec(), Some(last)), "{name}");
}

#[test]
fn a_possible_jump_is_plausible() {
    check("standing", &[at(0, MADRID), at(0, MADRID), at(10, MADRID)], &[], 2);
    check("a flight of an hour", &[at(0, MADRID), at(3_600, BARCELONA)], &[], 1);
    check("to the other side in a day", &[at(0, MADRID), at(86_400, SYDNEY)], &[], 1);
    check("wandering", &[at(0, MADRID), at(1, (40.424, -3.703_8))], &[], 1);
    check("across the date line", &[at(0, (10.0, 179.999)), at(1, (10.0, -179.999))], &[], 1);
}

#[test]
fn a_glitch_is_flagged_and_forgotten() {
    check("one", &[at(0, MADRID), at(10, SYDNEY), at(20, MADRID)], &[1], 2);
    check("near", &[at(0, MADRID), at(1, (40.436, -3.703_8)), at(2, MADRID)], &[1], 2);
    check("at the same time", &[at(0, MADRID), at(0, SYDNEY)], &[1], 0);
    check("two, apart", &[at(0, MADRID), at(1, SYDNEY), at(2, BARCELONA), at(3, MADRID)], &[1, 2], 3);
    let twice = [at(0, MADRID), at(1, SYDNEY), at(2, MADRID), at(3, SYDNEY), at(4, MADRID)];
    check("again and again", &twice, &[1, 3], 4);
}

#[test]
fn a_device_that_really_moved_is_believed_the_second_time() {
    check("carried there", &[at(0, MADRID), at(60, SYDNEY), at(120, SYDNEY)], &[1], 2);
    check("the same fix twice", &[at(0, MADRID), at(60, SYDNEY), at(60, SYDNEY)], &[1, 2], 0);
    check("the first was wrong", &[at(0, SYDNEY), at(10, MADRID), at(20, MADRID)], &[1], 2);
    let back = [at(0, MADRID), at(1, SYDNEY), at(2, SYDNEY), at(3, MADRID), at(4, MADRID)];
    check("a glitch of two", &back, &[1, 3], 4);
}

#[test]
fn a_confirmed_location_stays_plausible_after_its_confirmation_is_deleted() {
    let mut replayed = JumpDetector::default();
    replayed.replay(Fix::of(&at(0, MADRID), 0), false, false);
    replayed.replay(Fix::of(&at(120, SYDNEY), 2), false, false);
    assert_eq!(replayed.last.map(|last| last.number), Some(2));
}

#[test]
fn an_older_location_is_not_compared() {
    check("late", &[at(100, MADRID), at(0, SYDNEY), at(200, MADRID)], &[], 2);
    let confirmed = [at(0, MADRID), at(60, SYDNEY), at(-60, MADRID), at(120, SYDNEY)];
    check("late between jump and confirmation", &confirmed, &[1], 3);
}

#[test]
fn accuracy_gives_room_but_not_everywhere() {
    let within = |metres: i64, mut location: Location| {
        location.readings.accuracy = Some(Milli::from_thousandths(metres * 1_000));
        location
    };
    check("rough", &[at(0, MADRID), within(5_000, at(1, (40.46, -3.703_8)))], &[], 1);
    check("fine", &[at(0, MADRID), within(5, at(1, (40.46, -3.703_8)))], &[1], 0);
    check("anywhere", &[at(0, MADRID), within(20_000_000, at(1, SYDNEY))], &[1], 0);
    check("nonsense", &[at(0, MADRID), within(-20_000_000, at(1, SYDNEY))], &[1], 0);
}

#[test]
fn hands_and_networks_do_not_move_a_device() {
    check("by hand", &[at(0, MADRID), from(FixSource::Manual, at(1, SYDNEY))], &[], 1);
    check("after a hand", &[from(FixSource::Manual, at(0, SYDNEY)), at(1, MADRID)], &[], 1);
    for source in [FixSource::Network, FixSource::Doppler] {
        check("coarse", &[at(0, MADRID), from(source, at(1, SYDNEY))], &[], 0);
        check("after a coarse one", &[from(source, at(0, SYDNEY)), at(1, MADRID)], &[], 1);
    }
}

proptest! {
    #[test]
    fn two_that_agree_are_always_enough(
        before in prop::collection::vec((0_i64..1_000_000, -90.0_f64..90.0, -180.0_f64..180.0), 0..30),
        position in (-90.0_f64..90.0, -180.0_f64..180.0),
    ) {
        let mut times: Vec<i64> = before.iter().map(|(after_s, ..)| *after_s).collect();
        times.sort_unstable();
        let mut locations: Vec<Location> =
            times.iter().zip(&before).map(|(after_s, (_, north, east))| at(*after_s, (*north, *east))).collect();
        locations.extend([at(1_000_001, position), at(1_000_002, position)]);
        let (flagged, last) = seen(&locations);
        prop_assert!(!flagged.contains(&(locations.len() - 1)));
        prop_assert_eq!(last, Some(locations.len() - 1));
    }

    #[test]
    fn any_bytes_are_a_jump_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let unconfirmed = UnconfirmedJump::from_bytes(&bytes);
        prop_assert_eq!(&UnconfirmedJump::from_bytes(&unconfirmed.to_bytes()), &unconfirmed);
        let last = Some(Fix::of(&at(0, MADRID), 0));
        JumpDetector { last, unconfirmed }.judge(Fix::of(&at(1, SYDNEY), 1), false);
    }
}
