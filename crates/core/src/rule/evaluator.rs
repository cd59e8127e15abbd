//! Evaluates the locations of one device against its rules, one by one.

use std::borrow::Borrow;
use std::sync::Arc;

use super::fences::SetNumbers;
use super::{Episode, Evaluation, Inside, Progress, Rule, RuleEpisodes, RuleFences, Snapshot, Start};
use crate::geofence::Position;
use crate::location::{Latitude, Location, Longitude, StoredLocation};
use crate::time::Timestamp;

/// A checkpoint is made after this many locations, or this many milliseconds of fix time.
const CHECKPOINT_LOCATIONS: usize = 512;
const CHECKPOINT_MS: i64 = 12 * 60 * 60 * 1000;

/// Evaluates locations of a device in order of time.
///
/// Generic over how rules are held: borrowed, or shared so that it can move to another thread between two locations.
#[derive(Debug)]
pub struct Evaluator<R, F> {
    rules: Vec<R>,
    fences: F,
    /// For each rule, the sets of geofences that its conditions name.
    sets: Vec<SetNumbers>,
    uses_fences: bool,
    start: Start,
    progresses: Vec<Progress>,
    /// For each rule, the instant and the open episode at the start.
    before: Vec<(Timestamp, Option<Episode>)>,
    ended: Vec<Vec<Episode>>,
    /// For each rule, whether it evaluates the locations in `held`.
    awake: Vec<bool>,
    /// Locations with the same time, which are evaluated together.
    held: Vec<Location>,
    place: Option<(Latitude, Longitude)>,
    checkpoints: Vec<Snapshot>,
    last_checkpoint: Option<Timestamp>,
    since_checkpoint: usize,
}

impl<R: Borrow<Rule>, F: Borrow<RuleFences>> Evaluator<R, F> {
    /// Starts with one progress per rule, in the order of the rules. `fences` must contain the geofences of the
    /// rules.
    pub fn new(rules: Vec<R>, fences: F, mut start: Start) -> Self {
        let sets: Vec<SetNumbers> =
            rules.iter().map(|rule| fences.borrow().sets_of(rule.borrow().id)).collect();
        let uses_fences = sets.iter().any(|sets| !sets.is_empty());
        let progresses = std::mem::take(&mut start.progresses);
        Self {
            ended: vec![Vec::new(); rules.len()],
            awake: vec![false; rules.len()],
            uses_fences,
            last_checkpoint: start.last_checkpoint,
            since_checkpoint: start.since_checkpoint,
            place: start.place,
            held: Vec::new(),
            checkpoints: Vec::new(),
            before: progresses.iter().map(|progress| (progress.at, progress.open())).collect(),
            rules,
            fences,
            sets,
            progresses,
            start,
        }
    }

    /// The number of rules.
    pub const fn rule_count(&self) -> usize {
        self.rules.len()
    }

    /// Adds the next location. Suspect locations are ignored.
    pub fn push(&mut self, stored: StoredLocation) {
        if stored.trust.suspect {
            return;
        }
        if self.held.first().is_some_and(|held| held.time != stored.location.time) {
            self.evaluate_held();
        }
        self.held.push(stored.location);
    }

    /// Evaluates the locations of one time, sorted by content so that the order of arrival does not matter.
    fn evaluate_held(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        let Some(time) = held.first().map(|location| location.time) else { return };
        if held.len() > 1 {
            held.sort_by_cached_key(|location| serde_json::to_string(location).unwrap_or_default());
        }
        self.checkpoint_before(time);
        let place = self.place;
        for ((progress, rule), awake) in self.progresses.iter_mut().zip(&self.rules).zip(&mut self.awake) {
            *awake = progress.at < time;
            if *awake {
                progress.advance_to(rule.borrow(), time, place);
            }
        }
        for location in &held {
            let at = Position { latitude: location.latitude, longitude: location.longitude };
            let hits = if self.uses_fences { self.fences.borrow().hits(at) } else { Vec::new() };
            let rules = self.rules.iter().zip(&self.sets);
            let rules = self.progresses.iter_mut().zip(rules).zip(&mut self.ended).zip(&self.awake);
            for (((progress, (rule, sets)), ended), _) in rules.filter(|(_, awake)| **awake) {
                ended.extend(progress.apply(rule.borrow(), location, Inside::new(&hits, sets)));
            }
            self.place = Some((location.latitude, location.longitude));
        }
        self.since_checkpoint += held.len();
        self.held = held;
        self.held.clear();
    }

    /// Makes a checkpoint, if one is due, before locations of a later time are evaluated.
    fn checkpoint_before(&mut self, time: Timestamp) {
        let Some(at) = self.progresses.iter().map(|progress| progress.at).max().filter(|at| *at < time)
        else {
            return;
        };
        let since = || self.progresses.iter().map(|progress| progress.since).min();
        let last = self.last_checkpoint.or_else(since).unwrap_or(at);
        let is_old = at.as_millis() - last.as_millis() >= CHECKPOINT_MS;
        let count = self.since_checkpoint;
        if count >= CHECKPOINT_LOCATIONS || (count > 0 && is_old) {
            (self.last_checkpoint, self.since_checkpoint) = (Some(at), 0);
            let snapshot = self.snapshot(at, self.progresses.clone());
            self.checkpoints.push(snapshot);
        }
    }

    const fn snapshot(&self, at: Timestamp, progresses: Vec<Progress>) -> Snapshot {
        let (last_checkpoint, since_checkpoint) = (self.last_checkpoint, self.since_checkpoint);
        Snapshot { at, place: self.place, last_checkpoint, since_checkpoint, progresses }
    }

    /// Finishes the evaluation: there is no further location up to `now`.
    pub fn finish(mut self, now: Timestamp) -> Evaluation {
        self.evaluate_held();
        for (progress, rule) in self.progresses.iter_mut().zip(&self.rules) {
            progress.advance_to(rule.borrow(), now, self.place);
        }
        let rules = self.progresses.iter().zip(&self.rules);
        let due = rules.filter_map(|(progress, rule)| progress.due(rule.borrow())).min();
        let at = self.progresses.iter().map(|progress| progress.at).max().unwrap_or(Timestamp::MIN);
        let mut touched = Vec::new();
        let parts = self.before.iter().zip(&self.progresses).zip(&mut self.ended).zip(&self.start.late);
        for ((((from, open), after), ended), late) in parts {
            if *late || !ended.is_empty() || *open != after.open() {
                let mut episodes = std::mem::take(ended);
                episodes.extend(after.open());
                touched.push(RuleEpisodes { rule: after.rule, from: *from, episodes });
            }
        }
        let progresses = std::mem::take(&mut self.progresses);
        Evaluation {
            snapshot: Arc::new(self.snapshot(at, progresses)),
            due,
            checkpoints: self.checkpoints,
            forget_from: self.start.forget_from,
            touched,
            began: self.start.began,
            dropped: self.start.dropped,
            too_old: self.start.too_old,
        }
    }
}
