//! Settings of the overview report: content, time and recipients.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Period, ReportedUntil};
use crate::accounts::account::Account;
use crate::id::GroupId;
use crate::notifications::routing::Preferences;
use crate::revision::Revision;
use crate::rules::schedule::Weekday;
use crate::text::Email;
use crate::time::Timestamp;

/// How often a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Frequency {
    /// No reports are sent.
    #[default]
    Off,
    /// One report per day.
    Daily,
    /// One report per seven days.
    Weekly,
}

impl Frequency {
    /// Every frequency, in the order of the API's description.
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

/// The error for a text that is not a frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of off, daily, weekly")]
pub struct UnknownFrequency;

impl FromStr for Frequency {
    type Err = UnknownFrequency;

    fn from_str(text: &str) -> Result<Self, UnknownFrequency> {
        Self::ALL.into_iter().find(|frequency| frequency.name() == text).ok_or(UnknownFrequency)
    }
}

/// A recipient of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverviewRecipient {
    /// Where it is sent.
    pub address: Email,
    /// Language, units and name of the recipient.
    pub preferences: Preferences,
}

/// Settings of an account's report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverviewSettings {
    /// How often a report is sent; off by default.
    pub frequency: Frequency,
    /// The day on which a weekly report is written; it covers the seven days before.
    pub weekday: Weekday,
    /// The hour of the account's day, 0 to 23, from which it is written.
    pub hour: u8,
    /// Recipients; empty sends it to the owners.
    pub recipients: Vec<OverviewRecipient>,
    /// The groups it covers; empty covers all.
    pub groups: BTreeSet<GroupId>,
    /// Whether it covers devices in no group.
    pub ungrouped: bool,
}

impl OverviewSettings {
    /// Maximum number of recipients of a report.
    pub const RECIPIENTS_MAX: usize = 20;
    /// Maximum number of groups that can be selected.
    pub const GROUPS_MAX: usize = 1_000;
    /// The last hour of a day.
    pub const HOUR_MAX: u8 = 23;

    /// Whether the report covers a device in these groups.
    pub fn covers(&self, groups: &[GroupId]) -> bool {
        if groups.is_empty() { self.ungrouped } else { groups.iter().any(|group| self.covers_group(*group)) }
    }

    /// Whether the report covers this group.
    pub fn covers_group(&self, group: GroupId) -> bool {
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

/// The settings of an account's report, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOverview {
    /// Counts the changes; 0 if never set.
    pub revision: Revision,
    /// The settings, or the defaults if never set.
    pub settings: OverviewSettings,
    /// How far reports have been written; `None` before the first.
    pub mark: Option<ReportedUntil>,
    /// When it was last changed, if ever.
    pub last_modified: Option<Timestamp>,
}

impl StoredOverview {
    /// The state before anything was set.
    pub fn unset() -> Self {
        Self { revision: Revision(0), settings: OverviewSettings::default(), mark: None, last_modified: None }
    }
}

/// A report that is due, claimed by a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverviewTask {
    /// The account it is for.
    pub account: Account,
    /// The settings when it was claimed.
    pub settings: OverviewSettings,
    /// The revision of those settings; the report is discarded if they changed since.
    pub revision: Revision,
    /// The days it covers.
    pub period: Period,
}
