//! Tests of deadlines, of the steps after a missed check-in, and of words; and a model in which clocks jump, nodes restart and
//! data comes late.

use std::str::FromStr as _;

use proptest::prelude::*;

use super::*;
use crate::id::{AccountId, AlertId, DeviceId, PlanId};
use crate::locations::location::{Latitude, Longitude};
use crate::revision::Revision;
use crate::time::Timestamp;
use crate::zone::Zone;

const MINUTE_MS: i64 = 60_000;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn at(minutes: i64) -> Timestamp {
    time("2026-05-01T08:00:00Z").plus_millis(minutes * MINUTE_MS)
}

fn settings() -> PlanSettings {
    PlanSettings {
        name: "Vigo to Horta".to_owned(),
        kind: PlanKind::Voyage,
        description: None,
        is_template: false,
        devices: vec![DeviceId::from_i64(7)],
        travellers: Vec::new(),
        notify: None,
        craft: None,
        waypoints: Vec::new(),
        start: None,
        starts_itself: false,
        expected_arrival: None,
        ends_at_destination: false,
        time_zone: None,
        check_ins: CheckInRules { every_minutes: Some(60), ..CheckInRules::default() },
        grace: Grace::default(),
        words: PlanWords::default(),
    }
}

fn plan(settings: PlanSettings) -> Plan {
    Plan {
        id: PlanId::from_i64(1),
        account: AccountId::from_i64(2),
        revision: Revision(1),
        settings,
        progress: Progress::default(),
        creation: at(0),
        last_modified: at(0),
    }
}

fn seen(minutes: i64) -> CheckIn {
    CheckIn {
        at: at(minutes),
        by: CheckInBy::Location,
        device: None,
        position: None,
        text: None,
        waypoint: None,
    }
}

fn started(settings: PlanSettings) -> Plan {
    let mut plan = plan(settings);
    assert_eq!(plan.act(PlanAction::Start, seen(0), at(0), &Zone::utc()), Ok(vec![Outcome::Started(None)]));
    plan
}

fn tick(plan: &mut Plan, minutes: i64) -> Vec<Outcome> {
    std::iter::from_fn(|| plan.tick(at(minutes), &Zone::utc())).collect()
}

fn next(plan: &Plan) -> Option<(i64, DeadlineKind)> {
    let deadline = plan.next_deadline(&Zone::utc())?;
    Some(((deadline.at.as_millis() - at(0).as_millis()) / MINUTE_MS, deadline.kind))
}

#[test]
fn times_of_day_follow_the_calendar() {
    let zone: Zone = "Europe/Madrid".parse().unwrap();
    let check = |base: &str, expected: &str| {
        let mut plan = plan(PlanSettings {
            check_ins: CheckInRules {
                times: vec![ClockTime::from_str("02:30").unwrap(), ClockTime::from_str("18:00").unwrap()],
                ..CheckInRules::default()
            },
            time_zone: Some(zone.clone()),
            ..settings()
        });
        plan.progress = Progress { state: PlanState::Active, base: Some(time(base)), ..Progress::default() };
        assert_eq!(plan.next_deadline(&Zone::utc()).unwrap().at, time(expected), "{base}");
    };
    check("2026-05-01T10:00:00Z", "2026-05-01T16:00:00Z");
    // An hour before 18:00 a check-in counts for it.
    check("2026-05-01T15:00:00Z", "2026-05-02T00:30:00Z");
    check("2026-05-01T14:59:00Z", "2026-05-01T16:00:00Z");
    // The clock skips 02:30 on the first night of summer time, and repeats it on its last.
    check("2026-03-28T20:00:00Z", "2026-03-29T01:30:00Z");
    check("2026-10-24T20:00:00Z", "2026-10-25T00:30:00Z");
    check("2026-10-25T00:31:00Z", "2026-10-25T17:00:00Z");
}

#[test]
fn the_earliest_deadline_counts() {
    let waypoint = |minutes: i64| Waypoint {
        name: None,
        position: (Latitude::from_degrees(42.0).unwrap(), Longitude::from_degrees(-8.0).unwrap()),
        time: Some(at(minutes)),
        radius_m: None,
    };
    let mut plan = started(PlanSettings {
        waypoints: vec![waypoint(100), waypoint(400)],
        expected_arrival: Some(at(600)),
        check_ins: CheckInRules { every_minutes: Some(300), ..CheckInRules::default() },
        ..settings()
    });
    assert_eq!(next(&plan), Some((100, DeadlineKind::Waypoint)));
    plan.check_in(CheckIn { by: CheckInBy::Waypoint, waypoint: Some(0), ..seen(30) }, at(30), &Zone::utc());
    assert_eq!(next(&plan), Some((330, DeadlineKind::Interval)));
    plan.check_in(seen(200), at(200), &Zone::utc());
    assert_eq!(next(&plan), Some((400, DeadlineKind::Waypoint)));
    plan.check_in(seen(590), at(590), &Zone::utc());
    assert_eq!(next(&plan), Some((600, DeadlineKind::Arrival)));
    // A check-in does not meet the arrival.
    assert_eq!(tick(&mut plan, 615), [Outcome::Missed]);
    assert_eq!(plan.check_in(seen(616), at(616), &Zone::utc()).len(), 1);
    let ended = plan.act(PlanAction::End, seen(617), at(617), &Zone::utc()).unwrap();
    assert!(matches!(ended.as_slice(), [Outcome::Resolved { is_withdrawn: false, .. }, Outcome::Ended(_)]));
}

#[test]
fn steps_follow_each_other_and_wait_their_delay() {
    let mut plan = started(settings());
    assert_eq!(plan.next_due(at(0), &Zone::utc()), Some(at(75)));
    assert_eq!(tick(&mut plan, 74), []);
    assert_eq!(tick(&mut plan, 75), [Outcome::Missed]);
    assert_eq!(tick(&mut plan, 89), []);
    assert_eq!(tick(&mut plan, 90), [Outcome::Warning]);
    assert_eq!(tick(&mut plan, 119), []);
    assert_eq!(tick(&mut plan, 120), [Outcome::Alarm]);
    assert_eq!(tick(&mut plan, 10_000), []);
    let outcomes = plan.check_in(seen(10_001), at(10_001), &Zone::utc());
    assert!(matches!(
        outcomes.as_slice(),
        [Outcome::CheckedIn(_), Outcome::Resolved { is_withdrawn: false, .. }]
    ));
    assert_eq!(next(&plan), Some((10_061, DeadlineKind::Interval)));

    // After an outage of hours the traveller is still asked first.
    let mut plan = started(settings());
    assert_eq!(tick(&mut plan, 300), [Outcome::Missed]);
    assert_eq!(tick(&mut plan, 314), []);
    assert_eq!(tick(&mut plan, 315), [Outcome::Warning]);
    assert_eq!(tick(&mut plan, 345), [Outcome::Alarm]);
}

#[test]
fn late_data_withdraws_what_was_never_missed() {
    let mut plan = started(settings());
    assert_eq!(tick(&mut plan, 75), [Outcome::Missed]);
    assert_eq!(tick(&mut plan, 90), [Outcome::Warning]);
    let outcomes = plan.check_in(seen(55), at(95), &Zone::utc());
    assert!(matches!(
        outcomes.as_slice(),
        [Outcome::CheckedIn(_), Outcome::Resolved { is_withdrawn: true, .. }]
    ));
    assert_eq!(next(&plan), Some((115, DeadlineKind::Interval)));
    assert_eq!(tick(&mut plan, 130), [Outcome::Missed]);
    // A sign of life after which the next check-in would be missed too changes nothing: it is the same emergency.
    let outcomes = plan.check_in(seen(56), at(140), &Zone::utc());
    assert!(matches!(outcomes.as_slice(), [Outcome::CheckedIn(_)]));
    assert_eq!(plan.progress.state, PlanState::Overdue);
}

#[test]
fn the_usual_delay_of_the_network_is_added() {
    let mut plan = started(settings());
    plan.progress.usual_delay_s = 600;
    assert_eq!(tick(&mut plan, 84), []);
    assert_eq!(tick(&mut plan, 85), [Outcome::Missed]);
}

#[test]
fn plans_are_paused_extended_and_started_again() {
    let zone = Zone::utc();
    let mut plan = started(PlanSettings { expected_arrival: Some(at(500)), ..settings() });
    plan.act(PlanAction::Pause(Some(120)), seen(10), at(10), &zone).unwrap();
    assert_eq!((next(&plan), tick(&mut plan, 129)), (None, vec![]));
    assert_eq!(tick(&mut plan, 130), [Outcome::Resumed]);
    assert_eq!(next(&plan), Some((190, DeadlineKind::Interval)));
    plan.act(PlanAction::Extend(60), seen(140), at(140), &zone).unwrap();
    assert_eq!(next(&plan), Some((250, DeadlineKind::Interval)));
    assert_eq!(plan.settings.expected_arrival, Some(at(560)));
    assert_eq!(tick(&mut plan, 265), [Outcome::Missed]);
    plan.act(PlanAction::Extend(60), seen(266), at(266), &zone).unwrap();
    assert_eq!((plan.progress.state, next(&plan)), (PlanState::Active, Some((326, DeadlineKind::Interval))));
    let refused = plan.act(PlanAction::Start, seen(270), at(270), &zone);
    assert_eq!(refused, Err(RefusedAction::State(PlanState::Active)));
    plan.act(PlanAction::Cancel, seen(270), at(270), &zone).unwrap();
    plan.act(PlanAction::Start, seen(280), at(280), &zone).unwrap();
    assert_eq!(next(&plan), Some((340, DeadlineKind::Interval)));
    plan.act(PlanAction::End, seen(290), at(290), &zone).unwrap();
    let refused = plan.act(PlanAction::Start, seen(9_000), at(9_000), &zone);
    assert_eq!(refused, Err(RefusedAction::ArrivalPassed));
    plan.settings.is_template = true;
    assert_eq!(plan.act(PlanAction::Start, seen(291), at(291), &zone), Err(RefusedAction::Template));
}

#[test]
fn words_steer_a_plan() {
    let own = PlanWords { end: Some(vec!["Back home".to_owned()]), ..PlanWords::default() };
    for (text, words, order) in [
        ("OK", &PlanWords::default(), Some(Order::CheckIn)),
        ("ok, all fine", &PlanWords::default(), Some(Order::CheckIn)),
        ("okra for dinner", &PlanWords::default(), None),
        ("End.", &PlanWords::default(), Some(Order::End)),
        ("the end is near", &PlanWords::default(), None),
        ("end of the bay reached", &PlanWords::default(), None),
        ("Verlängern 2 Stunden", &PlanWords::default(), Some(Order::Extend(120))),
        ("extend", &PlanWords::default(), Some(Order::Extend(60))),
        ("EXTEND 1h30", &PlanWords::default(), Some(Order::Extend(90))),
        ("extend 1:15", &PlanWords::default(), Some(Order::Extend(75))),
        ("extend 90 min", &PlanWords::default(), Some(Order::Extend(90))),
        ("extend 400 d", &PlanWords::default(), None),
        ("extend the sail", &PlanWords::default(), None),
        ("pause", &PlanWords::default(), Some(Order::Pause(None))),
        ("Pausa 30m", &PlanWords::default(), Some(Order::Pause(Some(30)))),
        ("weiter", &PlanWords::default(), Some(Order::Resume)),
        ("back home!", &own, Some(Order::End)),
        ("end", &own, None),
        ("", &own, None),
    ] {
        assert_eq!(read_order(text, words), order, "{text}");
    }
}

/// What happens in the model.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Time passes, in minutes.
    Wait(u8),
    /// The clock is set ahead or back by an hour.
    Jump(bool),
    /// The device takes a fix now, which arrives this many minutes later.
    Fix(u8),
    /// A worker examines the plan, perhaps with what it read before another one stored its result.
    Work { is_stale: bool },
}

/// A fix with the minute of its arrival, by the true clock.
struct World {
    minute: i64,
    /// How far the store's clock is ahead, in minutes.
    ahead: i64,
    fixes: Vec<(i64, i64)>,
    stored: Plan,
    /// What a slow worker read.
    stale: Plan,
    log: Vec<Outcome>,
}

impl World {
    fn now(&self) -> i64 {
        self.minute + self.ahead
    }

    /// What the store does to waiting times when the clock is set back.
    fn shorten_waits(&mut self) {
        let now = at(self.now());
        let progress = &mut self.stored.progress;
        for time in
            [&mut progress.base, &mut progress.not_before, &mut progress.paused_until, &mut progress.step_at]
        {
            if let Some(time) = time.as_mut().filter(|time| **time > now) {
                *time = time.plus_millis(-60 * MINUTE_MS);
            }
        }
    }

    /// A turn of a worker. It reads the plan in its transaction, so that a second worker sees the result of the first; the
    /// broken one works on what it read before.
    fn work(&mut self, is_stale: bool) {
        let source = if is_stale { &self.stale } else { &self.stored };
        // Every turn begins with what was stored, as after a restart.
        let mut plan: Plan = serde_json::from_str(&serde_json::to_string(source).unwrap()).unwrap();
        let now = at(self.now());
        let mut arrived: Vec<i64> =
            self.fixes.iter().filter(|fix| fix.1 <= self.minute).map(|fix| fix.0).collect();
        arrived.sort_unstable();
        for fix in arrived.into_iter().filter(|fix| at(*fix) <= now) {
            self.log.extend(plan.check_in(seen(fix), now, &Zone::utc()));
        }
        while let Some(outcome) = plan.tick(now, &Zone::utc()) {
            self.log.push(outcome);
        }
        self.stale = std::mem::replace(&mut self.stored, plan);
    }
}

/// Runs a history, and says what is wrong with the alerts, if anything.
fn run(events: &[Event]) -> Result<(), String> {
    let plan = started(settings());
    let mut world =
        World { minute: 0, ahead: 0, fixes: Vec::new(), stale: plan.clone(), stored: plan, log: Vec::new() };
    for event in events {
        match *event {
            Event::Wait(minutes) => world.minute += i64::from(minutes),
            Event::Jump(true) => world.ahead += 60,
            Event::Jump(false) => {
                world.ahead -= 60;
                world.shorten_waits();
            }
            // Devices have clocks of their own.
            Event::Fix(delay) => world.fixes.push((world.minute, world.minute + i64::from(delay))),
            Event::Work { is_stale } => world.work(is_stale),
        }
    }
    let mut steps = 0;
    for outcome in &world.log {
        let expected = match outcome {
            Outcome::Missed => 0,
            Outcome::Warning => 1,
            Outcome::Alarm => 2,
            Outcome::Resolved { .. } if steps == 0 => return Err("an alert ended twice".to_owned()),
            Outcome::Resolved { .. } => {
                steps = 0;
                continue;
            }
            _ => continue,
        };
        if steps != expected {
            return Err(format!("{outcome:?} after {steps} steps"));
        }
        steps += 1;
    }
    Ok(())
}

fn events(stale: bool) -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (1_u8..40).prop_map(Event::Wait),
        1 => any::<bool>().prop_map(Event::Jump),
        2 => (0_u8..120).prop_map(Event::Fix),
        4 => any::<bool>().prop_map(move |is_stale| Event::Work { is_stale: stale && is_stale }),
    ];
    proptest::collection::vec(event, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Each missed check-in has each step once, however the clock jumps, whoever works and whatever comes late.
    #[test]
    fn each_step_is_taken_once(events in events(false)) {
        prop_assert_eq!(run(&events), Ok(()));
    }

    /// A fix whose time is in the interval, and that has arrived before the grace ended, prevents every alert.
    #[test]
    fn nothing_is_missed_while_fixes_arrive(gaps in proptest::collection::vec(1_i64..60, 1..60)) {
        let mut plan = started(settings());
        let mut minute = 0;
        for gap in gaps {
            minute += gap;
            let outcomes = plan.check_in(seen(minute), at(minute + 14), &Zone::utc());
            prop_assert_eq!(outcomes.len(), 1);
            prop_assert_eq!(tick(&mut plan, minute + 14), []);
        }
    }
}

#[test]
fn the_model_catches_a_worker_that_does_not_read_first() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let found = (0..2_000).any(|_| {
        let tree = events(true).new_tree(&mut runner).unwrap();
        run(&proptest::strategy::ValueTree::current(&tree)).is_err()
    });
    assert!(found, "workers with stale plans take steps twice, and nobody noticed");
}

#[test]
fn copies_move_with_their_start() {
    let original = PlanSettings {
        start: Some(at(0)),
        expected_arrival: Some(at(600)),
        starts_itself: true,
        ..settings()
    };
    let copy = original.copy(Some("Again".to_owned()), false, Some(at(1_440)));
    assert_eq!((copy.name.as_str(), copy.expected_arrival), ("Again", Some(at(2_040))));
    assert!(!original.copy(None, true, None).starts_itself);
    let missed = Missed {
        deadline: Deadline { at: at(1), kind: DeadlineKind::Time, waypoint: None },
        since: at(2),
        step: LadderStep::Alarm,
        alerts: vec![AlertId::from_i64(5)],
    };
    let progress = Progress { missed: Some(missed), ..Progress::default() };
    let text = serde_json::to_string(&progress).unwrap();
    assert_eq!(serde_json::from_str::<Progress>(&text).unwrap(), progress);
}
