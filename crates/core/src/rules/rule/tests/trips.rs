//! Conditions about trips: a table for each, and the same episodes however the trips became known.

use proptest::prelude::*;

use super::support::{at, rule};
use crate::locations::location::{Latitude, Longitude};
use crate::rules::rule::{Change, Condition, Occurrence, Rule, Trip, TripCondition, TripContext, reconcile};
use crate::rules::schedule::{Schedule, Weekday};
use crate::time::Timestamp;

/// Begin, met and end, in seconds.
type Expected = (i64, i64, Option<i64>);

/// A trip between two seconds; one metre per second.
fn trip(from: i64, to: i64) -> Trip {
    let position = (Latitude::from_e7(0), Longitude::from_e7(0));
    Trip {
        from: at(from),
        to: at(to),
        is_open: false,
        distance_m: u64::try_from(to - from).unwrap(),
        purpose: None,
        has_driver: false,
        ends: (position, position),
    }
}

fn open(trip: Trip) -> Trip {
    Trip { is_open: true, ..trip }
}

fn about(conditions: &[TripCondition]) -> Rule {
    let conditions = conditions.iter().cloned().map(Condition::Trip).collect();
    Rule { since: Timestamp::MIN, ..rule(1, conditions, 0, 0) }
}

fn seconds(time: Timestamp) -> i64 {
    (time.as_millis() - at(0).as_millis()) / 1_000
}

#[track_caller]
fn check(conditions: &[TripCondition], trips: &[Trip], expect: &[Expected]) {
    let found = about(conditions).settings.trip_episodes(trips);
    let found: Vec<Expected> = found
        .iter()
        .map(|episode| (seconds(episode.begin), seconds(episode.met), episode.end.map(seconds)))
        .collect();
    assert_eq!(found, expect, "{conditions:?}");
}

#[test]
fn trips_longer_than_a_distance_or_a_time() {
    let trips = [trip(0, 100), trip(200, 301), open(trip(400, 600))];
    check(&[TripCondition::Distance { metres: 100 }], &trips, &[(200, 301, Some(301))]);
    check(&[TripCondition::Duration { seconds: 100 }], &trips, &[(200, 300, Some(301)), (400, 500, None)]);
    let both = [TripCondition::Duration { seconds: 50 }, TripCondition::Distance { metres: 100 }];
    check(&both, &trips, &[(200, 301, Some(301))]);
}

#[test]
fn trips_by_purpose_and_driver() {
    let private = Trip { purpose: Some("Private".to_owned()), ..trip(0, 100) };
    let known = Trip { has_driver: true, ..trip(200, 300) };
    let trips = [private, known, open(trip(400, 500))];
    let purpose = TripCondition::Purpose { purpose: "private".to_owned() };
    check(std::slice::from_ref(&purpose), &trips, &[(0, 0, Some(100))]);
    check(&[TripCondition::NoDriver], &trips, &[(0, 100, Some(100))]);
    check(&[purpose, TripCondition::NoDriver], &trips, &[(0, 100, Some(100))]);
}

#[test]
fn trips_outside_of_working_hours() {
    let mut rule = about(&[TripCondition::OutsideHours]);
    let day = 86_400_000;
    let midnight = Timestamp::from_millis(at(0).as_millis().div_euclid(day) * day);
    let hour = |hour: i64| seconds(midnight.plus_millis(hour * 3_600_000));
    rule.settings.schedule = Some(Schedule {
        weekdays: Weekday::ALL.to_vec(),
        from: "08:00".parse().unwrap(),
        to: "18:00".parse().unwrap(),
        time_zone: Some("UTC".parse().unwrap()),
    });
    let trips = [trip(hour(7), hour(9)), trip(hour(10), hour(18)), open(trip(hour(19) - 7_200, hour(20)))];
    let found: Vec<i64> =
        rule.settings.trip_episodes(&trips).iter().map(|episode| seconds(episode.met)).collect();
    assert_eq!(found, [hour(7), hour(18)], "the end of the hours does not belong to them");
    rule.settings.schedule = None;
    assert_eq!(rule.settings.trip_episodes(&trips), []);
}

#[test]
fn driving_goes_on_until_a_break() {
    let driving = [TripCondition::Driving { seconds: 200, break_s: 60 }];
    check(&driving, &[trip(0, 100), trip(150, 240)], &[]);
    check(&driving, &[trip(0, 100), trip(150, 260)], &[(0, 250, Some(260))]);
    check(&driving, &[trip(0, 100), trip(160, 400)], &[(160, 360, Some(400))]);
    check(&driving, &[trip(0, 201)], &[(0, 200, Some(201))]);
    let goes_on = [trip(0, 100), trip(150, 260), trip(300, 900), open(trip(959, 999))];
    check(&driving, &goes_on, &[(0, 250, None)]);
}

/// Long after every trip, and with nothing too old.
fn context() -> TripContext {
    TripContext { now: at(1_000_000), created: Timestamp::MIN, settled: Timestamp::MIN }
}

#[test]
fn times_without_a_trip_are_longer_than_the_limit() {
    let rule = about(&[TripCondition::NoTrip { seconds: 100 }]);
    let trips = [trip(50, 100), trip(200, 300), open(trip(401, 450))];
    let found = |since: i64, until: i64| -> Vec<Expected> {
        let found = rule.settings.absences(&trips, at(since), at(until));
        found.iter().map(|one| (seconds(one.begin), seconds(one.met), one.end.map(seconds))).collect()
    };
    assert_eq!(found(0, 500), [(300, 400, Some(401))], "a pause as long as the limit is not longer");
    assert_eq!(found(0, 550), [(300, 400, Some(401)), (450, 550, None)], "the last one goes on");
    assert_eq!(found(-60, 500), [(-60, 40, Some(50)), (300, 400, Some(401))]);
    assert_eq!(found(420, 560), [(450, 550, None)]);
    assert_eq!(found(480, 580), [(480, 580, None)], "what was before the rule does not count");
    let never = rule.settings.absences(&[], at(0), at(100));
    assert_eq!((never.len(), never[0].begin, never[0].end), (1, at(0), None));
}

#[test]
fn a_time_without_a_trip_begins_with_the_rule_and_the_device() {
    let rule = Rule { since: at(50), ..about(&[TripCondition::NoTrip { seconds: 100 }]) };
    let due = |last: Option<i64>, created: i64| rule.no_trip_due(last.map(at), at(created)).map(seconds);
    assert_eq!(due(None, 0), Some(150));
    assert_eq!(due(Some(20), 0), Some(150));
    assert_eq!(due(Some(70), 0), Some(170));
    assert_eq!(due(Some(70), 90), Some(190));
    assert_eq!(about(&[TripCondition::NoDriver]).no_trip_due(None, at(0)), None);
}

#[test]
fn a_clock_that_is_set_back_keeps_an_announced_absence() {
    let rule = about(&[TripCondition::NoTrip { seconds: 100 }]);
    let trips = [trip(0, 50)];
    let mut kept = Kept::default();
    let look = |kept: &mut Kept, now: i64| {
        let now = TripContext { now: at(now), created: at(0), ..context() };
        kept.apply(rule.reconcile_trips(&kept.known, &trips, at(200), &now));
    };
    look(&mut kept, 149);
    assert_eq!(kept.spans(), []);
    look(&mut kept, 150);
    assert_eq!(kept.spans(), [(at(50), at(150), None)]);
    look(&mut kept, 100);
    look(&mut kept, 4_000);
    assert_eq!((kept.spans(), kept.raised), (vec![(at(50), at(150), None)], 1));
}

/// Raised episodes by their keys, as a store keeps them.
#[derive(Default)]
struct Kept {
    known: Vec<Occurrence<usize>>,
    raised: usize,
}

impl Kept {
    fn apply(&mut self, changes: Vec<Change<usize>>) {
        for change in changes {
            match change {
                Change::Raise(episode) => {
                    let (begin, met, end) = (episode.begin, episode.met, episode.end);
                    self.known.push(Occurrence { key: self.raised, begin, met, end });
                    self.raised += 1;
                }
                Change::Move(key, episode) => {
                    for one in self.known.iter_mut().filter(|one| one.key == key) {
                        (one.begin, one.met, one.end) = (episode.begin, episode.met, episode.end);
                    }
                }
                Change::Withdraw(key) => self.known.retain(|one| one.key != key),
            }
        }
    }

    fn spans(&self) -> Vec<(Timestamp, Timestamp, Option<Timestamp>)> {
        let mut spans: Vec<_> = self.known.iter().map(|one| (one.begin, one.met, one.end)).collect();
        spans.sort_unstable();
        spans
    }
}

/// The first instant from which two lists of trips differ.
fn first_difference(before: &[Trip], after: &[Trip]) -> Option<Timestamp> {
    let differs = |one: &&Trip, others: &[Trip]| !others.contains(one);
    let mut changed: Vec<Timestamp> =
        before.iter().filter(|one| differs(one, after)).map(|one| one.from).collect();
    changed.extend(after.iter().filter(|one| differs(one, before)).map(|one| one.from));
    changed.into_iter().min()
}

/// How a change of trips reaches the occurrences. The second variant, which compares only what follows the change, is wrong:
/// trips before it can belong to the same driving time.
type Compare = fn(&Rule, &[Occurrence<usize>], &[Trip], Timestamp) -> Vec<Change<usize>>;

fn by_window(
    rule: &Rule,
    known: &[Occurrence<usize>],
    trips: &[Trip],
    from: Timestamp,
) -> Vec<Change<usize>> {
    rule.reconcile_trips(known, trips, from, &context())
}

fn without_window(
    rule: &Rule,
    known: &[Occurrence<usize>],
    trips: &[Trip],
    from: Timestamp,
) -> Vec<Change<usize>> {
    let is_later = |end: Option<Timestamp>| end.is_none_or(|end| end > from);
    let known: Vec<_> = known.iter().filter(|one| is_later(one.end)).copied().collect();
    let later: Vec<Trip> = trips.iter().filter(|trip| trip.to > from).cloned().collect();
    reconcile(&known, &rule.settings.trip_episodes(&later))
}

/// Lets the trips of a history become known in this order, and returns whether the occurrences are those of the whole.
fn same_in_the_end(rule: &Rule, trips: &[Trip], order: &[usize], compare: Compare) -> bool {
    let (mut kept, mut present, mut seen) = (Kept::default(), Vec::new(), Vec::new());
    for index in order {
        seen.push(*index);
        seen.sort_unstable();
        let mut next: Vec<Trip> = seen.iter().map(|at| trips[*at].clone()).collect();
        if let Some(last) = next.last_mut() {
            last.is_open = true;
        }
        if let Some(from) = first_difference(&present, &next) {
            kept.apply(compare(rule, &kept.known, &next, from));
            // After a restart or on another node, the same change is evaluated again, and finds nothing to do.
            let again = compare(rule, &kept.known, &next, from);
            kept.apply(again);
        }
        present = next;
    }
    let mut whole = Kept::default();
    whole.apply(rule.reconcile_trips(&[], &present, Timestamp::MIN, &context()));
    kept.spans() == whole.spans()
}

/// Trips of up to 100 s with pauses of up to 100 s, and an order in which they become known.
fn histories() -> impl Strategy<Value = (Vec<Trip>, Vec<usize>)> {
    let legs = proptest::collection::vec((1_i64..100, 1_i64..100, any::<bool>()), 1..12);
    let trips = legs.prop_map(|legs| {
        let mut now = 0;
        let leg = |(pause, length, is_private): (i64, i64, bool)| {
            now += pause;
            let made = trip(now, now + length);
            now += length;
            Trip { purpose: is_private.then(|| "private".to_owned()), has_driver: is_private, ..made }
        };
        legs.into_iter().map(leg).collect::<Vec<_>>()
    });
    trips.prop_flat_map(|trips| {
        let order: Vec<usize> = (0..trips.len()).collect();
        (Just(trips), Just(order).prop_shuffle())
    })
}

fn rules() -> Vec<Rule> {
    [
        TripCondition::Distance { metres: 50 },
        TripCondition::Duration { seconds: 40 },
        TripCondition::Purpose { purpose: "private".to_owned() },
        TripCondition::NoDriver,
        TripCondition::Driving { seconds: 120, break_s: 50 },
        TripCondition::NoTrip { seconds: 40 },
    ]
    .into_iter()
    .map(|condition| about(&[condition]))
    .collect()
}

proptest! {
    #[test]
    fn any_order_of_arrival_raises_the_same_episodes((trips, order) in histories()) {
        for rule in rules() {
            prop_assert!(same_in_the_end(&rule, &trips, &order, by_window), "{:?}", rule.settings.conditions);
        }
    }
}

#[test]
fn a_comparison_that_depends_on_the_order_is_caught() {
    let driving = about(&[TripCondition::Driving { seconds: 120, break_s: 50 }]);
    let trips = [trip(0, 90), trip(100, 190), trip(200, 290)];
    assert!(same_in_the_end(&driving, &trips, &[0, 2, 1], by_window));
    assert!(!same_in_the_end(&driving, &trips, &[0, 2, 1], without_window));
}
