//! The rows of runs: one for each local date of a schedule.

use perigee_core::access::actor::Scope;
use perigee_core::day::Date;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, SavedReportId, UserId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::reports::{Occurrence, ReportRun, RunState};
use perigee_core::store::Result;

use super::saved;
use crate::sql::column;
use crate::{Row, Tx, params};

const COLUMNS: &str =
    "number, scheduled_at, state, attempts, started, ended, row_count, size, attached, recipients, reason";

fn from_row(row: &Row) -> Result<ReportRun> {
    let number = row.i64("number")?;
    let unreadable = || column::unreadable("number", "not a date");
    let part = |value: i64| i8::try_from(value).map_err(|_too_large| unreadable());
    let year = i16::try_from(number / 10_000).map_err(|_too_large| unreadable())?;
    let (month, day) = (part(number / 100 % 100)?, part(number % 100)?);
    Ok(ReportRun {
        date: Date::new(year, month, day).ok_or_else(unreadable)?,
        scheduled_at: row.timestamp("scheduled_at")?,
        state: column::parsed(row, "state")?,
        attempts: row.int("attempts")?,
        started: row.timestamp("started")?,
        ended: row.opt_timestamp("ended")?,
        rows: row.opt_int("row_count")?,
        bytes: row.opt_int("size")?,
        attached: row.bool("attached")?,
        recipients: row.int("recipients")?,
        error: row.opt_text("reason")?,
    })
}

pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    viewer: UserId,
    id: SavedReportId,
    page: PageRequest,
) -> Result<Page<ReportRun>> {
    if saved::find(tx, scope, Some(viewer), id).await?.is_none() {
        return Err(StoreError::NotFound(Kind::SavedReport));
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM report_run WHERE account_id = ?1 AND report_id = ?2 AND number < ?3 \
         ORDER BY number DESC LIMIT ?4"
    );
    let values = params![scope.account, id, page.after.unwrap_or(i64::MAX), i64::from(page.limit) + 1];
    let runs = tx.query(&sql, values).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(runs, page.limit, |run| ReportRun::number(run.date)))
}

/// The latest run of a report.
pub(super) async fn latest(tx: &Tx, account: AccountId, id: SavedReportId) -> Result<Option<ReportRun>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM report_run WHERE account_id = ?1 AND report_id = ?2 ORDER BY number DESC LIMIT 1"
    );
    tx.query_opt(&sql, params![account, id]).await?.as_ref().map(from_row).transpose()
}

/// Begins an attempt, or records that nothing is made, and deletes the oldest runs. Returns how often the run was begun.
pub(super) async fn begin(
    tx: &Tx,
    account: AccountId,
    id: SavedReportId,
    occurrence: Occurrence,
    skipped: Option<&str>,
) -> Result<u32> {
    let number = ReportRun::number(occurrence.date);
    let (state, ended) =
        if skipped.is_some() { (RunState::Skipped, Some(tx.now())) } else { (RunState::Running, None) };
    let sql = "INSERT INTO report_run (account_id, report_id, number, scheduled_at, state, attempts, started, ended, reason) \
               VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?8) \
               ON CONFLICT (account_id, report_id, number) DO UPDATE SET \
                   state = excluded.state, attempts = report_run.attempts + 1, started = excluded.started, \
                   ended = excluded.ended, reason = excluded.reason \
               RETURNING attempts";
    let values = params![
        account,
        id,
        number,
        occurrence.at,
        state.name(),
        tx.now(),
        ended,
        skipped.map(str::to_owned)
    ];
    let attempts = tx.query_one(sql, values).await?.int("attempts")?;
    let sql = "DELETE FROM report_run WHERE account_id = ?1 AND report_id = ?2 AND number <= ( \
                   SELECT number FROM report_run WHERE account_id = ?1 AND report_id = ?2 \
                   ORDER BY number DESC LIMIT 1 OFFSET ?3)";
    tx.execute(sql, params![account, id, ReportRun::KEPT]).await?;
    Ok(attempts)
}

/// Marks runs that were begun and not finished as failed.
pub(super) async fn end_unfinished(
    tx: &Tx,
    account: AccountId,
    id: SavedReportId,
    reason: &str,
) -> Result<()> {
    let sql = "UPDATE report_run SET state = 'failed', ended = ?3, reason = ?4 \
               WHERE account_id = ?1 AND report_id = ?2 AND state IN ('running', 'waiting')";
    tx.execute(sql, params![account, id, tx.now(), reason]).await?;
    Ok(())
}

/// Marks runs of earlier dates that were begun and not finished as failed.
pub(super) async fn end_older(tx: &Tx, account: AccountId, id: SavedReportId, date: Date) -> Result<()> {
    let sql = "UPDATE report_run SET state = 'failed', ended = ?3, reason = 'a later run took its place' \
               WHERE account_id = ?1 AND report_id = ?2 AND number < ?4 AND state IN ('running', 'waiting')";
    tx.execute(sql, params![account, id, tx.now(), ReportRun::number(date)]).await?;
    Ok(())
}

pub(super) async fn find_file(
    tx: &Tx,
    account: AccountId,
    id: SavedReportId,
    date: Date,
) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT bytes FROM report_file WHERE account_id = ?1 AND report_id = ?2 AND number = ?3";
    let row = tx.query_opt(sql, params![account, id, ReportRun::number(date)]).await?;
    row.map(|row| Ok(row.bytes("bytes")?)).transpose()
}
