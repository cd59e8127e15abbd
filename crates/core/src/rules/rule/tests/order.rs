//! Locations in any order and in parts of any size give the episodes of the whole history.

use proptest::prelude::*;

use super::support::{FENCE, at, fences, fix, milli, replay, rule};
use crate::locations::location::{Readings, StoredLocation};
use crate::rules::rule::{
    Change, Checkpoint, Condition, Crossing, Episode, Evaluator, FenceChange, HarshManoeuvre, Level,
    Occurrence, Quantity, Rule, Tank, Trail, prunable_checkpoints, reconcile,
};
use crate::time::Timestamp;

/// The stored state of one rule and device, advanced as the rule engine does it.
#[derive(Default)]
struct IncrementalRun {
    history: Vec<StoredLocation>,
    trail: Trail,
    /// Occurrences that were not withdrawn.
    raised: Vec<Occurrence<usize>>,
    alerts: usize,
}

impl IncrementalRun {
    fn deliver(&mut self, rule: &Rule, part: &[StoredLocation], now: i64) {
        self.history.extend_from_slice(part);
        let mut times: Vec<_> = part.iter().map(|stored| stored.location.time).collect();
        times.sort_unstable();
        let start = self.trail.clone().start(&[rule], &times, Timestamp::MAX);
        let mut shown = match start.read_after {
            Some(after) => {
                self.history.iter().filter(|stored| stored.location.time > after).cloned().collect()
            }
            None => part.to_vec(),
        };
        shown.sort_by_key(|stored| (stored.location.time, stored.number));
        let fences = fences(rule);
        let mut evaluator = Evaluator::new(vec![rule], &fences, start);
        for stored in shown {
            evaluator.push(stored);
        }
        let evaluation = evaluator.finish(at(now));
        if let Some(from) = evaluation.forget_from {
            self.trail.checkpoints.retain(|checkpoint| checkpoint.at < from);
        }
        self.trail.checkpoints.extend(evaluation.checkpoints);
        let made: Vec<_> =
            self.trail.checkpoints.iter().map(|one| Checkpoint { at: one.at, made: one.at }).collect();
        let prunable = prunable_checkpoints(&made, evaluation.snapshot.at, at(now));
        self.trail.checkpoints.retain(|checkpoint| !prunable.contains(&checkpoint.at));
        self.trail.current = Some(evaluation.snapshot);
        for touched in evaluation.touched {
            let (settled, open): (Vec<_>, Vec<_>) =
                self.raised.drain(..).partition(|one| one.end.is_some_and(|end| end <= touched.from));
            let changes = reconcile(&open, &touched.episodes);
            self.raised = settled.into_iter().chain(open).collect();
            for change in changes {
                self.apply(change);
            }
        }
    }

    fn apply(&mut self, change: Change<usize>) {
        match change {
            Change::Raise(Episode { begin, met, end, .. }) => {
                self.raised.push(Occurrence { key: self.alerts, begin, met, end });
                self.alerts += 1;
            }
            Change::Move(key, Episode { begin, met, end, .. }) => {
                let moved = self.raised.iter_mut().find(|one| one.key == key).unwrap();
                *moved = Occurrence { key, begin, met, end };
            }
            Change::Withdraw(key) => self.raised.retain(|one| one.key != key),
        }
    }

    fn spans(&self) -> Vec<(i64, i64, Option<i64>)> {
        let seconds = |time: crate::time::Timestamp| (time.as_millis() - at(0).as_millis()) / 1000;
        let mut spans: Vec<_> = self
            .raised
            .iter()
            .map(|one| (seconds(one.begin), seconds(one.met), one.end.map(seconds)))
            .collect();
        spans.sort_unstable();
        spans
    }
}

fn spans_of(rule: &Rule, history: &[StoredLocation], now: i64) -> Vec<(i64, i64, Option<i64>)> {
    let seconds = |time: crate::time::Timestamp| (time.as_millis() - at(0).as_millis()) / 1000;
    let episodes = replay(rule, history, at(now));
    let mut spans: Vec<_> = episodes
        .iter()
        .map(|episode| (seconds(episode.begin), seconds(episode.met), episode.end.map(seconds)))
        .collect();
    spans.sort_unstable();
    spans
}

fn conditions() -> Vec<Vec<Condition>> {
    let speed = |clear| Condition::Measure {
        quantity: Quantity::Speed,
        level: Level { crossing: Crossing::Above, limit: 60.0, clear },
    };
    let fence = |change| Condition::Fence { change, geofences: vec![FENCE] };
    vec![
        vec![speed(None)],
        vec![speed(Some(40.0))],
        vec![fence(FenceChange::Enter)],
        vec![fence(FenceChange::Leave)],
        vec![fence(FenceChange::Inside), speed(Some(50.0))],
        vec![Condition::Idle { seconds: 30, speed_kmh: 20.0 }],
        vec![Condition::NoMovement { seconds: 40, radius_m: 200.0 }],
        vec![Condition::FuelJump { tank: Tank::First, crossing: Crossing::Below, by: 30.0, within_s: 60 }],
        vec![Condition::Harsh { jolt: HarshManoeuvre::Braking, kmh_per_s: 5.0 }],
    ]
}

/// Locations of which some share a time, and some lack values.
fn history() -> impl Strategy<Value = Vec<StoredLocation>> {
    let one = (0_i64..400, 0_u8..6, prop::option::of(0_u8..10), prop::option::of(0_u8..10));
    prop::collection::vec(one, 1..60).prop_map(|list| {
        let located = list.into_iter().enumerate().map(|(number, (seconds, east, speed, fuel))| {
            let readings = Readings {
                speed: speed.and_then(|speed| milli(f64::from(speed) * 10.0)),
                fuel: fuel.and_then(|fuel| milli(f64::from(fuel) * 10.0)),
                ..Readings::default()
            };
            let mut stored = fix(seconds, f64::from(east) * 4.0, readings);
            stored.number = i64::try_from(number).unwrap();
            stored
        });
        located.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_order_of_arrival_changes_nothing(
        (history, shuffled) in history().prop_flat_map(|history| (Just(history.clone()), Just(history).prop_shuffle())),
        cuts in prop::collection::vec(1_usize..8, 1..60),
        which in 0..conditions().len(),
        for_s in prop::sample::select(vec![0_u32, 25]),
        cool_down_s in prop::sample::select(vec![0_u32, 60]),
        // Within minutes, and over days with checkpoints on the way.
        stretch in prop::sample::select(vec![1_i64, 600]),
    ) {
        let stretched = |stored: &StoredLocation| {
            let mut stored = stored.clone();
            let since_ms = stored.location.time.as_millis() - at(0).as_millis();
            stored.location.time = at(0).plus_millis(since_ms * stretch);
            stored
        };
        let history: Vec<_> = history.iter().map(stretched).collect();
        let shuffled: Vec<_> = shuffled.iter().map(stretched).collect();
        let end = 1_000 * stretch;
        let rule = rule(1, conditions().swap_remove(which), for_s, cool_down_s);
        let expect = spans_of(&rule, &history, end);
        let mut run = IncrementalRun::default();
        let (mut rest, mut sizes) = (shuffled.as_slice(), cuts.iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            run.deliver(&rule, now, end);
            rest = later;
        }
        prop_assert_eq!(run.spans(), expect);
    }
}

/// A broken variant that ignores late locations.
#[test]
fn the_naive_way_is_caught() {
    let [speed, ..] = <[Vec<Condition>; 9]>::try_from(conditions()).unwrap();
    let rule = rule(1, speed, 0, 0);
    let kmh = |seconds, speed| fix(seconds, 0.0, Readings { speed: milli(speed), ..Readings::default() });
    let arrived = [kmh(0, 50.0), kmh(30, 50.0), kmh(10, 90.0), kmh(20, 50.0)];
    let expect = spans_of(&rule, &arrived, 1_000);
    assert_eq!(expect, [(10, 10, Some(20))]);
    let mut run = IncrementalRun::default();
    for stored in &arrived {
        run.deliver(&rule, std::slice::from_ref(stored), 1_000);
    }
    assert_eq!(run.spans(), expect);
    let mut naive = IncrementalRun::default();
    for stored in &arrived {
        // Evaluates only locations newer than all before, like a service without a trail.
        if naive.history.iter().all(|seen| seen.location.time < stored.location.time) {
            naive.deliver(&rule, std::slice::from_ref(stored), 1_000);
        }
    }
    assert_ne!(naive.spans(), expect, "what is late must not be passed over");
}

/// Small parts do not make more checkpoints than one large part.
#[test]
fn small_parts_make_no_more_checkpoints() {
    let rule = rule(1, conditions().swap_remove(0), 0, 0);
    let fences = fences(&rule);
    let (mut current, mut made) = (None, Vec::new());
    for seconds in 0..1_100 {
        let start =
            Trail { current, checkpoints: Vec::new() }.start(&[&rule], &[at(seconds)], Timestamp::MAX);
        let mut evaluator = Evaluator::new(vec![&rule], &fences, start);
        evaluator.push(fix(seconds, 0.0, Readings::default()));
        let evaluation = evaluator.finish(at(seconds));
        made.extend(evaluation.checkpoints.iter().map(|checkpoint| checkpoint.at));
        current = Some(evaluation.snapshot);
    }
    assert_eq!(made, [at(511), at(1_023)]);
}

#[test]
fn late_data_of_days_is_evaluated_from_a_checkpoint() {
    let rule = rule(1, conditions().swap_remove(0), 0, 0);
    let kmh = |seconds, speed| fix(seconds, 0.0, Readings { speed: milli(speed), ..Readings::default() });
    let mut run = IncrementalRun::default();
    let mut all = Vec::new();
    for minute in 0..20_000_i64 {
        let stored = kmh(minute * 60, if minute % 1_000 == 500 { 90.0 } else { 20.0 });
        run.deliver(&rule, std::slice::from_ref(&stored), minute * 60);
        all.push(stored);
    }
    assert!(run.trail.checkpoints.len() < 24, "{} checkpoints", run.trail.checkpoints.len());
    for minute in [19_999_i64, 19_990, 15_000, 11_000] {
        let late = kmh(minute * 60 + 30, 95.0);
        run.deliver(&rule, std::slice::from_ref(&late), 20_000 * 60);
        all.push(late);
        assert_eq!(run.spans(), spans_of(&rule, &all, 20_000 * 60), "minute {minute}");
    }
}
