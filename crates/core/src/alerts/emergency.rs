//! Emergencies: all steps of an emergency belong to one alert, from any network and in any order of arrival.

use crate::alerts::alert::Alert;
use crate::id::AlertId;
use crate::time::Timestamp;

/// The longest time between two steps of one emergency, in milliseconds. A step after a longer silence begins another
/// emergency, even if nobody cancelled the first.
const STEP_GAP_MAX_MS: i64 = 24 * 60 * 60 * 1000;

/// The effect of a step on an emergency. Steps with the same time are processed in the order of this enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// Somebody requested help.
    Declare,
    /// A confirmation, or a message while the emergency continues.
    Continue,
    /// The emergency is over.
    Cancel,
}

impl StepKind {
    /// Every kind, in their order.
    pub const ALL: [Self; 3] = [Self::Declare, Self::Continue, Self::Cancel];

    /// Its name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Declare => "declare",
            Self::Continue => "continue",
            Self::Cancel => "cancel",
        }
    }
}

/// A step that a message reports, with the alert that it raises if its emergency has none.
#[derive(Clone, Debug, PartialEq)]
pub struct EmergencyStep {
    /// Whether it begins, continues or ends the emergency.
    pub kind: StepKind,
    /// Its time is that of the step.
    pub alert: Alert,
}

/// A step of an emergency of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it happened, by the device's clock.
    pub time: Timestamp,
    /// Whether it begins, continues or ends the emergency.
    pub kind: StepKind,
    /// The alert that it was assigned to before, and when a user or a cancellation ended that alert.
    pub alert: Option<(AlertId, Option<Timestamp>)>,
}

/// One emergency: the steps from a request for help to its cancellation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emergency {
    /// The alert of the emergency; `None` if none was raised yet.
    pub alert: Option<AlertId>,
    /// Its steps in order of time, the cancellation included.
    pub steps: Vec<Step>,
    /// When it was cancelled.
    pub end: Option<Timestamp>,
}

/// Sorts the steps of a device by time and divides them into emergencies. A cancellation without an emergency is
/// ignored.
pub fn emergencies(mut steps: Vec<Step>) -> Vec<Emergency> {
    steps.sort_by_key(|step| (step.time, step.kind));
    let mut found: Vec<Emergency> = Vec::new();
    for step in steps {
        let open = found.last_mut().filter(|last| last.end.is_none());
        match (step.kind, open) {
            (StepKind::Cancel, Some(open)) => {
                open.end = Some(step.time);
                open.steps.push(step);
            }
            (StepKind::Cancel, None) => {}
            (_, Some(open)) if open.continues_with(&step) => open.steps.push(step),
            _ => found.push(Emergency { alert: None, steps: vec![step], end: None }),
        }
    }
    let mut used = Vec::new();
    for emergency in &mut found {
        let known = emergency.steps.iter().filter_map(|step| Some(step.alert?.0));
        emergency.alert = known.into_iter().find(|alert| !used.contains(alert));
        used.extend(emergency.alert);
    }
    found
}

impl Emergency {
    /// Whether a later step belongs to it. After a user ended its alert, a new request for help is a new emergency.
    fn continues_with(&self, step: &Step) -> bool {
        let last = self.steps.last().map_or(step.time, |last| last.time);
        let is_near = step.time.as_millis() - last.as_millis() <= STEP_GAP_MAX_MS;
        let ended = self.steps.iter().filter_map(|step| step.alert?.1).min();
        let is_new = step.kind == StepKind::Declare && ended.is_some_and(|ended| step.time > ended);
        is_near && !is_new
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR_S: i64 = 3_600;

    fn step(seconds: i64, kind: StepKind) -> Step {
        Step { time: Timestamp::from_millis(1_700_000_000_000).plus_seconds(seconds), kind, alert: None }
    }

    /// Number of steps and end of each emergency, in seconds.
    fn shape(steps: &[Step]) -> Vec<(usize, Option<i64>)> {
        let seconds = |time: Timestamp| time.as_seconds() - 1_700_000_000;
        let found = emergencies(steps.to_vec());
        found.iter().map(|emergency| (emergency.steps.len(), emergency.end.map(seconds))).collect()
    }

    #[test]
    fn steps_are_divided() {
        use StepKind::{Cancel, Continue, Declare};
        let check = |steps: &[(i64, StepKind)], expect: &[(usize, Option<i64>)]| {
            let steps: Vec<Step> = steps.iter().map(|(seconds, kind)| step(*seconds, *kind)).collect();
            assert_eq!(shape(&steps), expect, "{steps:?}");
        };
        check(&[(0, Declare), (60, Continue), (90, Declare), (600, Cancel)], &[(4, Some(600))]);
        check(&[(600, Cancel)], &[]);
        check(&[(0, Declare), (0, Cancel)], &[(2, Some(0))]);
        check(&[(0, Declare), (5, Cancel), (6, Cancel), (9, Declare)], &[(2, Some(5)), (1, None)]);
        check(&[(0, Continue), (24 * HOUR_S, Continue)], &[(2, None)]);
        check(&[(0, Declare), (24 * HOUR_S + 1, Continue)], &[(1, None), (1, None)]);
        check(&[(0, Declare), (72 * HOUR_S, Cancel)], &[(2, Some(72 * HOUR_S))]);
    }

    #[test]
    fn a_request_after_a_user_ended_the_alert_is_new() {
        let (first, ended) = (AlertId::from_i64(1), step(100, StepKind::Declare).time);
        let begun = Step { alert: Some((first, Some(ended))), ..step(0, StepKind::Declare) };
        let again = emergencies(vec![begun, step(101, StepKind::Declare)]);
        assert_eq!(again.iter().map(|each| each.alert).collect::<Vec<_>>(), [Some(first), None]);
        for goes_on in [step(101, StepKind::Continue), step(99, StepKind::Declare)] {
            assert_eq!(emergencies(vec![begun, goes_on]).len(), 1);
        }
    }

    #[test]
    fn an_alert_belongs_to_one_emergency() {
        let alert = Some((AlertId::from_i64(1), None));
        let begun = |seconds| Step { alert, ..step(seconds, StepKind::Declare) };
        let split = emergencies(vec![begun(0), begun(20), step(10, StepKind::Cancel)]);
        assert_eq!(
            split.iter().map(|each| (each.alert.is_some(), each.end.is_some())).collect::<Vec<_>>(),
            [(true, true), (false, false)]
        );
    }

    proptest! {
        #[test]
        fn the_order_of_arrival_changes_nothing(
            steps in prop::collection::vec((0_i64..200_000, 0_usize..3), 0..20)
                .prop_map(|steps| steps.into_iter().map(|(at, kind)| step(at, StepKind::ALL[kind])).collect::<Vec<_>>())
                .prop_flat_map(|steps| (Just(steps.clone()), Just(steps).prop_shuffle())),
        ) {
            prop_assert_eq!(emergencies(steps.0), emergencies(steps.1));
        }
    }
}
