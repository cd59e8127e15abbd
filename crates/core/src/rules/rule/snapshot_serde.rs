//! The stored form of a snapshot. Most rules have the same state for a device, so equal states are written once.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ConditionState, MetAt, Progress, Snapshot};
use crate::id::RuleId;
use crate::locations::location::{Latitude, Longitude};
use crate::time::Timestamp;

/// How many of the last states are compared to find an equal one.
const COMPARED: usize = 16;

#[derive(Serialize, Deserialize)]
struct Packed<M> {
    #[serde(rename = "t")]
    at: Timestamp,
    #[serde(rename = "p")]
    position: Option<(Latitude, Longitude)>,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    last_checkpoint: Option<Timestamp>,
    #[serde(rename = "n")]
    since_checkpoint: usize,
    #[serde(rename = "s", default = "Vec::new")]
    states: Vec<State<M>>,
    /// Read only: the older form, with one entry per rule.
    #[serde(rename = "r", default, skip_serializing)]
    progresses: Vec<Progress>,
}

/// A state shared by some rules.
#[derive(Serialize, Deserialize)]
struct State<M> {
    #[serde(rename = "g")]
    generation: i64,
    #[serde(rename = "f")]
    since: Timestamp,
    #[serde(rename = "t")]
    at: Timestamp,
    #[serde(rename = "m")]
    condition_states: M,
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    begin: Option<Timestamp>,
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    met: Option<MetAt>,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    last_met: Option<Timestamp>,
    /// The rules with this state: the first id, then the differences between consecutive ids.
    #[serde(rename = "i")]
    rules: Vec<i64>,
}

impl<'p> State<&'p [(ConditionState, bool)]> {
    fn of(progress: &'p Progress) -> Self {
        Self {
            generation: progress.generation,
            since: progress.since,
            at: progress.at,
            condition_states: &progress.condition_states,
            begin: progress.begin,
            met: progress.met,
            last_met: progress.last_met,
            rules: vec![progress.rule.as_i64()],
        }
    }

    fn is_state_of(&self, progress: &Progress) -> bool {
        (self.generation, self.since, self.at) == (progress.generation, progress.since, progress.at)
            && (self.begin, self.met, self.last_met) == (progress.begin, progress.met, progress.last_met)
            && self.condition_states == progress.condition_states
    }
}

impl State<Vec<(ConditionState, bool)>> {
    fn into_progresses(self) -> impl Iterator<Item = Progress> {
        let ids = self.rules.into_iter().scan(0_i64, |id, step| {
            *id = id.wrapping_add(step);
            Some(RuleId::from_i64(*id))
        });
        ids.map(move |rule| Progress {
            rule,
            generation: self.generation,
            since: self.since,
            at: self.at,
            condition_states: self.condition_states.clone(),
            begin: self.begin,
            met: self.met,
            last_met: self.last_met,
        })
    }
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Each state with the last id written, from which the next difference is computed.
        let mut states: Vec<(State<_>, i64)> = Vec::new();
        for progress in &self.progresses {
            let id = progress.rule.as_i64();
            match states.iter_mut().rev().take(COMPARED).find(|(state, _)| state.is_state_of(progress)) {
                Some((state, last)) => state.rules.push(id.wrapping_sub(std::mem::replace(last, id))),
                None => states.push((State::of(progress), id)),
            }
        }
        let packed = Packed {
            at: self.at,
            position: self.position,
            last_checkpoint: self.last_checkpoint,
            since_checkpoint: self.since_checkpoint,
            states: states.into_iter().map(|(state, _)| state).collect(),
            progresses: Vec::new(),
        };
        packed.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let packed: Packed<Vec<(ConditionState, bool)>> = Packed::deserialize(deserializer)?;
        let mut progresses = packed.progresses;
        progresses.extend(packed.states.into_iter().flat_map(State::into_progresses));
        progresses.sort_by_key(|progress| progress.rule);
        let Packed { at, position, last_checkpoint, since_checkpoint, .. } = packed;
        Ok(Self { at, position, last_checkpoint, since_checkpoint, progresses })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(rule: i64, state: ConditionState) -> Progress {
        let at = Timestamp::from_millis(1_700_000_000_000);
        Progress {
            rule: RuleId::from_i64(rule),
            generation: 3,
            since: at.plus_seconds(-60),
            at,
            condition_states: vec![(state, false)],
            begin: None,
            met: None,
            last_met: None,
        }
    }

    #[test]
    fn a_snapshot_is_read_back_and_shared_parts_are_written_once() {
        let first = 1 << 60;
        let state = |rule: i64| match rule % 3 {
            0 => ConditionState::Nothing,
            1 => ConditionState::Armed(rule % 2 == 0),
            _ => ConditionState::Since(Some(Timestamp::from_millis(7))),
        };
        let progresses = (0..100).map(|rule| progress(first + rule * 5_000_000, state(rule))).collect();
        let at = Timestamp::from_millis(1_700_000_000_000);
        let position = Some((Latitude::from_e7(1), Longitude::from_e7(2)));
        let mut snapshot =
            Snapshot { at, position, last_checkpoint: Some(at), since_checkpoint: 5, progresses };
        snapshot.progresses[7].begin = Some(at);
        snapshot.progresses[7].met = Some(MetAt(at, position));
        snapshot.progresses[8].last_met = Some(at);
        let text = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), snapshot);
        assert!(text.len() < 2_000, "{} bytes: {text}", text.len());
    }

    #[test]
    fn an_older_snapshot_is_read() {
        let progresses = vec![progress(1, ConditionState::Armed(true)), progress(2, ConditionState::Nothing)];
        let text = format!(r#"{{"t":9,"p":null,"n":4,"r":{}}}"#, serde_json::to_string(&progresses).unwrap());
        let at = Timestamp::from_millis(9);
        let expect = Snapshot { at, position: None, last_checkpoint: None, since_checkpoint: 4, progresses };
        assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), expect);
    }
}
