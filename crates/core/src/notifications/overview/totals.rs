//! The content of an overview report: totals of each group and of all devices.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Frequency, OverviewSettings, Period};
use crate::id::GroupId;

/// Silent devices listed by name per group; the rest is only counted.
const NAMED_MAX: usize = 5;

/// The counts of one device in the period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Alerts of the device in the period.
    pub alerts: u64,
    /// How many of the alerts were critical.
    pub critical: u64,
    /// Messages that were suppressed.
    pub suppressed: u64,
}

/// The activity of one device in the period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceActivity {
    /// The name of the device.
    pub name: String,
    /// Distance travelled in metres.
    pub metres: u64,
    /// Its alerts and suppressed messages.
    pub counts: DeviceCounts,
    /// Whether it is active and did not report in the period.
    pub is_silent: bool,
}

/// The totals of several devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of devices, each counted once.
    pub devices: u64,
    /// Distance travelled by all of them, in metres.
    pub metres: u64,
    /// Alerts of all of them.
    pub alerts: u64,
    /// How many of the alerts were critical.
    pub critical: u64,
    /// Messages that were suppressed.
    pub suppressed: u64,
    /// Active devices that did not report in the period.
    pub silent: u64,
    /// Names of some of the silent devices.
    pub silent_names: Vec<String>,
}

impl Totals {
    fn add(&mut self, device: &DeviceActivity) {
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

/// The totals of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupTotals {
    /// The name of the group; `None` for devices in no group.
    pub name: Option<String>,
    /// The totals of its devices.
    pub figures: Totals,
}

/// The content of one overview report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// Whether it is a daily or a weekly report.
    pub frequency: Frequency,
    /// The days it covers.
    pub period: Period,
    /// Totals of all devices it covers, each counted once.
    pub total: Totals,
    /// Totals by group, sorted by name, then the devices in no group.
    pub groups: Vec<GroupTotals>,
    /// Number of groups left out for length.
    pub more_groups: u64,
}

impl Overview {
    /// The most groups shown in one report.
    pub const GROUPS_MAX: usize = 50;
}

/// Builds a report. It holds totals of groups, not of devices, so that memory stays small.
#[derive(Debug)]
pub struct OverviewBuilder<'s> {
    settings: &'s OverviewSettings,
    total: Totals,
    groups: HashMap<GroupId, Totals>,
    ungrouped: Totals,
}

impl<'s> OverviewBuilder<'s> {
    /// An empty report with these settings.
    pub fn new(settings: &'s OverviewSettings) -> Self {
        Self { settings, total: Totals::default(), groups: HashMap::new(), ungrouped: Totals::default() }
    }

    /// Adds a device that is in these groups.
    pub fn add(&mut self, groups: &[GroupId], device: &DeviceActivity) {
        self.total.add(device);
        if groups.is_empty() {
            self.ungrouped.add(device);
        }
        for group in groups.iter().filter(|group| self.settings.covers_group(**group)) {
            self.groups.entry(*group).or_default().add(device);
        }
    }

    /// The groups that have totals so far.
    pub fn groups(&self) -> Vec<GroupId> {
        self.groups.keys().copied().collect()
    }

    /// The finished report, with these names of groups. A group that was deleted meanwhile counts in the total only.
    pub fn finish(mut self, period: Period, names: HashMap<GroupId, String>) -> Overview {
        let mut groups: Vec<GroupTotals> = names
            .into_iter()
            .filter_map(|(id, name)| {
                Some(GroupTotals { name: Some(name), figures: self.groups.remove(&id)? })
            })
            .collect();
        groups.sort_by_cached_key(|group| group.name.as_deref().map(str::to_lowercase));
        let more_groups = groups.len().saturating_sub(Overview::GROUPS_MAX);
        groups.truncate(Overview::GROUPS_MAX);
        if self.ungrouped.devices > 0 {
            groups.push(GroupTotals { name: None, figures: self.ungrouped });
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
        let mut summary = OverviewBuilder::new(&settings);
        let counts = DeviceCounts { alerts: 3, critical: 1, suppressed: 2 };
        let device = DeviceActivity { name: "Gaviota".into(), metres: 500, counts, is_silent: true };
        summary.add(&[trawlers, tugs, GroupId::from_i64(3)], &device);
        summary.add(&[], &DeviceActivity::default());
        let names = [(tugs, "tugs".to_owned()), (trawlers, "Trawlers".to_owned())].into();
        let overview = summary.finish(PERIOD, names);
        assert_eq!((overview.total.devices, overview.total.metres, overview.total.silent), (2, 500, 1));
        let shown: Vec<_> =
            overview.groups.iter().map(|group| (group.name.as_deref(), group.figures.alerts)).collect();
        assert_eq!(shown, [(Some("Trawlers"), 3), (Some("tugs"), 3), (None, 0)]);
        assert_eq!(overview.groups[0].figures.silent_names, ["Gaviota"]);
    }

    #[test]
    fn devices_beyond_the_list_are_counted() {
        let settings = OverviewSettings::default();
        let mut summary = OverviewBuilder::new(&settings);
        let ids: Vec<GroupId> = (0..60).map(GroupId::from_i64).collect();
        for _ in 0..9 {
            summary.add(&ids, &DeviceActivity { is_silent: true, ..DeviceActivity::default() });
        }
        let names = ids.iter().map(|id| (*id, id.to_string())).collect();
        let overview = summary.finish(PERIOD, names);
        assert_eq!((overview.groups.len(), overview.more_groups), (50, 10));
        let figures = &overview.groups[0].figures;
        assert_eq!((figures.silent, figures.silent_names.len()), (9, 5));
    }
}
