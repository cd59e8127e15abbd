//! The rules of an account, made ready once for many locations.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Episode, Judgement, Progress, Rule, Snapshot, Start, Touched};
use crate::geofence::{FenceIndex, Geofence, Place};
use crate::id::{DeviceId, GroupId, RuleId};
use crate::location::{Latitude, Location, Longitude, StoredLocation};
use crate::time::Timestamp;

/// After so many locations, or so long, what is known is put down as a checkpoint.
const CHECKPOINT_LOCATIONS: usize = 512;
const CHECKPOINT_MS: i64 = 12 * 60 * 60 * 1000;

/// The rules of an account that are enabled, and its geofences.
#[derive(Debug, Default)]
pub struct RuleSet {
    /// Counts the changes of any of them.
    pub revision: i64,
    rules: Vec<Rule>,
    fences: FenceIndex,
    of_all: Vec<usize>,
    /// Those of all that judge by locations.
    of_all_by_location: Vec<usize>,
    of_devices: HashMap<DeviceId, Vec<usize>>,
    of_groups: HashMap<GroupId, Vec<usize>>,
}

impl RuleSet {
    /// Makes these ready.
    pub fn new(revision: i64, rules: Vec<Rule>, fences: &[Geofence]) -> Self {
        let fences = FenceIndex::new(fences.iter().map(|fence| (fence.id, &fence.settings.shape)));
        let mut set = Self { revision, fences, ..Self::default() };
        let mut rules: Vec<Rule> = rules.into_iter().filter(|rule| rule.settings.enabled).collect();
        rules.sort_unstable_by_key(|rule| rule.id);
        for (number, rule) in rules.iter().enumerate() {
            let target = &rule.settings.target;
            if target.all {
                set.of_all.push(number);
                if !rule.settings.judges_silence() {
                    set.of_all_by_location.push(number);
                }
                continue;
            }
            for device in &target.devices {
                set.of_devices.entry(*device).or_default().push(number);
            }
            for group in &target.groups {
                set.of_groups.entry(*group).or_default().push(number);
            }
        }
        set.rules = rules;
        set
    }

    /// Whether no rule can judge anything.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// One of them.
    pub fn rule(&self, id: RuleId) -> Option<&Rule> {
        let place = self.rules.binary_search_by_key(&id, |rule| rule.id).ok()?;
        self.rules.get(place)
    }

    /// Whether it matters which groups a device is in.
    pub fn asks_for_groups(&self) -> bool {
        !self.of_groups.is_empty()
    }

    /// The rules that judge a device which is in these groups, by id.
    pub fn rules_of(&self, device: DeviceId, groups: &[GroupId]) -> Vec<&Rule> {
        let by_group = groups.iter().filter_map(|group| self.of_groups.get(group)).flatten();
        let own = self.of_devices.get(&device).into_iter().flatten();
        let mut numbers: Vec<usize> = self.of_all.iter().chain(own).chain(by_group).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().filter_map(|number| self.rules.get(number)).collect()
    }

    /// The same without those about silence, which no location tells of.
    pub fn rules_by_location(&self, device: DeviceId, groups: &[GroupId]) -> Vec<&Rule> {
        let is_named = self.of_devices.contains_key(&device)
            || groups.iter().any(|group| self.of_groups.contains_key(group));
        if !is_named {
            return self.of_all_by_location.iter().filter_map(|number| self.rules.get(*number)).collect();
        }
        let mut rules = self.rules_of(device, groups);
        rules.retain(|rule| !rule.settings.judges_silence());
        rules
    }

    /// Those about silence, whichever devices they judge.
    pub fn rules_of_silence(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.settings.judges_silence())
    }

    /// The geofences.
    pub const fn fences(&self) -> &FenceIndex {
        &self.fences
    }
}

/// Takes the locations of a device one after another, in the order of time, and finds what its rules say.
#[derive(Debug)]
pub struct Judge<'r> {
    rules: Vec<&'r Rule>,
    fences: &'r FenceIndex,
    looks_at_fences: bool,
    start: Start,
    progresses: Vec<Progress>,
    /// Up to when each was accounted for, and what was under way then.
    before: Vec<(Timestamp, Option<Episode>)>,
    ended: Vec<Vec<Episode>>,
    /// Which of them the locations held are shown to.
    awake: Vec<bool>,
    /// Locations of one time, which are judged together.
    held: Vec<Location>,
    place: Option<(Latitude, Longitude)>,
    checkpoints: Vec<Snapshot>,
    last_checkpoint: Option<Timestamp>,
    since_checkpoint: usize,
}

impl<'r> Judge<'r> {
    /// Begins with what was known; one progress for each rule, in their order.
    pub fn new(rules: Vec<&'r Rule>, fences: &'r FenceIndex, mut start: Start) -> Self {
        let looks_at_fences = rules
            .iter()
            .any(|rule| rule.settings.conditions.iter().any(|condition| !condition.geofences().is_empty()));
        let progresses = std::mem::take(&mut start.progresses);
        Self {
            ended: vec![Vec::new(); rules.len()],
            awake: vec![false; rules.len()],
            looks_at_fences,
            last_checkpoint: start.last_checkpoint,
            since_checkpoint: start.since_checkpoint,
            place: start.place,
            held: Vec::new(),
            checkpoints: Vec::new(),
            before: progresses.iter().map(|progress| (progress.at, progress.open())).collect(),
            rules,
            fences,
            progresses,
            start,
        }
    }

    /// Takes the next location. What is suspect says nothing.
    pub fn see(&mut self, stored: StoredLocation) {
        if stored.trust.suspect {
            return;
        }
        if self.held.first().is_some_and(|held| held.time != stored.location.time) {
            self.settle();
        }
        self.held.push(stored.location);
    }

    /// Judges the locations of one time, in an order that does not depend on how they arrived.
    fn settle(&mut self) {
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
                progress.pass(rule, time, place);
            }
        }
        for location in &held {
            let at = Place { latitude: location.latitude, longitude: location.longitude };
            let inside = if self.looks_at_fences { self.fences.containing(at) } else { Vec::new() };
            let rules = self.progresses.iter_mut().zip(&self.rules).zip(&mut self.ended).zip(&self.awake);
            for (((progress, rule), ended), _) in rules.filter(|(_, awake)| **awake) {
                ended.extend(progress.step(rule, location, &inside));
            }
            self.place = Some((location.latitude, location.longitude));
        }
        self.since_checkpoint += held.len();
        self.held = held;
        self.held.clear();
    }

    /// Puts down what is known so far, now and then, before a later time is looked at.
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

    /// Ends: there was no further location up to `now`.
    pub fn finish(mut self, now: Timestamp) -> Judgement {
        self.settle();
        for (progress, rule) in self.progresses.iter_mut().zip(&self.rules) {
            progress.pass(rule, now, self.place);
        }
        let due =
            self.progresses.iter().zip(&self.rules).filter_map(|(progress, rule)| progress.due(rule)).min();
        let at = self.progresses.iter().map(|progress| progress.at).max().unwrap_or(Timestamp::MIN);
        let mut touched = Vec::new();
        let parts = self.before.iter().zip(&self.progresses).zip(&mut self.ended).zip(&self.start.late);
        for ((((from, open), after), ended), late) in parts {
            if *late || !ended.is_empty() || *open != after.open() {
                let mut episodes = std::mem::take(ended);
                episodes.extend(after.open());
                touched.push(Touched { rule: after.rule, from: *from, episodes });
            }
        }
        let progresses = std::mem::take(&mut self.progresses);
        Judgement {
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
