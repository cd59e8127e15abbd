//! Claiming a scheduled report that is due, by one worker at a time.

use futures_util::FutureExt as _;
use perigee_core::access::user::UserStatus;
use perigee_core::day::Date;
use perigee_core::id::{AccountId, SavedReportId};
use perigee_core::reports::{Occurrence, Paused, ReportRun, ReportSchedule, ReportTask};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::saved::Stored;
use super::{runs, saved};
use crate::sql::access::user_rows;
use crate::sql::accounts;
use crate::{Database, Tx, params};

/// Reports that one look considers.
const CANDIDATES: u32 = 50;
/// A due time beyond this, in seconds, was written by a wrong clock: a schedule is due once a month at least.
const LONGEST_WAIT_S: i64 = 64 * 24 * 3_600;

fn horizon(now: Timestamp) -> Timestamp {
    now.plus_seconds(LONGEST_WAIT_S)
}

async fn candidates(tx: &Tx) -> Result<Vec<(AccountId, SavedReportId)>> {
    // Two queries, because together they are not one index range.
    let mut found = Vec::new();
    for (compares, bound) in [("<=", tx.now()), (">", horizon(tx.now()))] {
        let sql =
            format!("SELECT account_id, id FROM saved_report WHERE due {compares} ?1 ORDER BY due LIMIT ?2");
        for row in tx.query(&sql, params![bound, CANDIDATES]).await? {
            let account = AccountId::from_i64(row.i64("account_id")?);
            found.push((account, SavedReportId::from_i64(row.i64("id")?)));
        }
    }
    Ok(found)
}

/// Marks an occurrence as done, and waits for the next. Whoever claimed it cannot finish it again.
pub(super) async fn end_occurrence(
    tx: &Tx,
    account: AccountId,
    id: SavedReportId,
    schedule: Option<&ReportSchedule>,
    done: Option<Date>,
) -> Result<()> {
    let schedule = schedule.filter(|schedule| schedule.enabled);
    let due = schedule.and_then(|schedule| schedule.next(done, tx.now())).map(|next| next.at);
    let sql =
        "UPDATE saved_report SET due = ?3, done_on = ?4, token = token + 1 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, id, due, done.map(|done| done.to_string())]).await?;
    Ok(())
}

/// The occurrence to make, or the date to mark as done instead if there is none.
fn occurrence(
    schedule: &ReportSchedule,
    done: Option<Date>,
    now: Timestamp,
) -> std::result::Result<Occurrence, Option<Date>> {
    if done.is_some_and(|done| schedule.is_ahead(done, now)) {
        return Err(schedule.latest(now).map(|latest| latest.date));
    }
    schedule.due(done, now).ok_or(done)
}

/// Claims a report, if it is still due.
async fn claim(tx: &Tx, account: AccountId, id: SavedReportId, lease_ms: i64) -> Result<Option<ReportTask>> {
    let account = accounts::lock(tx, account).await?;
    let Some(Stored { report, done, token }) = saved::find_row(tx, account.id, id).await? else {
        return Ok(None);
    };
    if report.next_run.is_none_or(|due| due > tx.now() && due <= horizon(tx.now())) {
        return Ok(None);
    }
    let schedule = report.settings.schedule.clone();
    let Some(schedule) = schedule.filter(|schedule| schedule.enabled) else {
        end_occurrence(tx, account.id, id, None, done).await?;
        return Ok(None);
    };
    let occurrence = match occurrence(&schedule, done, tx.now()) {
        Ok(occurrence) => occurrence,
        Err(done) => {
            end_occurrence(tx, account.id, id, Some(&schedule), done).await?;
            return Ok(None);
        }
    };
    let owner = match report.owner {
        Some(owner) => user_rows::find(tx, account.id, owner).await?,
        None => None,
    };
    let paused = match &owner {
        None => Some(Paused::OwnerDeleted),
        Some(owner) if owner.profile.status(tx.now()) != UserStatus::Active => Some(Paused::OwnerInactive),
        Some(_) => None,
    };
    let (Some(owner), None) = (owner, paused) else {
        runs::begin(tx, account.id, id, occurrence, paused.map(Paused::reason)).await?;
        end_occurrence(tx, account.id, id, Some(&schedule), Some(occurrence.date)).await?;
        return Ok(None);
    };
    // An older run that was not finished is replaced by this one.
    runs::end_older(tx, account.id, id, occurrence.date).await?;
    let attempt = runs::begin(tx, account.id, id, occurrence, None).await?;
    if attempt > ReportRun::ATTEMPTS_MAX {
        runs::end_unfinished(
            tx,
            account.id,
            id,
            "the server stopped each time while the report was being made",
        )
        .await?;
        end_occurrence(tx, account.id, id, Some(&schedule), Some(occurrence.date)).await?;
        return Ok(None);
    }
    let sql = "UPDATE saved_report SET token = token + 1, due = ?3 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account.id, id, tx.now().plus_millis(lease_ms)]).await?;
    let settings = report.settings;
    Ok(Some(ReportTask { account, owner, report: id, settings, occurrence, token: token + 1, attempt }))
}

pub(super) async fn claim_next(database: &Database, lease_ms: i64) -> Result<Option<ReportTask>> {
    for (account, id) in database.read(|tx| candidates(tx).boxed()).await? {
        let task = database.write(move |tx| claim(tx, account, id, lease_ms).boxed()).await?;
        if task.is_some() {
            return Ok(task);
        }
    }
    Ok(None)
}
