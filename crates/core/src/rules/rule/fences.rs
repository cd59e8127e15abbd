//! The geofences of many rules. A position is looked up once for all rules together.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Condition, Rule};
use crate::id::{GeofenceId, RuleId};
use crate::locations::geofence::{FenceBits, FenceIndex, Position, Shape};

/// The geofences that some rules name. Conditions that name the same geofences share one set.
#[derive(Debug, Default)]
pub struct RuleFences {
    index: FenceIndex,
    /// The distinct sets of geofences that conditions name.
    sets: Vec<FenceBits>,
    of_rules: HashMap<RuleId, SetNumbers>,
    checks: AtomicU64,
}

/// For each condition of a rule the index of its set; `None` if it names no geofence.
pub(super) type SetNumbers = Arc<[Option<usize>]>;

/// Whether a location lies in the geofences that the conditions of one rule name.
#[derive(Clone, Copy, Debug)]
pub struct Inside<'l> {
    hits: &'l [bool],
    sets: &'l [Option<usize>],
}

impl RuleFences {
    /// Prepares the geofences that these rules name; others are left out.
    pub fn new<'r, 's>(
        rules: impl IntoIterator<Item = &'r Rule>,
        fences: impl IntoIterator<Item = (GeofenceId, &'s Shape)>,
    ) -> Self {
        let rules: Vec<&Rule> = rules.into_iter().collect();
        let conditions = rules.iter().flat_map(|rule| &rule.settings.conditions);
        let named: BTreeSet<GeofenceId> = conditions.flat_map(Condition::geofences).copied().collect();
        let index = FenceIndex::new(fences.into_iter().filter(|(id, _)| named.contains(id)));
        let mut made = Self { index, ..Self::default() };
        let mut known: HashMap<&[GeofenceId], usize> = HashMap::new();
        for rule in rules {
            let mut number = |geofences: &'r [GeofenceId]| {
                *known.entry(geofences).or_insert_with(|| {
                    made.sets.push(made.index.bits(geofences));
                    made.sets.len() - 1
                })
            };
            let conditions = rule.settings.conditions.iter().map(Condition::geofences);
            let sets = conditions.map(|geofences| (!geofences.is_empty()).then(|| number(geofences)));
            let sets: SetNumbers = sets.collect();
            if sets.iter().any(Option::is_some) {
                made.of_rules.insert(rule.id, sets);
            }
        }
        made
    }

    /// The sets of a rule's conditions; empty if it names no geofence.
    pub(super) fn sets_of(&self, rule: RuleId) -> SetNumbers {
        self.of_rules.get(&rule).map_or_else(SetNumbers::default, Arc::clone)
    }

    /// For each set, whether one of its geofences contains a position, and the CPU steps it took. Each nearby geofence
    /// is tested once.
    pub(super) fn hits(&self, position: Position) -> (Vec<bool>, u64) {
        let located = self.index.locate(position);
        self.checks.fetch_add(u64::try_from(located.tested).unwrap_or(0), Ordering::Relaxed);
        let hits = self.sets.iter().map(|set| set.intersects(&located.inside)).collect();
        (hits, located.steps + self.set_steps())
    }

    /// Bytes they take in memory.
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.sets.len() * self.index.len().div_ceil(8)
    }

    /// CPU steps of [`RuleFences::hits`] for a position that is near every geofence.
    pub(super) fn steps_max(&self) -> u64 {
        self.index.steps_max() + self.set_steps()
    }

    /// CPU steps of comparing every set with the geofences around a position, 64 geofences at a time.
    fn set_steps(&self) -> u64 {
        u64::try_from(self.sets.len() * (1 + self.index.len() / 64)).unwrap_or(u64::MAX)
    }

    /// How many exact tests of a position against a geofence were made.
    pub fn checks(&self) -> u64 {
        self.checks.load(Ordering::Relaxed)
    }
}

impl<'l> Inside<'l> {
    pub(super) const fn new(hits: &'l [bool], sets: &'l [Option<usize>]) -> Self {
        Self { hits, sets }
    }

    /// Whether the location lies in a geofence named by the condition with this index.
    pub(super) fn of_condition(self, number: usize) -> bool {
        let set = self.sets.get(number).copied().flatten();
        set.and_then(|set| self.hits.get(set)).is_some_and(|hit| *hit)
    }
}
