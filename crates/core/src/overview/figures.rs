//! What a report says: figures of each group, and of all devices together, each counted once.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Frequency, OverviewSettings, Period};
use crate::id::GroupId;

/// Silent devices named for each group; the rest is counted.
const NAMED_MAX: usize = 5;

/// What happened to one device, as the store counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Alerts.
    pub alerts: u64,
    /// Those of them that could not wait.
    pub critical: u64,
    /// Messages that a rule kept back.
    pub suppressed: u64,
}

/// What one device did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceFigures {
    /// Its name.
    pub name: String,
    /// How far it went.
    pub metres: u64,
    /// What happened to it.
    pub counts: DeviceCounts,
    /// Whether it should have been heard and was not.
    pub is_silent: bool,
}

/// What some devices did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Devices.
    pub devices: u64,
    /// How far they went together.
    pub metres: u64,
    /// Alerts.
    pub alerts: u64,
    /// Those of them that could not wait.
    pub critical: u64,
    /// Messages that a rule kept back.
    pub suppressed: u64,
    /// Devices that should have been heard and were not.
    pub silent: u64,
    /// Some of them by name.
    pub silent_names: Vec<String>,
}

impl Figures {
    fn add(&mut self, device: &DeviceFigures) {
        self.devices += 1;
        self.metres += device.metres;
        self.alerts += device.counts.alerts;
        self.critical += device.counts.critical;
        self.suppressed += device.counts.suppressed;
        if device.is_silent {
            self.silent += 1;
            if self.silent_names.len() < NAMED_MAX {
                self.silent_names.push(device.name.clone());
            }
        }
    }
}

/// What the devices of a group did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupFigures {
    /// Its name; none for the devices in no group.
    pub name: Option<String>,
    /// What they did.
    pub figures: Figures,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// How often one is written.
    pub frequency: Frequency,
    /// Of when it tells.
    pub period: Period,
    /// All devices it tells of, each once.
    pub total: Figures,
    /// Those of each group by name, and then those in no group.
    pub groups: Vec<GroupFigures>,
    /// Groups that found no room.
    pub more_groups: u64,
}

impl Overview {
    /// Groups shown in one report.
    pub const GROUPS_MAX: usize = 50;
}

/// A report in the making. It holds figures of groups, never of devices.
#[derive(Debug)]
pub struct Summary<'s> {
    settings: &'s OverviewSettings,
    total: Figures,
    groups: HashMap<GroupId, Figures>,
    ungrouped: Figures,
}

impl<'s> Summary<'s> {
    /// Of nothing yet.
    pub fn new(settings: &'s OverviewSettings) -> Self {
        Self { settings, total: Figures::default(), groups: HashMap::new(), ungrouped: Figures::default() }
    }

    /// Adds a device in these groups, of which the report tells.
    pub fn add(&mut self, groups: &[GroupId], device: &DeviceFigures) {
        self.total.add(device);
        if groups.is_empty() {
            self.ungrouped.add(device);
        }
        for group in groups.iter().filter(|group| self.settings.tells_of_group(**group)) {
            self.groups.entry(*group).or_default().add(device);
        }
    }

    /// The groups it tells of.
    pub fn groups(&self) -> Vec<GroupId> {
        self.groups.keys().copied().collect()
    }

    /// The whole report, with these names of groups. A group that is gone meanwhile is in the total alone.
    pub fn finish(mut self, period: Period, names: HashMap<GroupId, String>) -> Overview {
        let mut groups: Vec<GroupFigures> = names
            .into_iter()
            .filter_map(|(id, name)| {
                Some(GroupFigures { name: Some(name), figures: self.groups.remove(&id)? })
            })
            .collect();
        groups.sort_by_cached_key(|group| group.name.as_deref().map(str::to_lowercase));
        let more_groups = groups.len().saturating_sub(Overview::GROUPS_MAX);
        groups.truncate(Overview::GROUPS_MAX);
        if self.ungrouped.devices > 0 {
            groups.push(GroupFigures { name: None, figures: self.ungrouped });
        }
        Overview {
            frequency: self.settings.frequency,
            period,
            total: self.total,
            groups,
            more_groups: u64::try_from(more_groups).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::day::Date;
    use crate::time::Timestamp;

    const PERIOD: Period =
        Period { first: Date::MIN, last: Date::MIN, begins: Timestamp::MIN, ends: Timestamp::MIN };

    #[test]
    fn a_device_in_two_groups_is_one_device() {
        let (trawlers, tugs) = (GroupId::from_i64(1), GroupId::from_i64(2));
        let settings = OverviewSettings { groups: [trawlers, tugs].into(), ..OverviewSettings::default() };
        let mut summary = Summary::new(&settings);
        let counts = DeviceCounts { alerts: 3, critical: 1, suppressed: 2 };
        let device = DeviceFigures { name: "Gaviota".into(), metres: 500, counts, is_silent: true };
        summary.add(&[trawlers, tugs, GroupId::from_i64(3)], &device);
        summary.add(&[], &DeviceFigures::default());
        let names = [(tugs, "tugs".to_owned()), (trawlers, "Trawlers".to_owned())].into();
        let overview = summary.finish(PERIOD, names);
        assert_eq!((overview.total.devices, overview.total.metres, overview.total.silent), (2, 500, 1));
        let shown: Vec<_> =
            overview.groups.iter().map(|group| (group.name.as_deref(), group.figures.alerts)).collect();
        assert_eq!(shown, [(Some("Trawlers"), 3), (Some("tugs"), 3), (None, 0)]);
        assert_eq!(overview.groups[0].figures.silent_names, ["Gaviota"]);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let settings = OverviewSettings::default();
        let mut summary = Summary::new(&settings);
        let ids: Vec<GroupId> = (0..60).map(GroupId::from_i64).collect();
        for _ in 0..9 {
            summary.add(&ids, &DeviceFigures { is_silent: true, ..DeviceFigures::default() });
        }
        let names = ids.iter().map(|id| (*id, id.to_string())).collect();
        let overview = summary.finish(PERIOD, names);
        assert_eq!((overview.groups.len(), overview.more_groups), (50, 10));
        let figures = &overview.groups[0].figures;
        assert_eq!((figures.silent, figures.silent_names.len()), (9, 5));
    }
}
