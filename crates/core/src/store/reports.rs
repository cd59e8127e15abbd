//! Methods of the store for saved reports and their scheduled runs.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::day::Date;
use crate::id::{AccountId, SavedReportId, UserId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::reports::{ReportRun, ReportTask, RunOutcome, SavedReport, SavedReportSettings};
use crate::revision::Revision;

/// Saved reports. A user who sees the whole account sees all of them, others see their own.
#[async_trait]
pub trait SavedReports: Send + Sync {
    /// Creates a saved report that belongs to the actor. Refused if the account has [`SavedReport::COUNT_MAX`], or if the
    /// schedule names a user or contact group that the actor may not name.
    async fn create_saved_report(
        &self,
        actor: &Actor,
        settings: SavedReportSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<SavedReport>>;

    /// Finds a saved report that this user sees.
    async fn find_saved_report(
        &self,
        scope: Scope,
        viewer: UserId,
        id: SavedReportId,
    ) -> Result<Option<SavedReport>>;

    /// Lists the saved reports that this user sees, by id.
    async fn list_saved_reports(
        &self,
        scope: Scope,
        viewer: UserId,
        page: PageRequest,
    ) -> Result<Page<SavedReport>>;

    /// Replaces the settings. An attempt that is being made for the old settings cannot be finished any more; what was
    /// due stays due.
    async fn replace_saved_report(
        &self,
        actor: &Actor,
        id: SavedReportId,
        seen: Revision,
        settings: SavedReportSettings,
    ) -> Result<SavedReport>;

    /// Deletes a saved report with its runs and files.
    async fn delete_saved_report(
        &self,
        actor: &Actor,
        id: SavedReportId,
        seen: Option<Revision>,
    ) -> Result<()>;

    /// Lists the runs of a saved report, the latest first.
    async fn list_report_runs(
        &self,
        scope: Scope,
        viewer: UserId,
        id: SavedReportId,
        page: PageRequest,
    ) -> Result<Page<ReportRun>>;

    /// Claims a report that is due, for `lease_ms`; `None` if there is none, or all are claimed. Reports whose owner may
    /// not sign in are recorded as skipped.
    async fn claim_report(&self, lease_ms: i64) -> Result<Option<ReportTask>>;

    /// Records the result of an attempt and, if the report was made, stores its file and writes its mails, in one
    /// transaction. Returns false if the report was changed, deleted, or claimed by another worker meanwhile.
    async fn finish_report(&self, task: ReportTask, outcome: RunOutcome) -> Result<bool>;

    /// The bytes of the file of a run; `None` if it is not kept any more.
    async fn find_report_file(
        &self,
        account: AccountId,
        id: SavedReportId,
        date: Date,
    ) -> Result<Option<Vec<u8>>>;
}
