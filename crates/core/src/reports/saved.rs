//! A report with a name, as stored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Occurrence, ReportRun, ReportSchedule};
use crate::access::user::User;
use crate::accounts::account::Account;
use crate::id::{AccountId, SavedReportId, UserId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A report with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedReport {
    /// Assigned by the service; never changes.
    pub id: SavedReportId,
    /// The account it belongs to.
    pub account: AccountId,
    /// The user who created it. Scheduled runs show what this user may see at the time.
    pub owner: Option<UserId>,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: SavedReportSettings,
    /// When it is made next, or tried again; `None` without a schedule.
    pub next_run: Option<Timestamp>,
    /// The latest run.
    pub last_run: Option<ReportRun>,
    /// Why the schedule makes nothing at present; `None` if it does, or if there is none.
    pub paused: Option<Paused>,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// Why a schedule makes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Paused {
    /// It is switched off.
    Off,
    /// The owner was deleted.
    OwnerDeleted,
    /// The owner is disabled, has expired or is not valid yet.
    OwnerInactive,
}

/// The settings of a saved report that a client can change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedReportSettings {
    /// Shown in lists and mails.
    pub name: String,
    /// The report, as `POST /api/reports/run` takes it, with a named period.
    pub report: Value,
    /// When it is mailed; `None` if it is not.
    pub schedule: Option<ReportSchedule>,
}

impl SavedReport {
    /// Maximum number of saved reports of an account.
    pub const COUNT_MAX: u32 = 200;
}

impl SavedReportSettings {
    /// Maximum number of recipients by address, and of users and contact groups, of a schedule.
    pub const RECIPIENTS_MAX: usize = 50;

    /// The members that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 3] {
        [
            ("name", self.name != before.name),
            ("report", self.report != before.report),
            ("schedule", self.schedule != before.schedule),
        ]
    }
}

impl Paused {
    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::OwnerDeleted => "ownerDeleted",
            Self::OwnerInactive => "ownerInactive",
        }
    }

    /// Why a run was skipped.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Off => "the schedule is off",
            Self::OwnerDeleted => "the owner of the report was deleted",
            Self::OwnerInactive => "the owner of the report may not sign in",
        }
    }
}

/// A run of a report that is due, claimed by a worker.
#[derive(Clone, Debug)]
pub struct ReportTask {
    /// The account it is for.
    pub account: Account,
    /// The user whose view the report shows.
    pub owner: User,
    /// The report and its settings when it was claimed.
    pub report: SavedReportId,
    /// Its settings when it was claimed.
    pub settings: SavedReportSettings,
    /// The date and instant of the schedule.
    pub occurrence: Occurrence,
    /// Fencing token: grows with each claim and each change of the report.
    pub token: i64,
    /// How often the run was begun, with this attempt.
    pub attempt: u32,
}
