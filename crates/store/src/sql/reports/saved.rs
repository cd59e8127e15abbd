//! Creating, listing, replacing and deleting saved reports.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::access::audit::changed;
use perigee_core::access::user::UserStatus;
use perigee_core::alerts::severity::Severity;
use perigee_core::day::Date;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, SavedReportId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::notifications::routing::{AlertRouting, RoutedUser};
use perigee_core::page::{Page, PageRequest};
use perigee_core::reports::{Paused, ReportSchedule, SavedReport, SavedReportSettings};
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::runs;
use crate::sql::query::Query;
use crate::sql::{
    access::audit, access::user_rows, accounts, column, idempotency, ids, notifications::routing,
};
use crate::{Row, Tx, params};

const COLUMNS: &str =
    "account_id, id, owner_id, revision, settings, due, done_on, token, creation, last_modified";
const MISSING: StoreError = StoreError::NotFound(Kind::SavedReport);

/// A row of a saved report, with what only the schedule needs.
pub(super) struct Stored {
    pub(super) report: SavedReport,
    /// The last date that was done.
    pub(super) done: Option<Date>,
    pub(super) token: i64,
}

pub(super) fn from_row(row: &Row) -> Result<Stored> {
    let report = SavedReport {
        id: SavedReportId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        owner: row.opt_i64("owner_id")?.map(UserId::from_i64),
        revision: Revision(row.i64("revision")?),
        settings: column::json(row, "settings")?,
        next_run: row.opt_timestamp("due")?,
        last_run: None,
        paused: None,
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
    };
    Ok(Stored { report, done: column::opt_parsed(row, "done_on")?, token: row.i64("token")? })
}

/// One saved report of an account, whoever may see it.
pub(super) async fn find_row(tx: &Tx, account: AccountId, id: SavedReportId) -> Result<Option<Stored>> {
    let sql = format!("SELECT {COLUMNS} FROM saved_report WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![account, id]).await?.as_ref().map(from_row).transpose()
}

/// Why the schedule of a report makes nothing; `None` if it does or if there is none.
pub(super) async fn paused(tx: &Tx, report: &SavedReport) -> Result<Option<Paused>> {
    match &report.settings.schedule {
        None => return Ok(None),
        Some(schedule) if !schedule.enabled => return Ok(Some(Paused::Off)),
        Some(_) => {}
    }
    let Some(owner) = report.owner else { return Ok(Some(Paused::OwnerDeleted)) };
    Ok(match user_rows::find(tx, report.account, owner).await? {
        None => Some(Paused::OwnerDeleted),
        Some(user) if user.profile.status(tx.now()) != UserStatus::Active => Some(Paused::OwnerInactive),
        Some(_) => None,
    })
}

/// Adds what is read from other tables. A schedule that makes nothing has no next run.
async fn shown(tx: &Tx, mut report: SavedReport) -> Result<SavedReport> {
    report.paused = paused(tx, &report).await?;
    report.last_run = runs::latest(tx, report.account, report.id).await?;
    if report.paused.is_some() {
        report.next_run = None;
    }
    Ok(report)
}

/// Starts a query over the reports that this user sees; the operator sees all.
fn select(scope: Scope, viewer: Option<UserId>) -> Query {
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM saved_report WHERE account_id = ?1"),
        params![scope.account],
    );
    if !scope.is_whole() {
        query.push_with(" AND owner_id = {}", viewer);
    }
    query
}

pub(super) async fn find(
    tx: &Tx,
    scope: Scope,
    viewer: Option<UserId>,
    id: SavedReportId,
) -> Result<Option<SavedReport>> {
    let mut query = select(scope, viewer);
    query.push_with(" AND id = {}", id);
    match query.row(tx).await? {
        Some(row) => shown(tx, from_row(&row)?.report).await.map(Some),
        None => Ok(None),
    }
}

pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    viewer: UserId,
    page: PageRequest,
) -> Result<Page<SavedReport>> {
    let mut query = select(scope, Some(viewer));
    query.push_with(" AND id > {}", page.after.unwrap_or(i64::MIN));
    query.push_with(" ORDER BY id LIMIT {}", i64::from(page.limit) + 1);
    let mut reports = Vec::new();
    for row in query.rows(tx).await? {
        reports.push(shown(tx, from_row(&row)?.report).await?);
    }
    Ok(Page::cut(reports, page.limit, |report| report.id.as_i64()))
}

fn text(settings: &SavedReportSettings) -> Result<String> {
    serde_json::to_string(settings).map_err(|cause| StoreError::Internal(cause.into()))
}

/// The recipients that the actor may keep naming: those of `before`, and the actor.
fn may_name(actor: &Actor, before: Option<&SavedReportSettings>) -> AlertRouting {
    let schedule = before.and_then(|before| before.schedule.as_ref());
    let mut known = schedule.map(|schedule| schedule.recipients.clone()).unwrap_or_default();
    let own = actor.origin.user;
    known.users.extend(own.map(|user| RoutedUser { user, minimum_severity: Severity::Info, schedule: None }));
    known
}

/// When the schedule is due for the first time after a change, and the last date that counts as done. Switching a
/// schedule on, or moving its time, makes no report of a time that has passed; what is due already stays due.
fn first_due(
    schedule: Option<&ReportSchedule>,
    before: Option<(&ReportSchedule, Option<Date>)>,
    now: Timestamp,
) -> (Option<Timestamp>, Option<Date>) {
    let done = before.and_then(|(_, done)| done);
    let Some(schedule) = schedule.filter(|schedule| schedule.enabled) else { return (None, done) };
    let done = done.filter(|done| !schedule.is_ahead(*done, now));
    if let Some((old, _)) = before.filter(|(old, _)| old.enabled)
        && old.due(done, now).is_some()
        && schedule.due(done, now).is_some()
    {
        return (Some(now), done);
    }
    let done = done.max(schedule.latest(now).map(|latest| latest.date));
    (schedule.next(done, now).map(|next| next.at), done)
}

pub(super) async fn create(
    tx: &Tx,
    actor: Actor,
    settings: SavedReportSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<SavedReport>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let sql = "SELECT COUNT(*) AS count FROM saved_report WHERE account_id = ?1";
    if tx.query_one(sql, params![account]).await?.i64("count")? >= i64::from(SavedReport::COUNT_MAX) {
        return Err(StoreError::TooMany { kind: Kind::SavedReport, most: SavedReport::COUNT_MAX });
    }
    let named = settings.schedule.as_ref().map(|schedule| &schedule.recipients);
    routing::require_named(tx, &actor, Some(&may_name(&actor, None)), named).await?;
    let (due, done) = first_due(settings.schedule.as_ref(), None, tx.now());
    let id = SavedReportId::from_i64(ids::fresh_id(tx, "saved_report", account).await?);
    let sql = format!("INSERT INTO saved_report ({COLUMNS}) VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, 0, ?7, ?7)");
    let done = done.map(|done| done.to_string());
    let values = params![account, id, actor.origin.user, text(&settings)?, due, done, tx.now()];
    tx.execute(&sql, values).await?;
    audit::record(tx, account, &actor.origin, "savedReport.create", Some(id.to_string())).await?;
    let report = find(tx, actor.scope, actor.origin.user, id).await?.ok_or(MISSING)?;
    idempotency::keep(tx, account, once.as_ref(), &report).await?;
    Ok(Created::Now(report))
}

pub(super) async fn replace(
    tx: &Tx,
    actor: Actor,
    id: SavedReportId,
    seen: Revision,
    settings: SavedReportSettings,
) -> Result<SavedReport> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, actor.origin.user, id).await?.ok_or(MISSING)?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::SavedReport));
    }
    if before.settings == settings {
        return Ok(before);
    }
    let done = find_row(tx, account, id).await?.ok_or(MISSING)?.done;
    let named = settings.schedule.as_ref().map(|schedule| &schedule.recipients);
    routing::require_named(tx, &actor, Some(&may_name(&actor, Some(&before.settings))), named).await?;
    let old = before.settings.schedule.as_ref().map(|schedule| (schedule, done));
    let (due, done) = first_due(settings.schedule.as_ref(), old, tx.now());
    let done = done.map(|done| done.to_string());
    let sql = "UPDATE saved_report SET revision = revision + 1, settings = ?3, due = ?4, done_on = ?5, \
                   token = token + 1, last_modified = ?6 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, id, text(&settings)?, due, done, tx.now()]).await?;
    if due != Some(tx.now()) {
        runs::end_unfinished(tx, account, id, "the report was changed before it was made").await?;
    }
    let detail = changed(&settings.changes_since(&before.settings));
    audit::record_with(tx, account, &actor.origin, "savedReport.update", Some(id.to_string()), detail)
        .await?;
    find(tx, actor.scope, actor.origin.user, id).await?.ok_or(MISSING)
}

pub(super) async fn delete(tx: &Tx, actor: Actor, id: SavedReportId, seen: Option<Revision>) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, actor.origin.user, id).await?.ok_or(MISSING)?;
    if seen.is_some_and(|seen| seen != before.revision) {
        return Err(StoreError::RevisionMismatch(Kind::SavedReport));
    }
    tx.execute("DELETE FROM saved_report WHERE account_id = ?1 AND id = ?2", params![account, id]).await?;
    audit::record(tx, account, &actor.origin, "savedReport.delete", Some(id.to_string())).await
}
