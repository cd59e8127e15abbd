//! Tests of where an evaluation starts.

use std::sync::Arc;

use super::support::{at, rule};
use crate::rules::rule::{Condition, Progress, Rule, Snapshot, Trail};
use crate::time::Timestamp;

const DAY_S: i64 = 86_400;

fn sos(id: i64) -> Rule {
    rule(id, vec![Condition::Sos], 0, 0)
}

/// The state of a rule that evaluated a device from the beginning until an instant.
fn known(rule: &Rule, seconds: i64) -> Snapshot {
    let progress = Progress { at: at(seconds), ..Progress::blank(rule, at(0)) };
    Snapshot {
        at: at(seconds),
        position: None,
        last_checkpoint: None,
        since_checkpoint: 1,
        progresses: vec![progress],
    }
}

fn trail(current: Snapshot, checkpoints: Vec<Snapshot>) -> Trail {
    Trail { current: Some(Arc::new(current)), checkpoints }
}

/// The state of a rule that starts must be stored at once, or a crash would lose it.
#[test]
fn the_start_of_a_rule_is_reported() {
    let (old, new) = (sos(1), sos(2));
    let changed = Rule { generation: 2, ..old.clone() };
    let began = |rules: &[&Rule]| trail(known(&old, 10), Vec::new()).start(rules, &[at(11)], at(12)).began;
    assert!(!began(&[&old]));
    assert!(began(&[&old, &new]));
    assert!(began(&[&changed]));
}

#[test]
fn a_rule_that_begins_without_a_location_starts_now() {
    let (old, new) = (sos(1), sos(2));
    let start = trail(known(&old, 10), Vec::new()).start(&[&old, &new], &[], at(500));
    assert_eq!(start.progresses[1].at, at(500).plus_millis(-1));
    let late = Trail::default().start(&[&new], &[], at(500));
    let snapshot = Snapshot { progresses: late.progresses, ..known(&old, 500) };
    let late = trail(snapshot, Vec::new()).start(&[&new], &[at(490)], at(501));
    assert_eq!((late.progresses[0].at, late.late[0]), (at(490).plus_millis(-1), true), "and yet looks back");
}

#[test]
fn one_that_is_too_old_does_not_hide_those_that_are_late() {
    let rule = sos(1);
    let start = |times: &[Timestamp]| {
        trail(known(&rule, 30 * DAY_S), vec![known(&rule, 24 * DAY_S)]).start(&[&rule], times, at(31 * DAY_S))
    };
    let (old, late, new) = (at(10 * DAY_S), at(27 * DAY_S), at(31 * DAY_S));
    let both = start(&[new, late, old]);
    assert_eq!((both.progresses[0].at, both.too_old), (at(24 * DAY_S), 1));
    assert_eq!((both.read_after, both.forget_from), (Some(at(24 * DAY_S)), Some(late)));
    let only_old = start(&[new, old]);
    assert_eq!((only_old.progresses[0].at, only_old.too_old), (at(30 * DAY_S), 1));
    assert_eq!((only_old.read_after, only_old.late[0]), (None, false));
}
