//! The runs of a scheduled report, and the mail about one.

use serde::{Deserialize, Serialize};

use crate::day::Date;
use crate::id::SavedReportId;
use crate::time::Timestamp;
use crate::zone::Zone;

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// A node makes the report.
    Running,
    /// It failed and is tried again.
    Waiting,
    /// The report was made, and its mails are in the outbox.
    Sent,
    /// It failed and is not tried again.
    Failed,
    /// Nothing was made, because the owner of the report may not sign in.
    Skipped,
}

/// The error for a text that is not the state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a state of a run")]
pub struct UnknownRunState;

impl RunState {
    /// Every state, in the order of the API document.
    pub const ALL: [Self; 5] = [Self::Running, Self::Waiting, Self::Sent, Self::Failed, Self::Skipped];

    /// Its name in the API and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl std::str::FromStr for RunState {
    type Err = UnknownRunState;

    fn from_str(text: &str) -> Result<Self, UnknownRunState> {
        Self::ALL.into_iter().find(|state| state.name() == text).ok_or(UnknownRunState)
    }
}

/// One run of a scheduled report, as stored. There is one for each local date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportRun {
    /// The local date of the schedule.
    pub date: Date,
    /// The instant of the schedule.
    pub scheduled_at: Timestamp,
    /// What became of it so far.
    pub state: RunState,
    /// How often it was begun.
    pub attempts: u32,
    /// When the latest attempt began.
    pub started: Timestamp,
    /// When the latest attempt ended; `None` while it runs.
    pub ended: Option<Timestamp>,
    /// Rows of the report.
    pub rows: Option<u64>,
    /// Bytes of the file.
    pub bytes: Option<u64>,
    /// Whether the file was attached, and not only linked.
    pub attached: bool,
    /// Mails that were written to the outbox.
    pub recipients: u32,
    /// Why the latest attempt failed, or nothing was made.
    pub error: Option<String>,
}

impl ReportRun {
    /// The number by which runs of a report are sorted and paged: the date as `YYYYMMDD`.
    pub fn number(date: Date) -> i64 {
        let date = date.to_jiff();
        (i64::from(date.year()) * 100 + i64::from(date.month())) * 100 + i64::from(date.day())
    }

    /// Runs of a report that are kept; older ones are deleted.
    pub const KEPT: u32 = 100;
    /// Attempts to make a report.
    pub const ATTEMPTS_MAX: u32 = 6;
    /// Waits after failed attempts, in seconds.
    pub const WAITS_S: [i64; 5] = [60, 300, 900, 3_600, 3_600];
}

/// The file of a report that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeFile {
    /// Its name, with the extension of the format.
    pub name: String,
    /// The media type of its bytes.
    pub media_type: String,
}

/// A report that was made for its recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// What the mail says.
    pub notice: ReportNotice,
    /// The file; `None` if it is too large for an attachment.
    pub bytes: Option<Vec<u8>>,
}

/// The result of an attempt to make a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// It was made.
    Made(Made),
    /// It was not made, and may be tried again.
    Failed {
        /// Shown to people who look into it.
        reason: String,
    },
    /// It was not made, and trying again would not help.
    Refused {
        /// Shown to people who look into it.
        reason: String,
    },
}

/// What the mail with a report says. Stored with each message of the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportNotice {
    /// The saved report.
    pub report: SavedReportId,
    /// The date of the run.
    pub date: Date,
    /// The name of the saved report.
    pub name: String,
    /// The beginning of the period.
    pub from: Timestamp,
    /// The end of the period, which does not belong to it.
    pub to: Timestamp,
    /// The zone of dates and times of the report.
    pub time_zone: Zone,
    /// Rows of the report.
    pub rows: u64,
    /// Bytes of the file.
    pub size: u64,
    /// The file.
    pub file: MadeFile,
    /// Whether the file is attached. Set by the store: not if it is too large, or if the account keeps too many files.
    pub attached: bool,
}

impl ReportNotice {
    /// Bytes of a file that is attached at most; a larger one is only linked.
    pub const ATTACHED_BYTES_MAX: u64 = 10 * 1024 * 1024;
    /// Bytes of all files that an account keeps until they are sent; beyond that, files are only linked.
    pub const ACCOUNT_BYTES_MAX: u64 = 200 * 1024 * 1024;
    /// How long a file is kept, in milliseconds: longer than its mails are tried.
    pub const KEPT_MS: i64 = 7 * 24 * 3_600_000;
}
