//! The geofences of many rules: a place is looked up once, whatever the number of rules that ask about it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Condition, Rule};
use crate::geofence::{FenceBits, FenceIndex, Place, Shape};
use crate::id::{GeofenceId, RuleId};

/// The geofences that some rules ask about. Conditions that name the same geofences share one set.
#[derive(Debug, Default)]
pub struct RuleFences {
    index: FenceIndex,
    /// The different lists of geofences that conditions name.
    sets: Vec<FenceBits>,
    of_rules: HashMap<RuleId, SetNumbers>,
    checks: AtomicU64,
}

/// For each condition of a rule the number of its set; none where it asks about no geofence.
pub(super) type SetNumbers = Arc<[Option<usize>]>;

/// Whether a location lies in the geofences that the conditions of one rule name.
#[derive(Clone, Copy, Debug)]
pub struct Inside<'l> {
    hits: &'l [bool],
    sets: &'l [Option<usize>],
}

impl RuleFences {
    /// Those of these rules; other geofences are left out.
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

    /// The sets of a rule's conditions; empty when it asks about no geofence.
    pub(super) fn sets_of(&self, rule: RuleId) -> SetNumbers {
        self.of_rules.get(&rule).map_or_else(SetNumbers::default, Arc::clone)
    }

    /// For each set whether a place lies in one of its geofences. Each geofence near it is looked at once.
    pub(super) fn hits(&self, place: Place) -> Vec<bool> {
        let (inside, looked_at) = self.index.locate(place);
        self.checks.fetch_add(u64::try_from(looked_at).unwrap_or(0), Ordering::Relaxed);
        self.sets.iter().map(|set| set.intersects(&inside)).collect()
    }

    /// How often it was computed whether a place lies in a geofence.
    pub fn checks(&self) -> u64 {
        self.checks.load(Ordering::Relaxed)
    }
}

impl<'l> Inside<'l> {
    pub(super) const fn new(hits: &'l [bool], sets: &'l [Option<usize>]) -> Self {
        Self { hits, sets }
    }

    /// Whether the location lies in a geofence that the condition of this number names.
    pub(super) fn of_condition(self, number: usize) -> bool {
        let set = self.sets.get(number).copied().flatten();
        set.and_then(|set| self.hits.get(set)).is_some_and(|hit| *hit)
    }
}
