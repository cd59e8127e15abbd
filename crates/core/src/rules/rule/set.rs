//! The rules of an account, prepared once to evaluate many locations.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Rule, RuleFences};
use crate::id::{DeviceId, GroupId, RuleId};
use crate::locations::geofence::Geofence;

/// The enabled rules of an account and their geofences, indexed by target. The indexes hold positions in `rules`.
#[derive(Debug, Default)]
pub struct RuleSet {
    /// Grows with every change of a rule or geofence of the account.
    pub revision: i64,
    /// Sorted by id, so that alerts of one location come in the same order every time.
    rules: Vec<Arc<Rule>>,
    fences: Arc<RuleFences>,
    /// Rules for all devices.
    of_all: Vec<usize>,
    /// Rules for all devices that are evaluated on locations: those in `of_all` that are not about silence or trips.
    of_all_on_locations: Vec<usize>,
    of_devices: HashMap<DeviceId, Vec<usize>>,
    of_groups: HashMap<GroupId, Vec<usize>>,
}

impl RuleSet {
    /// Indexes these rules by target; disabled ones are left out.
    pub fn new(revision: i64, rules: Vec<Rule>, fences: &[Geofence]) -> Self {
        let mut rules: Vec<Arc<Rule>> =
            rules.into_iter().filter(|rule| rule.settings.enabled).map(Arc::new).collect();
        rules.sort_unstable_by_key(|rule| rule.id);
        let shapes = fences.iter().map(|fence| (fence.id, &fence.settings.shape));
        let fences = Arc::new(RuleFences::new(rules.iter().map(|rule| &**rule), shapes));
        let mut set = Self { revision, fences, ..Self::default() };
        for (index, rule) in rules.iter().enumerate() {
            let target = &rule.settings.target;
            if target.all {
                set.of_all.push(index);
                if rule.settings.is_on_locations() {
                    set.of_all_on_locations.push(index);
                }
                continue;
            }
            for device in &target.devices {
                set.of_devices.entry(*device).or_default().push(index);
            }
            for group in &target.groups {
                set.of_groups.entry(*group).or_default().push(index);
            }
        }
        set.rules = rules;
        set
    }

    /// Whether there is no enabled rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rule with this id, if it is enabled.
    pub fn rule(&self, id: RuleId) -> Option<&Rule> {
        let index = self.rules.binary_search_by_key(&id, |rule| rule.id).ok()?;
        self.rules.get(index).map(|rule| &**rule)
    }

    /// Whether some rule targets groups, so that a device's groups have to be known.
    pub fn targets_groups(&self) -> bool {
        !self.of_groups.is_empty()
    }

    /// The rules that apply to a device in these groups, sorted by id.
    pub fn rules_of(&self, device: DeviceId, groups: &[GroupId]) -> Vec<Arc<Rule>> {
        let by_group = groups.iter().filter_map(|group| self.of_groups.get(group)).flatten();
        let own = self.of_devices.get(&device).into_iter().flatten();
        let mut indexes: Vec<usize> = self.of_all.iter().chain(own).chain(by_group).copied().collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes.into_iter().filter_map(|index| self.rules.get(index).cloned()).collect()
    }

    /// Like [`RuleSet::rules_of`], but without the rules about silence and trips, which are not evaluated on locations.
    pub fn location_rules_of(&self, device: DeviceId, groups: &[GroupId]) -> Vec<Arc<Rule>> {
        let is_targeted = self.of_devices.contains_key(&device)
            || groups.iter().any(|group| self.of_groups.contains_key(group));
        // Without a rule for the device or its groups, the prepared list is the result: nothing to sort or filter.
        if !is_targeted {
            let all = self.of_all_on_locations.iter();
            return all.filter_map(|index| self.rules.get(*index).cloned()).collect();
        }
        let mut rules = self.rules_of(device, groups);
        rules.retain(|rule| rule.settings.is_on_locations());
        rules
    }

    /// The rules about silence, for all targets.
    pub fn silence_rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|rule| &**rule).filter(|rule| rule.settings.watches_silence())
    }

    /// Whether some rule is about the time without a trip.
    pub fn watches_absence(&self) -> bool {
        self.rules.iter().any(|rule| rule.settings.no_trip_ms().is_some())
    }

    /// The number of enabled rules.
    pub const fn len(&self) -> usize {
        self.rules.len()
    }

    /// Bytes that the set takes in memory, estimated.
    pub fn bytes(&self) -> usize {
        /// Bytes of a rule without its target and its geofences, and of each device, group or geofence it names.
        const RULE: usize = 1024;
        const NAMED: usize = 64;
        let named = |rule: &Arc<Rule>| {
            let target = &rule.settings.target;
            target.devices.len() + target.groups.len() + rule.settings.geofences().len()
        };
        let rules = self.rules.iter().map(|rule| RULE + NAMED * named(rule)).sum::<usize>();
        rules + self.fences.bytes()
    }

    /// The geofences that the rules refer to.
    pub const fn fences(&self) -> &Arc<RuleFences> {
        &self.fences
    }
}
