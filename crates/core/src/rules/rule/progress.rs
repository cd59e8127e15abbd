//! The state of one rule for one device, and how a location advances it.

use serde::{Deserialize, Serialize};

use super::{ConditionState, Episode, Inside, Rule};
use crate::id::RuleId;
use crate::locations::location::{Latitude, Location, Longitude};
use crate::time::Timestamp;

/// The state of one rule for one device after all locations up to an instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The rule whose state this is.
    #[serde(rename = "r")]
    pub rule: RuleId,
    /// Generation of the rule; state of an older generation is discarded.
    #[serde(rename = "g")]
    pub generation: i64,
    /// No location before this instant was evaluated.
    #[serde(rename = "f")]
    pub since: Timestamp,
    /// All locations up to this instant were evaluated.
    #[serde(rename = "t")]
    pub at: Timestamp,
    /// For each condition its state, and whether it was true.
    #[serde(rename = "m")]
    pub condition_states: Vec<(ConditionState, bool)>,
    /// Since when all conditions are true, if they are.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<Timestamp>,
    /// When and where they had been true long enough, if so.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub met: Option<MetAt>,
    /// Time of the last alert, for the cool-down.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub last_met: Option<Timestamp>,
}

/// Time and position of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetAt(pub Timestamp, pub Option<(Latitude, Longitude)>);

impl Progress {
    /// The state of a rule that has evaluated nothing; its first location will be at `since` or later.
    pub fn blank(rule: &Rule, since: Timestamp) -> Self {
        let conditions = &rule.settings.conditions;
        Self {
            rule: rule.id,
            generation: rule.generation,
            since,
            at: since.plus_millis(-1),
            condition_states: conditions
                .iter()
                .map(|condition| (ConditionState::blank(condition), false))
                .collect(),
            begin: None,
            met: None,
            last_met: None,
        }
    }

    /// The episode in progress, if its alert was raised.
    pub fn open(&self) -> Option<Episode> {
        let (begin, MetAt(met, position)) = self.begin.zip(self.met)?;
        Some(Episode { begin, met, end: None, position })
    }

    /// When the rule becomes true if no further location arrives. Outside its schedule, it becomes true when the
    /// schedule begins.
    pub fn due(&self, rule: &Rule) -> Option<Timestamp> {
        if self.begin.is_some() {
            return None;
        }
        let (mut latest, mut all_hold) = (None, true);
        for ((state, holds), condition) in self.condition_states.iter().zip(&rule.settings.conditions) {
            match state.due(condition) {
                Some(due) => latest = latest.max(Some(due)),
                None if *holds => {}
                None => return None,
            }
            all_hold &= *holds;
        }
        // If all conditions are true already, only the schedule prevented an alert at the last location.
        let from = if all_hold { latest?.max(self.at.plus_millis(1)) } else { latest? };
        rule.settings.next_holding(from)
    }

    /// Advances to an instant without a further location.
    pub fn advance_to(&mut self, rule: &Rule, until: Timestamp, position: Option<(Latitude, Longitude)>) {
        let Some(due) = self.due(rule).filter(|due| *due <= until && *due > self.at) else { return };
        for ((state, holds), condition) in self.condition_states.iter_mut().zip(&rule.settings.conditions) {
            *holds |= state.due(condition).is_some();
        }
        let _none_was_open = self.update_episode(rule, true, due, position);
        self.at = due;
    }

    /// Advances by one location. Returns the episode that ended with it.
    pub fn apply(&mut self, rule: &Rule, location: &Location, inside: Inside<'_>) -> Option<Episode> {
        if !rule.settings.accepts(location) {
            self.at = location.time;
            return None;
        }
        let mut all = !self.condition_states.is_empty();
        let conditions = rule.settings.conditions.iter().enumerate();
        for ((state, holds), (number, condition)) in self.condition_states.iter_mut().zip(conditions) {
            *holds = state.evaluate(condition, *holds, location, inside.of_condition(number));
            all &= *holds;
        }
        all = all && rule.settings.holds_at(location.time);
        self.at = location.time;
        self.update_episode(rule, all, location.time, Some((location.latitude, location.longitude)))
    }

    fn update_episode(
        &mut self,
        rule: &Rule,
        holds: bool,
        at: Timestamp,
        position: Option<(Latitude, Longitude)>,
    ) -> Option<Episode> {
        if !holds {
            let ended = self.open().map(|open| Episode { end: Some(at), ..open });
            (self.begin, self.met) = (None, None);
            return ended;
        }
        let begin = *self.begin.get_or_insert(at);
        let lasted = at >= begin.plus_seconds(i64::from(rule.settings.for_s));
        let cool = |last: Timestamp| at >= last.plus_seconds(i64::from(rule.settings.cool_down_s));
        if self.met.is_none() && lasted && self.last_met.is_none_or(cool) {
            self.met = Some(MetAt(at, position));
            self.last_met = Some(at);
        }
        None
    }
}
