//! Rules and locations to test with.

use crate::id::{AccountId, GeofenceId, RuleId};
use crate::locations::geofence::{Position, Shape};
use crate::locations::location::{Latitude, Location, Longitude, Milli, Readings, StoredLocation, Trust};
use crate::revision::Revision;
use crate::rules::rule::{Condition, Episode, Evaluator, Rule, RuleFences, RuleSettings, RuleTarget, Trail};
use crate::time::Timestamp;

pub(super) const FENCE: GeofenceId = GeofenceId::from_i64(1);

/// The instant this many seconds after the start.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000).plus_seconds(seconds)
}

pub(super) fn rule(id: i64, conditions: Vec<Condition>, for_s: u32, cool_down_s: u32) -> Rule {
    Rule {
        id: RuleId::from_i64(id),
        account: AccountId::from_i64(1),
        revision: Revision::FIRST,
        settings: RuleSettings {
            name: "rule".into(),
            description: None,
            enabled: true,
            target: RuleTarget { all: true, ..RuleTarget::default() },
            conditions,
            for_s,
            cool_down_s,
            max_accuracy_m: RuleSettings::MAX_ACCURACY_M,
            schedule: None,
            alert_name: None,
            text: None,
            critical: false,
            routing: crate::notifications::routing::AlertRouting::default(),
        },
        generation: 1,
        since: Timestamp::MIN,
        creation: Timestamp::MIN,
        last_modified: Timestamp::MIN,
    }
}

/// A location this many thousandths of a degree east of the geofence's centre.
pub(super) fn fix(seconds: i64, east: f64, readings: Readings) -> StoredLocation {
    StoredLocation {
        location: Location {
            time: at(seconds),
            latitude: Latitude::from_e7(0),
            longitude: Longitude::from_degrees(10.0 + east / 1_000.0).unwrap(),
            readings,
        },
        received_at: at(seconds),
        trust: Trust::default(),
        number: seconds,
    }
}

/// A value in thousandths.
#[expect(clippy::unnecessary_wraps, reason = "readings are optional")]
pub(super) fn milli(number: f64) -> Option<Milli> {
    Some(Milli::from_f64(number).unwrap())
}

/// One geofence: a circle with a radius of one kilometre.
pub(super) fn fences(rule: &Rule) -> RuleFences {
    RuleFences::new([rule], [(FENCE, &circle())])
}

/// A circle with a radius of one kilometre around the centre.
pub(super) fn circle() -> Shape {
    let centre =
        Position { latitude: Latitude::from_e7(0), longitude: Longitude::from_degrees(10.0).unwrap() };
    Shape::Circle { centre, radius_m: 1_000.0 }
}

/// The episodes of a whole history, in the order of time, up to an instant.
pub(super) fn replay(rule: &Rule, history: &[StoredLocation], now: Timestamp) -> Vec<Episode> {
    let fences = fences(rule);
    let mut history = history.to_vec();
    history.sort_by_key(|stored| (stored.location.time, stored.number));
    let times: Vec<Timestamp> = history.iter().map(|stored| stored.location.time).collect();
    let start = Trail::default().start(&[rule], &times, Timestamp::MAX);
    let mut evaluator = Evaluator::new(vec![rule], &fences, start);
    for stored in history {
        evaluator.push(stored);
    }
    evaluator.finish(now).touched.into_iter().flat_map(|touched| touched.episodes).collect()
}
