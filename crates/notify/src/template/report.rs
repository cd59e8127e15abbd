//! The data of an overview report for templates.

use perigee_core::notifications::overview::{GroupTotals, Overview, Totals};
use serde::Serialize;

use super::words::words;

/// The data of an overview report for templates; zeros in other messages.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Report {
    frequency: &'static str,
    first: String,
    last: String,
    #[serde(flatten)]
    total: Counts,
    groups: Vec<Group>,
    more_groups: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Counts {
    devices: u64,
    /// Kilometres, as the filter `distance` expects.
    distance: f64,
    alerts: u64,
    critical: u64,
    suppressed: u64,
    silent: u64,
    silent_devices: Vec<String>,
    more_silent: u64,
}

#[derive(Clone, Debug, Serialize)]
struct Group {
    name: String,
    #[serde(flatten)]
    figures: Counts,
}

impl Report {
    pub(super) fn of(overview: &Overview, language: &str) -> Self {
        let no_group = words(language).label.get("no_group");
        let group = |group: &GroupTotals| Group {
            name: group.name.as_ref().or(no_group).cloned().unwrap_or_default(),
            figures: Counts::of(&group.figures),
        };
        Self {
            frequency: overview.frequency.name(),
            first: overview.period.first.to_string(),
            last: overview.period.last.to_string(),
            total: Counts::of(&overview.total),
            groups: overview.groups.iter().map(group).collect(),
            more_groups: overview.more_groups,
        }
    }
}

impl Counts {
    fn of(figures: &Totals) -> Self {
        let named = u64::try_from(figures.silent_names.len()).unwrap_or(u64::MAX);
        #[expect(clippy::cast_precision_loss, reason = "whole metres are exact up to 2^53")]
        let distance = figures.metres as f64 / 1_000.0;
        Self {
            devices: figures.devices,
            distance,
            alerts: figures.alerts,
            critical: figures.critical,
            suppressed: figures.suppressed,
            silent: figures.silent,
            silent_devices: figures.silent_names.clone(),
            more_silent: figures.silent.saturating_sub(named),
        }
    }
}
