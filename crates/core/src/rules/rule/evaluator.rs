//! Evaluates the locations of one device against its rules, one by one.

use std::borrow::Borrow;
use std::sync::Arc;

use super::fences::SetNumbers;
use super::{Episode, Evaluation, Inside, Progress, Rule, RuleEpisodes, RuleFences, Snapshot, Start};
use crate::locations::geofence::Position;
use crate::locations::location::{Latitude, Location, Longitude, StoredLocation};
use crate::time::Timestamp;

/// A checkpoint is made after this many locations, or this many milliseconds of fix time.
const CHECKPOINT_LOCATIONS: usize = 512;
const CHECKPOINT_MS: i64 = 12 * 60 * 60 * 1000;
/// CPU steps of applying a location to a rule, without the lookup in geofences. A step takes a few nanoseconds.
const RULE_STEPS: u64 = 10;
/// CPU steps of sorting a location among others of the same time.
const SORT_STEPS: u64 = 200;

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
    /// For each rule, whether its state is older than the locations in `ready`, so that they must be evaluated.
    behind: Vec<bool>,
    /// Locations with the same time, which are evaluated together.
    held: Vec<Location>,
    /// Sorted locations of one time that are being evaluated, and how many of them are done.
    ready: Vec<Location>,
    done: usize,
    position: Option<(Latitude, Longitude)>,
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
            behind: vec![false; rules.len()],
            uses_fences,
            last_checkpoint: start.last_checkpoint,
            since_checkpoint: start.since_checkpoint,
            position: start.position,
            held: Vec::new(),
            ready: Vec::new(),
            done: 0,
            checkpoints: Vec::new(),
            before: progresses.iter().map(|progress| (progress.at, progress.open())).collect(),
            rules,
            fences,
            sets,
            progresses,
            start,
        }
    }

    /// CPU steps by which [`Evaluator::advance`] may exceed its bound if it gets this many locations: those of one
    /// location near every geofence, and of sorting the locations if all have the same time.
    pub fn excess_max(&self, locations: usize) -> u64 {
        let fences = if self.uses_fences { self.fences.borrow().steps_max() } else { 0 };
        let sorted = u64::try_from(self.held.len() + locations).unwrap_or(u64::MAX);
        fences.saturating_add(self.rule_steps()).saturating_add(sorted.saturating_mul(SORT_STEPS))
    }

    fn rule_steps(&self) -> u64 {
        u64::try_from(self.rules.len()).unwrap_or(u64::MAX).saturating_mul(RULE_STEPS)
    }

    /// Adds the next location. Suspect locations are ignored.
    pub fn push(&mut self, stored: StoredLocation) {
        self.advance(&mut std::iter::once(stored), u64::MAX);
    }

    /// Adds the next locations until this many CPU steps are used, and returns how many were used. It stops after the
    /// location that reaches the bound: if fewer steps were used, all locations were taken.
    pub fn advance(&mut self, part: &mut impl Iterator<Item = StoredLocation>, steps: u64) -> u64 {
        let mut used = 0_u64;
        loop {
            while used < steps && self.done < self.ready.len() {
                used = used.saturating_add(self.evaluate_next());
            }
            if used >= steps {
                return used;
            }
            let Some(stored) = part.next() else { return used };
            used = used.saturating_add(1 + self.receive(stored));
        }
    }

    /// The same for the last locations. Locations that were held back to wait for others of the same time are evaluated
    /// too.
    pub fn advance_to_end(&mut self, part: &mut impl Iterator<Item = StoredLocation>, steps: u64) -> u64 {
        let used = self.advance(part, steps);
        if used >= steps || self.held.is_empty() {
            return used;
        }
        let used = used.saturating_add(self.make_ready());
        used.saturating_add(self.advance(&mut std::iter::empty(), steps.saturating_sub(used)))
    }

    /// Holds a location back until all locations of its time are known. If it is later than those held so far, they
    /// become ready.
    fn receive(&mut self, stored: StoredLocation) -> u64 {
        if stored.trust.suspect {
            return 0;
        }
        let is_later = self.held.first().is_some_and(|held| held.time != stored.location.time);
        let steps = if is_later { self.make_ready() } else { 0 };
        self.held.push(stored.location);
        steps
    }

    /// Prepares the locations of one time, sorted by content so that the order of arrival does not matter.
    fn make_ready(&mut self) -> u64 {
        let Some(time) = self.held.first().map(|location| location.time) else { return 0 };
        self.ready.clear();
        self.done = 0;
        std::mem::swap(&mut self.held, &mut self.ready);
        let mut steps = self.rule_steps();
        if self.ready.len() > 1 {
            self.ready.sort_by_cached_key(|location| serde_json::to_string(location).unwrap_or_default());
            let count = u64::try_from(self.ready.len()).unwrap_or(u64::MAX);
            steps = steps.saturating_add(count.saturating_mul(SORT_STEPS));
        }
        self.checkpoint_before(time);
        let position = self.position;
        for ((progress, rule), behind) in self.progresses.iter_mut().zip(&self.rules).zip(&mut self.behind) {
            *behind = progress.at < time;
            if *behind {
                progress.advance_to(rule.borrow(), time, position);
            }
        }
        steps
    }

    /// Evaluates the next location that is ready and returns the CPU steps it took.
    fn evaluate_next(&mut self) -> u64 {
        let Some(location) = self.ready.get(self.done) else { return 0 };
        let at = Position { latitude: location.latitude, longitude: location.longitude };
        let (hits, steps) = if self.uses_fences { self.fences.borrow().hits(at) } else { (Vec::new(), 0) };
        let rules = self.rules.iter().zip(&self.sets);
        let rules = self.progresses.iter_mut().zip(rules).zip(&mut self.ended).zip(&self.behind);
        for (((progress, (rule, sets)), ended), _) in rules.filter(|(_, behind)| **behind) {
            ended.extend(progress.apply(rule.borrow(), location, Inside::new(&hits, sets)));
        }
        self.position = Some((location.latitude, location.longitude));
        self.done += 1;
        if self.done == self.ready.len() {
            self.since_checkpoint += self.ready.len();
        }
        steps + self.rule_steps()
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
        Snapshot { at, position: self.position, last_checkpoint, since_checkpoint, progresses }
    }

    /// Finishes the evaluation: there is no further location up to `now`.
    pub fn finish(mut self, now: Timestamp) -> Evaluation {
        self.advance_to_end(&mut std::iter::empty(), u64::MAX);
        for (progress, rule) in self.progresses.iter_mut().zip(&self.rules) {
            progress.advance_to(rule.borrow(), now, self.position);
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
