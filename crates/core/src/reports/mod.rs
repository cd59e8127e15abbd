//! Saved reports: a report with a name, and the schedule by which it is mailed.

mod run;
mod saved;
mod schedule;

pub use run::{Made, MadeFile, ReportNotice, ReportRun, RunOutcome, RunState, UnknownRunState};
pub use saved::{Paused, ReportTask, SavedReport, SavedReportSettings};
pub use schedule::{AttachmentFormat, MonthDay, Occurrence, ParseMonthDayError, Recurrence, ReportSchedule};
