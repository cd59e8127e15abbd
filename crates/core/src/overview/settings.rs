//! What an account wants to be told in an overview, when, and who reads it.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Mark, Period};
use crate::account::Account;
use crate::id::GroupId;
use crate::revision::Revision;
use crate::routing::Preferences;
use crate::schedule::Weekday;
use crate::text::Email;
use crate::time::Timestamp;

/// How often a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Frequency {
    /// Never.
    #[default]
    Off,
    /// For each day.
    Daily,
    /// For each seven days.
    Weekly,
}

impl Frequency {
    /// Every one there is.
    pub const ALL: [Self; 3] = [Self::Off, Self::Daily, Self::Weekly];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
        }
    }
}

/// A text that names no frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of off, daily, weekly")]
pub struct UnknownFrequency;

impl FromStr for Frequency {
    type Err = UnknownFrequency;

    fn from_str(text: &str) -> Result<Self, UnknownFrequency> {
        Self::ALL.into_iter().find(|frequency| frequency.name() == text).ok_or(UnknownFrequency)
    }
}

/// Somebody who reads the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverviewRecipient {
    /// Where it is sent.
    pub address: Email,
    /// How they like to read.
    pub preferences: Preferences,
}

/// What an account wants to be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverviewSettings {
    /// How often.
    pub frequency: Frequency,
    /// The day of the week a weekly report is written on; it tells of the seven days before.
    pub weekday: Weekday,
    /// The hour of the account's day from which on it is written.
    pub hour: u8,
    /// Who reads it; the owners when there are none.
    pub recipients: Vec<OverviewRecipient>,
    /// The groups it tells of; all when there are none.
    pub groups: BTreeSet<GroupId>,
    /// Whether it tells of devices in no group.
    pub ungrouped: bool,
}

impl OverviewSettings {
    /// Readers one report may have.
    pub const RECIPIENTS_MAX: usize = 20;
    /// Groups that can be named.
    pub const GROUPS_MAX: usize = 1_000;
    /// The last hour of a day.
    pub const HOUR_MAX: u8 = 23;

    /// Whether a report tells of a device in these groups.
    pub fn tells_of(&self, groups: &[GroupId]) -> bool {
        if groups.is_empty() {
            self.ungrouped
        } else {
            groups.iter().any(|group| self.tells_of_group(*group))
        }
    }

    /// Whether a report tells of this group.
    pub fn tells_of_group(&self, group: GroupId) -> bool {
        self.groups.is_empty() || self.groups.contains(&group)
    }
}

impl Default for OverviewSettings {
    fn default() -> Self {
        Self {
            frequency: Frequency::Off,
            weekday: Weekday::Monday,
            hour: 7,
            recipients: Vec::new(),
            groups: BTreeSet::new(),
            ungrouped: true,
        }
    }
}

/// What an account wants to be told, as kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOverview {
    /// Counts the changes.
    pub revision: Revision,
    /// What is wanted.
    pub settings: OverviewSettings,
    /// How far it was told.
    pub mark: Option<Mark>,
    /// When it was last changed, if ever.
    pub last_modified: Option<Timestamp>,
}

impl StoredOverview {
    /// Where nothing was ever set.
    pub fn never() -> Self {
        Self { revision: Revision(0), settings: OverviewSettings::default(), mark: None, last_modified: None }
    }
}

/// A report to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverviewTask {
    /// For whom.
    pub account: Account,
    /// What is wanted.
    pub settings: OverviewSettings,
    /// The revision of what is wanted.
    pub revision: Revision,
    /// Of when it tells.
    pub period: Period,
}
