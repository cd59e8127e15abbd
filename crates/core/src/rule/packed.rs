//! A snapshot as it is written: rules that know the same of a device, as most do, share what they know.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Memory, Met, Progress, Snapshot};
use crate::id::RuleId;
use crate::location::{Latitude, Longitude};
use crate::time::Timestamp;

/// How many of the last states are looked at for an equal one.
const LOOKED_AT: usize = 16;

#[derive(Serialize, Deserialize)]
struct Packed<M> {
    #[serde(rename = "t")]
    at: Timestamp,
    #[serde(rename = "p")]
    place: Option<(Latitude, Longitude)>,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    last_checkpoint: Option<Timestamp>,
    #[serde(rename = "n")]
    since_checkpoint: usize,
    #[serde(rename = "s", default = "Vec::new")]
    states: Vec<State<M>>,
    /// One for each rule, as they were written before.
    #[serde(rename = "r", default, skip_serializing)]
    progresses: Vec<Progress>,
}

/// What some rules know.
#[derive(Serialize, Deserialize)]
struct State<M> {
    #[serde(rename = "g")]
    generation: i64,
    #[serde(rename = "f")]
    since: Timestamp,
    #[serde(rename = "t")]
    at: Timestamp,
    #[serde(rename = "m")]
    memories: M,
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    begin: Option<Timestamp>,
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    met: Option<Met>,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    last_met: Option<Timestamp>,
    /// Which rules: the first id, then how much larger each is than the one before.
    #[serde(rename = "i")]
    rules: Vec<i64>,
}

impl<'p> State<&'p [(Memory, bool)]> {
    fn of(progress: &'p Progress) -> Self {
        Self {
            generation: progress.generation,
            since: progress.since,
            at: progress.at,
            memories: &progress.memories,
            begin: progress.begin,
            met: progress.met,
            last_met: progress.last_met,
            rules: vec![progress.rule.as_i64()],
        }
    }

    fn is_that_of(&self, progress: &Progress) -> bool {
        (self.generation, self.since, self.at) == (progress.generation, progress.since, progress.at)
            && (self.begin, self.met, self.last_met) == (progress.begin, progress.met, progress.last_met)
            && self.memories == progress.memories
    }
}

impl State<Vec<(Memory, bool)>> {
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
            memories: self.memories.clone(),
            begin: self.begin,
            met: self.met,
            last_met: self.last_met,
        })
    }
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // With the last id of each, from which the next one is counted.
        let mut states: Vec<(State<_>, i64)> = Vec::new();
        for progress in &self.progresses {
            let id = progress.rule.as_i64();
            match states.iter_mut().rev().take(LOOKED_AT).find(|(state, _)| state.is_that_of(progress)) {
                Some((state, last)) => state.rules.push(id.wrapping_sub(std::mem::replace(last, id))),
                None => states.push((State::of(progress), id)),
            }
        }
        let packed = Packed {
            at: self.at,
            place: self.place,
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
        let packed: Packed<Vec<(Memory, bool)>> = Packed::deserialize(deserializer)?;
        let mut progresses = packed.progresses;
        progresses.extend(packed.states.into_iter().flat_map(State::into_progresses));
        progresses.sort_by_key(|progress| progress.rule);
        let Packed { at, place, last_checkpoint, since_checkpoint, .. } = packed;
        Ok(Self { at, place, last_checkpoint, since_checkpoint, progresses })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(rule: i64, memory: Memory) -> Progress {
        let at = Timestamp::from_millis(1_700_000_000_000);
        Progress {
            rule: RuleId::from_i64(rule),
            generation: 3,
            since: at.plus_seconds(-60),
            at,
            memories: vec![(memory, false)],
            begin: None,
            met: None,
            last_met: None,
        }
    }

    #[test]
    fn what_is_written_is_read_and_what_rules_share_is_written_once() {
        let first = 1 << 60;
        let memory = |rule: i64| match rule % 3 {
            0 => Memory::Nothing,
            1 => Memory::Armed(rule % 2 == 0),
            _ => Memory::Since(Some(Timestamp::from_millis(7))),
        };
        let progresses = (0..100).map(|rule| progress(first + rule * 5_000_000, memory(rule))).collect();
        let at = Timestamp::from_millis(1_700_000_000_000);
        let place = Some((Latitude::from_e7(1), Longitude::from_e7(2)));
        let mut snapshot = Snapshot { at, place, last_checkpoint: Some(at), since_checkpoint: 5, progresses };
        snapshot.progresses[7].begin = Some(at);
        snapshot.progresses[7].met = Some(Met(at, place));
        snapshot.progresses[8].last_met = Some(at);
        let text = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), snapshot);
        assert!(text.len() < 2_000, "{} bytes: {text}", text.len());
    }

    #[test]
    fn what_was_written_one_by_one_is_read() {
        let progresses = vec![progress(1, Memory::Armed(true)), progress(2, Memory::Nothing)];
        let text = format!(r#"{{"t":9,"p":null,"n":4,"r":{}}}"#, serde_json::to_string(&progresses).unwrap());
        let at = Timestamp::from_millis(9);
        let expect = Snapshot { at, place: None, last_checkpoint: None, since_checkpoint: 4, progresses };
        assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), expect);
    }
}
