//! How far a rule has got with a device, and the next step.

use serde::{Deserialize, Serialize};

use super::{Episode, Inside, Memory, Rule};
use crate::id::RuleId;
use crate::location::{Latitude, Location, Longitude};
use crate::time::Timestamp;

/// What a rule knows of a device after its locations up to an instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The rule.
    #[serde(rename = "r")]
    pub rule: RuleId,
    /// What it was when this began.
    #[serde(rename = "g")]
    pub generation: i64,
    /// The first location it was shown was not before this.
    #[serde(rename = "f")]
    pub since: Timestamp,
    /// Everything up to this instant is accounted for.
    #[serde(rename = "t")]
    pub at: Timestamp,
    /// What each condition remembers, and whether it was true.
    #[serde(rename = "m")]
    pub memories: Vec<(Memory, bool)>,
    /// Since when all conditions are true.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<Timestamp>,
    /// When that was long enough.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub met: Option<Met>,
    /// The last time an alert was due.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub last_met: Option<Timestamp>,
}

/// When and where an alert was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Met(pub Timestamp, pub Option<(Latitude, Longitude)>);

impl Progress {
    /// That of a rule to which the first location shown will be of this time or later.
    pub fn blank(rule: &Rule, since: Timestamp) -> Self {
        let conditions = &rule.settings.conditions;
        Self {
            rule: rule.id,
            generation: rule.generation,
            since,
            at: since.plus_millis(-1),
            memories: conditions.iter().map(|condition| (Memory::blank(condition), false)).collect(),
            begin: None,
            met: None,
            last_met: None,
        }
    }

    /// The episode under way.
    pub fn open(&self) -> Option<Episode> {
        let (begin, Met(met, place)) = self.begin.zip(self.met)?;
        Some(Episode { begin, met, end: None, place })
    }

    /// When the rule will hold unless a location says otherwise: what time alone makes true waits for the schedule.
    pub fn due(&self, rule: &Rule) -> Option<Timestamp> {
        if self.begin.is_some() {
            return None;
        }
        let (mut latest, mut all_hold) = (None, true);
        for ((memory, holds), condition) in self.memories.iter().zip(&rule.settings.conditions) {
            match memory.due(condition) {
                Some(due) => latest = latest.max(Some(due)),
                None if *holds => {}
                None => return None,
            }
            all_hold &= *holds;
        }
        // Where everything holds, only the schedule kept the last location from saying so.
        let from = if all_hold { latest?.max(self.at.plus_millis(1)) } else { latest? };
        rule.settings.next_holding(from)
    }

    /// Goes on to an instant up to which there is no further location. An episode that ends is given.
    pub fn pass(&mut self, rule: &Rule, until: Timestamp, place: Option<(Latitude, Longitude)>) {
        let Some(due) = self.due(rule).filter(|due| *due <= until && *due > self.at) else { return };
        for ((memory, holds), condition) in self.memories.iter_mut().zip(&rule.settings.conditions) {
            *holds |= memory.due(condition).is_some();
        }
        let _none_was_open = self.turn(rule, true, due, place);
        self.at = due;
    }

    /// Goes on by a location, which lies inside these geofences. Gives the episode that ended with it.
    pub fn step(&mut self, rule: &Rule, location: &Location, inside: Inside<'_>) -> Option<Episode> {
        let mut all = !self.memories.is_empty();
        let conditions = rule.settings.conditions.iter().enumerate();
        for ((memory, holds), (number, condition)) in self.memories.iter_mut().zip(conditions) {
            *holds = memory.judge(condition, *holds, location, inside.of_condition(number));
            all &= *holds;
        }
        all = all && rule.settings.holds_at(location.time);
        self.at = location.time;
        self.turn(rule, all, location.time, Some((location.latitude, location.longitude)))
    }

    fn turn(
        &mut self,
        rule: &Rule,
        holds: bool,
        at: Timestamp,
        place: Option<(Latitude, Longitude)>,
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
            self.met = Some(Met(at, place));
            self.last_met = Some(at);
        }
        None
    }
}
