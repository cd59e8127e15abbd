//! A table for each condition: locations in, episodes out.

use std::collections::BTreeMap;

use super::support::{FENCE, at, fix, milli, replay, rule};
use crate::locations::location::{Attribute, Readings, StoredLocation};
use crate::rules::rule::{Condition, Crossing, FenceChange, HarshManoeuvre, Level, Quantity, Silence, Tank};
use crate::rules::schedule::{Schedule, Weekday};

type Seen = (i64, f64, Readings);
/// Begin, met and end, in seconds.
type Expected = (i64, i64, Option<i64>);

#[track_caller]
fn check_timed(condition: Condition, (for_s, cool_down_s): (u32, u32), seen: &[Seen], expect: &[Expected]) {
    let rule = rule(1, vec![condition], for_s, cool_down_s);
    let history: Vec<StoredLocation> =
        seen.iter().map(|(seconds, east, readings)| fix(*seconds, *east, readings.clone())).collect();
    let episodes = replay(&rule, &history, at(1_000_000));
    let seconds = |time: crate::time::Timestamp| (time.as_millis() - at(0).as_millis()) / 1000;
    let found: Vec<Expected> = episodes
        .iter()
        .map(|episode| (seconds(episode.begin), seconds(episode.met), episode.end.map(seconds)))
        .collect();
    assert_eq!(found, expect, "{:?}", rule.settings.conditions);
}

#[track_caller]
fn check(condition: Condition, seen: &[Seen], expect: &[Expected]) {
    check_timed(condition, (0, 0), seen, expect);
}

fn none() -> Readings {
    Readings::default()
}

fn speed(kmh: f64) -> Readings {
    Readings { speed: milli(kmh), ..none() }
}

fn level(quantity: Quantity, crossing: Crossing, limit: f64, clear: Option<f64>) -> Condition {
    Condition::Measure { quantity, level: Level { crossing, limit, clear } }
}

fn speeds(list: &[(i64, f64)]) -> Vec<Seen> {
    list.iter().map(|(seconds, kmh)| (*seconds, 0.0, speed(*kmh))).collect()
}

#[test]
fn coarse_positions_do_not_count_for_geofences() {
    use crate::locations::location::FixSource;
    let coarse =
        |metres: f64| Readings { accuracy: milli(metres), source: Some(FixSource::Network), ..none() };
    let unknown = Readings { source: Some(FixSource::Doppler), ..none() };
    let fence = |change| Condition::Fence { change, geofences: vec![FENCE] };
    let seen = |readings: &Readings| {
        vec![(0, 50.0, none()), (10, 0.0, readings.clone()), (20, 50.0, none()), (30, 0.0, none())]
    };
    for readings in [coarse(500.1), coarse(50_000.0), unknown] {
        check(fence(FenceChange::Enter), &seen(&readings), &[(30, 30, None)]);
        check(fence(FenceChange::Inside), &seen(&readings), &[(30, 30, None)]);
        check(Condition::Route { geofences: vec![FENCE] }, &seen(&readings), &[(0, 0, Some(30))]);
        // Time alone does not complete a stay: the next good position does.
        let stay = [(0, 0.0, none()), (60, 0.0, readings.clone()), (90, 50.0, none())];
        check_timed(fence(FenceChange::Inside), (60, 0), &stay, &[]);
    }
    check(fence(FenceChange::Enter), &seen(&coarse(500.0)), &[(10, 10, Some(20)), (30, 30, None)]);
    let fast = Readings { speed: milli(95.0), ..coarse(9_000.0) };
    check(level(Quantity::Speed, Crossing::Above, 90.0, None), &[(0, 0.0, fast)], &[(0, 0, None)]);
}

#[test]
fn limits_are_passed_and_given_up() {
    let above = || level(Quantity::Speed, Crossing::Above, 90.0, None);
    check(above(), &speeds(&[(0, 90.0), (10, 90.1), (20, 100.0), (30, 90.0)]), &[(10, 10, Some(30))]);
    check(above(), &speeds(&[(0, 95.0)]), &[(0, 0, None)]);
    let hysteresis = level(Quantity::Speed, Crossing::Above, 90.0, Some(85.0));
    check(
        hysteresis,
        &speeds(&[(0, 91.0), (10, 86.0), (20, 91.0), (30, 85.0), (40, 88.0)]),
        &[(0, 0, Some(30))],
    );
    let below = level(Quantity::Speed, Crossing::Below, 10.0, None);
    check(below, &speeds(&[(0, 10.0), (10, 9.9), (20, 10.0)]), &[(10, 10, Some(20))]);
    // A location without a speed changes nothing.
    let silent = [(0, 0.0, speed(95.0)), (10, 0.0, none()), (20, 0.0, speed(50.0))];
    check(above(), &silent, &[(0, 0, Some(20))]);
}

#[test]
fn an_alert_waits_for_its_time_and_for_the_last_to_cool_down() {
    let above = || level(Quantity::Speed, Crossing::Above, 90.0, None);
    let long = speeds(&[(0, 95.0), (59, 95.0), (61, 95.0), (70, 80.0)]);
    check_timed(above(), (60, 0), &long, &[(0, 61, Some(70))]);
    check_timed(above(), (60, 0), &speeds(&[(0, 95.0), (59, 95.0), (61, 80.0)]), &[]);
    let often =
        speeds(&[(0, 95.0), (10, 80.0), (20, 95.0), (30, 80.0), (590, 95.0), (600, 95.0), (610, 80.0)]);
    check_timed(above(), (0, 600), &often, &[(0, 0, Some(10)), (590, 600, Some(610))]);
}

#[test]
fn every_quantity_is_read() {
    let seen = |readings: Readings| vec![(0, 0.0, readings)];
    let hit: &[Expected] = &[(0, 0, None)];
    let below = |quantity, limit| level(quantity, Crossing::Below, limit, None);
    let above = |quantity, limit| level(quantity, Crossing::Above, limit, None);
    check(below(Quantity::Battery, 20.0), &seen(Readings { battery: milli(19.0), ..none() }), hit);
    check(below(Quantity::Fuel, 20.0), &seen(Readings { fuel: milli(19.0), ..none() }), hit);
    check(below(Quantity::Fuel2, 20.0), &seen(Readings { fuel2: milli(19.0), ..none() }), hit);
    check(above(Quantity::Temperature, -18.0), &seen(Readings { temperature: milli(-17.9), ..none() }), hit);
    check(below(Quantity::Temperature, -18.0), &seen(Readings { temperature: milli(-18.1), ..none() }), hit);
    check(above(Quantity::Temperature2, 4.0), &seen(Readings { temperature2: milli(4.1), ..none() }), hit);
    check(above(Quantity::Rpm, 3_000.0), &seen(Readings { rpm: milli(3_001.0), ..none() }), hit);
    let reached = level(Quantity::Mileage, Crossing::Reached, 10_000.0, None);
    check(reached, &seen(Readings { mileage: milli(10_000.0), ..none() }), hit);
    let on_for = Readings { sensor_time2_s: milli(61.0), ..none() };
    check(above(Quantity::SensorTime(2), 60.0), &seen(on_for), hit);
    let with =
        |name: &str, value| Readings { attributes: BTreeMap::from([(name.to_owned(), value)]), ..none() };
    let depth = || Quantity::Attribute("depth".to_owned());
    check(above(depth(), 5.0), &seen(with("depth", Attribute::Integer(6))), hit);
    check(above(depth(), 5.0), &seen(with("depth", Attribute::Text("6.5".into()))), hit);
    check(below(depth(), 5.0), &seen(with("depth", Attribute::Real(4.5))), hit);
    check(below(depth(), 5.0), &seen(with("other", Attribute::Real(4.5))), &[]);
    let equals = |value| Condition::Equals { attribute: "door".to_owned(), value };
    check(equals(Attribute::Text("open".into())), &seen(with("door", Attribute::Text("open".into()))), hit);
    check(equals(Attribute::Integer(1)), &seen(with("door", Attribute::Real(1.0))), hit);
    check(equals(Attribute::Flag(true)), &seen(with("door", Attribute::Integer(1))), &[]);
}

#[test]
fn fences_are_entered_left_and_dwelt_in() {
    let fence = |change| Condition::Fence { change, geofences: vec![FENCE] };
    let trip =
        [(0, 50.0, none()), (10, 5.0, none()), (20, 0.0, none()), (30, 50.0, none()), (40, 50.0, none())];
    check(fence(FenceChange::Enter), &trip, &[(10, 10, Some(30))]);
    check(fence(FenceChange::Leave), &trip, &[(30, 30, None)]);
    check(fence(FenceChange::Inside), &trip, &[(10, 10, Some(30))]);
    check(fence(FenceChange::Outside), &trip, &[(0, 0, Some(10)), (30, 30, None)]);
    check_timed(fence(FenceChange::Inside), (10, 0), &trip, &[(10, 20, Some(30))]);
    // A device that starts inside has not entered; one that starts outside has not left.
    check(fence(FenceChange::Enter), &trip[1..], &[]);
    check(fence(FenceChange::Leave), &trip[..2], &[]);
    check(Condition::Route { geofences: vec![FENCE] }, &trip, &[(0, 0, Some(10)), (30, 30, None)]);
}

#[test]
fn standing_is_seen_in_several_ways() {
    let idle = || Condition::Idle { seconds: 300, speed_kmh: 5.0 };
    let running = |kmh, ignition| Readings { speed: milli(kmh), ignition, ..none() };
    let seen = [
        (0, 0.0, running(0.0, Some(true))),
        (200, 0.0, running(4.0, Some(true))),
        (300, 0.0, running(0.0, Some(true))),
        (400, 0.0, running(40.0, Some(true))),
    ];
    check(idle(), &seen, &[(300, 300, Some(400))]);
    let off = [(0, 0.0, running(0.0, Some(true))), (300, 0.0, running(0.0, Some(false)))];
    check(idle(), &off, &[]);
    check(idle(), &[(0, 0.0, running(0.0, None)), (300, 0.0, running(0.0, None))], &[(300, 300, None)]);
    let inactive = Readings { inactive_s: milli(301.0), ignition: Some(true), ..none() };
    check(idle(), &[(0, 0.0, inactive)], &[(0, 0, None)]);

    let still = || Condition::NoMovement { seconds: 600, radius_m: 100.0 };
    // Without further locations it is met when the time is up, also between two locations.
    check(still(), &[(0, 0.0, none())], &[(600, 600, None)]);
    check(
        still(),
        &[(0, 0.0, none()), (700, 5.0, none()), (701, 10.0, none())],
        &[(600, 600, Some(700)), (1_301, 1_301, None)],
    );
    check(still(), &[(0, 0.0, none()), (500, 0.5, none()), (599, 5.0, none())], &[(1_199, 1_199, None)]);
}

/// When a rule becomes true, given its hours, the time of its creation and since when the device is silent.
#[test]
fn silence_waits_for_the_hours_of_a_rule() {
    let check = |hours: Option<(&str, &str)>, made: &str, since: &str, expect: Option<&str>| {
        let time = |text: &str| format!("2026-05-{text}:00Z").parse::<crate::time::Timestamp>().unwrap();
        let mut rule = rule(1, vec![Condition::Silence(Silence::Offline)], 0, 0);
        rule.since = time(made);
        rule.settings.schedule = hours.map(|(from, to)| Schedule {
            weekdays: Weekday::ALL.to_vec(),
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
            time_zone: None,
        });
        assert_eq!(
            rule.silence_from(time(since)),
            expect.map(time),
            "{hours:?}, made {made}, silent {since}"
        );
    };
    let day = Some(("08:00", "18:00"));
    check(None, "01T00:00", "01T03:00", Some("01T03:00"));
    check(day, "01T00:00", "01T09:00", Some("01T09:00"));
    check(day, "01T00:00", "01T03:00", Some("01T08:00"));
    check(day, "01T00:00", "01T18:00", Some("02T08:00"));
    // Silent before the rule was made: from the next time its hours begin on.
    check(day, "01T20:00", "01T09:00", Some("02T08:00"));
    check(day, "01T10:00", "01T09:00", None);
}

#[test]
fn standing_still_waits_for_its_hours() {
    let mut rule = rule(1, vec![Condition::NoMovement { seconds: 600, radius_m: 100.0 }], 0, 0);
    // The beginning is a Friday at 08:00.
    let (from, to) = ("09:00".parse().unwrap(), "18:00".parse().unwrap());
    let check = |rule: &crate::rules::rule::Rule, seen: &[(i64, f64)], now: i64, expect: &[Expected]| {
        let history: Vec<StoredLocation> =
            seen.iter().map(|(seconds, east)| fix(*seconds, *east, none())).collect();
        let seconds = |time: crate::time::Timestamp| (time.as_millis() - at(0).as_millis()) / 1000;
        let episodes = replay(rule, &history, at(now));
        let found = episodes.iter();
        let found: Vec<Expected> =
            found.map(|one| (seconds(one.begin), seconds(one.met), one.end.map(seconds))).collect();
        assert_eq!(found, expect, "{seen:?} {now}");
    };
    rule.settings.schedule = Some(Schedule { weekdays: vec![Weekday::Friday], from, to, time_zone: None });
    check(&rule, &[(0, 0.0)], 3_599, &[]);
    check(&rule, &[(0, 0.0)], 3_600, &[(3_600, 3_600, None)]);
    check(&rule, &[(0, 0.0), (700, 0.1)], 3_600, &[(3_600, 3_600, None)]);
    check(&rule, &[(0, 0.0), (5_000, 5.0)], 5_000, &[(3_600, 3_600, Some(5_000))]);
    check(&rule, &[(0, 0.0), (3_500, 5.0)], 4_000, &[]);
    rule.settings.schedule = Some(Schedule { weekdays: Vec::new(), from, to, time_zone: None });
    check(&rule, &[(0, 0.0)], 1_000_000, &[]);
}

#[test]
fn tanks_are_drained_and_filled() {
    let jump = |crossing| Condition::FuelJump { tank: Tank::First, crossing, by: 10.0, within_s: 600 };
    let fuel = |list: &[(i64, f64)]| -> Vec<Seen> {
        list.iter()
            .map(|(seconds, level)| (*seconds, 0.0, Readings { fuel: milli(*level), ..none() }))
            .collect()
    };
    let theft = fuel(&[(0, 80.0), (100, 79.0), (200, 74.0), (300, 69.0), (900, 69.0)]);
    check(jump(Crossing::Below), &theft, &[(300, 300, Some(900))]);
    check(jump(Crossing::Above), &theft, &[]);
    let slow = fuel(&[(0, 80.0), (400, 75.0), (800, 70.0), (1_200, 65.0)]);
    check(jump(Crossing::Below), &slow, &[]);
    let filled = fuel(&[(0, 20.0), (60, 25.0), (120, 60.0), (2_000, 60.0)]);
    check(jump(Crossing::Above), &filled, &[(120, 120, Some(2_000))]);
    let second =
        Condition::FuelJump { tank: Tank::Second, crossing: Crossing::Below, by: 10.0, within_s: 600 };
    check(second, &theft, &[]);
}

#[test]
fn inputs_harsh_manoeuvres_and_sos_are_detected() {
    let inputs = |list: &[bool]| Readings { inputs: Some(list.to_vec()), ..none() };
    let seen = [
        (0, 0.0, inputs(&[false, true])),
        (10, 0.0, none()),
        (20, 0.0, inputs(&[false])),
        (30, 0.0, inputs(&[true, false])),
    ];
    check(Condition::Input { number: 2, on: true }, &seen, &[(0, 0, Some(30))]);
    check(Condition::Input { number: 1, on: false }, &seen, &[(0, 0, Some(30))]);
    check_timed(Condition::Input { number: 2, on: true }, (15, 0), &seen, &[(0, 20, Some(30))]);
    let key = |on| Readings { ignition: Some(on), ..none() };
    check(Condition::Ignition { on: true }, &[(0, 0.0, key(true)), (9, 0.0, key(false))], &[(0, 0, Some(9))]);

    let harsh = |jolt| Condition::Harsh { jolt, kmh_per_s: 12.0 };
    let stop = speeds(&[(0, 80.0), (2, 50.0), (4, 50.0), (6, 74.0), (30, 0.0)]);
    check(harsh(HarshManoeuvre::Braking), &stop, &[(2, 2, Some(4))]);
    check(harsh(HarshManoeuvre::Acceleration), &stop, &[(6, 6, Some(30))]);
    let reported = Readings { alerts: Some(vec!["HarshBraking".into()]), ..none() };
    check(harsh(HarshManoeuvre::Braking), &[(0, 0.0, reported), (1, 0.0, none())], &[(0, 0, Some(1))]);
    let help = Readings { alerts: Some(vec!["SOSButton".into()]), ..none() };
    check(Condition::Sos, &[(0, 0.0, help), (60, 0.0, none())], &[(0, 0, Some(60))]);
}

#[test]
fn all_conditions_and_the_schedule_must_hold() {
    let mut both = rule(
        1,
        vec![
            level(Quantity::Speed, Crossing::Above, 50.0, None),
            Condition::Fence { change: FenceChange::Inside, geofences: vec![FENCE] },
        ],
        0,
        0,
    );
    let history = [
        fix(0, 50.0, speed(80.0)),
        fix(10, 0.0, speed(80.0)),
        fix(20, 0.0, speed(30.0)),
        fix(30, 0.0, speed(60.0)),
    ];
    let met = |rule: &crate::rules::rule::Rule| -> Vec<_> {
        replay(rule, &history, at(40)).iter().map(|episode| (episode.met, episode.end)).collect()
    };
    assert_eq!(met(&both), [(at(10), Some(at(20))), (at(30), None)]);
    // 1,800,000,000 s after 1970 is a Friday, 08:00 in UTC.
    let schedule = |weekdays| Schedule {
        weekdays,
        from: "08:00".parse().unwrap(),
        to: "08:01".parse().unwrap(),
        time_zone: None,
    };
    both.settings.schedule = Some(schedule(vec![Weekday::Friday]));
    assert_eq!(met(&both), [(at(10), Some(at(20))), (at(30), None)]);
    both.settings.schedule = Some(schedule(vec![Weekday::Thursday, Weekday::Saturday]));
    assert_eq!(met(&both), []);
}

#[test]
fn suspect_and_earlier_locations_are_ignored() {
    let mut above = rule(1, vec![level(Quantity::Speed, Crossing::Above, 90.0, None)], 0, 0);
    let mut wrong = fix(10, 0.0, speed(300.0));
    wrong.trust.suspect = true;
    let history = [fix(0, 0.0, speed(80.0)), wrong, fix(20, 0.0, speed(95.0)), fix(30, 0.0, speed(50.0))];
    assert_eq!(replay(&above, &history, at(40)).len(), 1);
    above.since = at(21);
    assert_eq!(replay(&above, &history, at(40)), []);
}
