//! The number of geofence tests if many rules use the same geofences.

use super::support::{at, circle, fix, rule};
use crate::id::{AccountId, GeofenceId};
use crate::locations::geofence::{Geofence, GeofenceSettings};
use crate::locations::location::Readings;
use crate::revision::Revision;
use crate::rules::rule::{Condition, Evaluator, FenceChange, Rule, RuleSet, Trail};
use crate::time::Timestamp;

const RULES: i64 = 300;
const FENCES: i64 = 50;

fn fence(id: i64) -> Geofence {
    Geofence {
        id: GeofenceId::from_i64(id),
        account: AccountId::from_i64(1),
        revision: Revision::FIRST,
        settings: GeofenceSettings { name: "fence".into(), description: None, shape: circle() },
        creation: Timestamp::MIN,
        last_modified: Timestamp::MIN,
    }
}

fn inside(id: i64, geofences: impl Iterator<Item = i64>) -> Rule {
    let geofences = geofences.map(GeofenceId::from_i64).collect();
    rule(id, vec![Condition::Fence { change: FenceChange::Inside, geofences }], 0, 0)
}

#[test]
fn a_geofence_is_tested_once_for_each_location_whatever_the_number_of_rules() {
    let rules = (1..=RULES).map(|id| inside(id, 1..=FENCES)).collect();
    let fences: Vec<Geofence> = (1..=FENCES + 20).map(fence).collect();
    let set = RuleSet::new(1, rules, &fences);
    let rules = set.location_rules_of(crate::id::DeviceId::from_i64(1), &[]);
    let locations = [fix(0, 0.0, Readings::default()), fix(1, 1.0, Readings::default())];
    let start = Trail::default().start(&rules, &[at(0), at(1)], at(2));
    let mut evaluator = Evaluator::new(rules, set.fences().clone(), start);
    for stored in locations {
        evaluator.push(stored);
    }
    let touched = evaluator.finish(at(2)).touched;
    assert_eq!(touched.len(), usize::try_from(RULES).unwrap(), "each rule holds");
    let expect = u64::try_from(FENCES).unwrap() * 2;
    assert_eq!(set.fences().checks(), expect, "one test for each location and geofence of the rules");
}

#[test]
fn each_condition_looks_at_its_own_geofences() {
    let far = 40.0;
    let mut near = inside(1, 1..=1);
    near.settings.conditions.push(Condition::Route { geofences: vec![GeofenceId::from_i64(70)] });
    let set = RuleSet::new(1, vec![near, inside(2, 2..=3), inside(3, 70..=70)], &[fence(1), fence(70)]);
    let rules = set.location_rules_of(crate::id::DeviceId::from_i64(1), &[]);
    let start = Trail::default().start(&rules, &[at(0)], at(2));
    let mut evaluator = Evaluator::new(rules, set.fences().clone(), start);
    evaluator.push(fix(0, 0.0, Readings::default()));
    evaluator.push(fix(1, far, Readings::default()));
    let touched = evaluator.finish(at(2)).touched;
    let rules: Vec<i64> = touched.iter().map(|touched| touched.rule.as_i64()).collect();
    assert_eq!(rules, [3], "1 has two conditions of which one is never true, the fences of 2 were deleted");
}

/// Locations of one time are evaluated together, and still one by one when the steps are few.
#[test]
fn an_evaluation_stops_when_its_steps_are_used_and_goes_on_where_it_stopped() {
    let rule = inside(1, 1..=FENCES);
    let fences: Vec<Geofence> = (1..=FENCES).map(fence).collect();
    let set = RuleSet::new(1, vec![rule], &fences);
    let locations: Vec<_> = (0..10)
        .map(|number| fix(number / 5, f64::from(u8::try_from(number).unwrap()) * 2.0, Readings::default()))
        .collect();
    let new_evaluator = || {
        let rules = set.location_rules_of(crate::id::DeviceId::from_i64(1), &[]);
        let start = Trail::default().start(&rules, &[at(0), at(1)], at(2));
        Evaluator::new(rules, set.fences().clone(), start)
    };
    let mut whole = new_evaluator();
    for stored in locations.clone() {
        whole.push(stored);
    }
    let whole = whole.finish(at(2)).touched;
    let checks_at_once = set.fences().checks();

    let (mut evaluator, mut part) = (new_evaluator(), locations.into_iter());
    let mut checks = Vec::new();
    loop {
        let before = set.fences().checks();
        let used = evaluator.advance_to_end(&mut part, 1);
        checks.push(set.fences().checks() - before);
        if used == 0 {
            break;
        }
    }
    let each = u64::try_from(FENCES).unwrap();
    assert!(checks.iter().all(|checks| *checks <= each), "one location at a time: {checks:?}");
    assert_eq!(checks.iter().sum::<u64>(), checks_at_once);
    assert_eq!(evaluator.finish(at(2)).touched, whole);
}
