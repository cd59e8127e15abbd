//! Escalation: who is notified next of a critical alert that nobody acknowledges, and when.

use serde::{Deserialize, Serialize};

use crate::notifications::routing::{Recipient, RoutedContacts, RoutedUser};
use crate::time::Timestamp;

/// Steps that follow one after the other until somebody acknowledges the alert or a user ends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalation {
    /// The steps, by their minutes; at least one.
    pub steps: Vec<EscalationStep>,
    /// How the recipients of all steps are notified again after the last one; `None` for no repetition.
    pub repeat: Option<EscalationRepeat>,
}

/// Recipients who are notified if the alert is still not acknowledged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationStep {
    /// Minutes after the alert was received.
    pub after_minutes: u32,
    /// Recipients by address.
    pub recipients: Vec<Recipient>,
    /// Users of the account to notify.
    pub users: Vec<RoutedUser>,
    /// Contact groups to notify.
    pub contact_groups: Vec<RoutedContacts>,
}

/// Repeated notification of all steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationRepeat {
    /// Minutes from the last step to the first round, and between two rounds.
    pub every_minutes: u32,
    /// Maximum number of rounds.
    pub times: u32,
}

impl Escalation {
    /// Maximum number of steps of an escalation.
    pub const STEPS_MAX: usize = 10;
    /// The longest wait for a step or between two rounds, in minutes: a day.
    pub const MINUTES_MAX: u32 = 1_440;
    /// Maximum number of rounds that notify everybody again.
    pub const TIMES_MAX: u32 = 50;

    /// When turn `turn` is due, for an alert received at `start`. Turns count from 0: first the steps, then the
    /// rounds that notify everybody again; `None` after the last of them.
    pub fn due(&self, turn: u32, start: Timestamp) -> Option<Timestamp> {
        let index = usize::try_from(turn).unwrap_or(usize::MAX);
        if let Some(step) = self.steps.get(index) {
            return Some(start.plus_seconds(60 * i64::from(step.after_minutes)));
        }
        let last = self.steps.last()?;
        let round = turn.saturating_sub(u32::try_from(self.steps.len()).unwrap_or(u32::MAX)) + 1;
        let repeat = self.repeat.filter(|repeat| round <= repeat.times)?;
        let minutes = i64::from(last.after_minutes) + i64::from(round) * i64::from(repeat.every_minutes);
        Some(start.plus_seconds(60 * minutes))
    }

    /// The steps whose recipients are notified in this turn: one, or all of them in a round that notifies everybody
    /// again.
    pub fn steps_in(&self, turn: u32) -> &[EscalationStep] {
        let index = usize::try_from(turn).unwrap_or(usize::MAX);
        match self.steps.get(index) {
            Some(step) => std::slice::from_ref(step),
            None => &self.steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_come_first_and_then_bounded_rounds() {
        let step = |after_minutes| EscalationStep { after_minutes, ..EscalationStep::default() };
        let repeat = Some(EscalationRepeat { every_minutes: 30, times: 2 });
        let escalation = Escalation { steps: vec![step(5), step(15)], repeat };
        let start = Timestamp::from_millis(0);
        let minutes: Vec<Option<i64>> =
            (0..5).map(|turn| escalation.due(turn, start).map(|due| due.as_millis() / 60_000)).collect();
        assert_eq!(minutes, [Some(5), Some(15), Some(45), Some(75), None]);
        assert_eq!(escalation.steps_in(1), [step(15)]);
        assert_eq!(escalation.steps_in(2).len(), 2);
        let once = Escalation { repeat: None, ..escalation };
        assert_eq!(once.due(2, start), None);
        assert_eq!(Escalation { steps: Vec::new(), repeat }.due(0, start), None);
    }
}
