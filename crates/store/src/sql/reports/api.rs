//! Implements the store's `SavedReports` trait by SQL.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::day::Date;
use perigee_core::id::{AccountId, SavedReportId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::reports::{ReportRun, ReportTask, RunOutcome, SavedReport, SavedReportSettings};
use perigee_core::revision::Revision;
use perigee_core::store::SavedReports;

use super::{claim, finish, runs, saved};
use crate::forward::forward;

forward! {
    impl SavedReports for Database {
        write create_saved_report(
            &self, &actor: Actor, settings: SavedReportSettings, once: Option<IdempotencyKey>
        ) -> Created<SavedReport> = saved::create;
        read find_saved_report(&self, scope: Scope, viewer: UserId, id: SavedReportId)
            -> Option<SavedReport> = saved::find(scope, Some(viewer), id);
        read list_saved_reports(&self, scope: Scope, viewer: UserId, page: PageRequest)
            -> Page<SavedReport> = saved::list;
        write replace_saved_report(
            &self, &actor: Actor, id: SavedReportId, seen: Revision, settings: SavedReportSettings
        ) -> SavedReport = saved::replace;
        write delete_saved_report(&self, &actor: Actor, id: SavedReportId, seen: Option<Revision>)
            -> () = saved::delete;
        read list_report_runs(
            &self, scope: Scope, viewer: UserId, id: SavedReportId, page: PageRequest
        ) -> Page<ReportRun> = runs::list;
        run claim_report(&self, lease_ms: i64) -> Option<ReportTask> = claim::claim_next;
        write finish_report(&self, task: ReportTask, outcome: RunOutcome) -> bool = finish::finish;
        read find_report_file(&self, account: AccountId, id: SavedReportId, date: Date)
            -> Option<Vec<u8>> = runs::find_file;
    }
}
