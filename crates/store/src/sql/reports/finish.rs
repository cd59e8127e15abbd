//! Recording the result of an attempt to make a report.
//!
//! The mails, the file, the run and the mark that the date is done are written in one transaction, guarded by a fencing
//! token: whenever a node stops or a lease passes to another, each recipient gets one mail for each date.

use perigee_core::alerts::severity::Severity;
use perigee_core::backoff::wait_ms;
use perigee_core::id::{AccountId, SavedReportId};
use perigee_core::notifications::notification::{Audience, Channel, Notice, Source};
use perigee_core::reports::{Made, ReportNotice, ReportRun, ReportTask, RunOutcome};
use perigee_core::store::Result;

use super::claim::end_occurrence;
use super::runs::end_unfinished;
use super::saved;
use crate::sql::notifications::{contact_groups, outbox};
use crate::sql::{accounts, column};
use crate::{Tx, params};

/// The longest reason that is stored, in characters.
const REASON_CHARS_MAX: usize = 500;

pub(super) async fn finish(tx: &Tx, task: ReportTask, outcome: RunOutcome) -> Result<bool> {
    let account = accounts::lock(tx, task.account.id).await?.id;
    let present = saved::find_row(tx, account, task.report).await?;
    if present.is_none_or(|present| present.token != task.token) {
        return Ok(false);
    }
    match outcome {
        RunOutcome::Made(made) => {
            let written = write_mails(tx, &task, made).await?;
            mark(tx, &task, written).await?;
        }
        RunOutcome::Failed { reason } if task.attempt < ReportRun::ATTEMPTS_MAX => {
            wait(tx, &task, &reason).await?;
        }
        RunOutcome::Failed { reason } | RunOutcome::Refused { reason } => fail(tx, &task, &reason).await?,
    }
    Ok(true)
}

/// What was written for a report that was made.
struct Written {
    notice: ReportNotice,
    mails: usize,
}

/// Stores the file, and writes a mail to each recipient.
async fn write_mails(tx: &Tx, task: &ReportTask, made: Made) -> Result<Written> {
    let Made { mut notice, bytes } = made;
    let account = &task.account;
    let mut audience = Audience::default();
    if let Some(schedule) = &task.settings.schedule {
        // Read now, so that people who left since get nothing.
        let directory =
            contact_groups::directory(tx, account.id, std::iter::once(&schedule.recipients)).await?;
        audience.add(Source::Account, &schedule.recipients, &directory);
    }
    let readers: Vec<_> = audience
        .addressees(tx.now(), &account.settings.time_zone)
        .into_iter()
        .filter(|one| one.channel == Channel::EMAIL)
        .filter_map(|one| {
            let recipient = one.notice(Severity::Critical).map(Notice::recipient)?;
            Some((one.address.to_owned(), recipient.preferences.clone()))
        })
        .collect();
    notice.attached = match bytes {
        Some(bytes) if !readers.is_empty() => keep_file(tx, task, &notice, bytes).await?,
        _ => false,
    };
    let mails = readers.len();
    outbox::write_report(tx, account.id, readers, &notice).await?;
    Ok(Written { notice, mails })
}

/// Stores a file, unless the account keeps too many.
async fn keep_file(tx: &Tx, task: &ReportTask, notice: &ReportNotice, bytes: Vec<u8>) -> Result<bool> {
    let sql = "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS kept FROM report_file WHERE account_id = ?1";
    let kept: u64 = tx.query_one(sql, params![task.account.id]).await?.int("kept")?;
    if notice.size > ReportNotice::ATTACHED_BYTES_MAX || kept + notice.size > ReportNotice::ACCOUNT_BYTES_MAX
    {
        return Ok(false);
    }
    let sql = "INSERT INTO report_file (account_id, report_id, number, size, bytes, created) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
               ON CONFLICT (account_id, report_id, number) DO UPDATE SET \
                   size = excluded.size, bytes = excluded.bytes, created = excluded.created";
    let (number, size) = (ReportRun::number(task.occurrence.date), sql_number(notice.size)?);
    tx.execute(sql, params![task.account.id, task.report, number, size, bytes, tx.now()]).await?;
    Ok(true)
}

fn sql_number(count: u64) -> Result<i64> {
    i64::try_from(count).map_err(|_too_large| column::unreadable("size", "too large"))
}

/// Records the run, and marks its date as done.
async fn mark(tx: &Tx, task: &ReportTask, Written { notice, mails }: Written) -> Result<()> {
    let (account, id) = (task.account.id, task.report);
    let (state, reason) = match mails {
        0 => ("failed", Some("the schedule has no recipient with an e-mail address")),
        _ => ("sent", None),
    };
    let sql = "UPDATE report_run SET state = ?4, reason = ?5, ended = ?6, row_count = ?7, size = ?8, attached = ?9, \
                   recipients = ?10 WHERE account_id = ?1 AND report_id = ?2 AND number = ?3";
    let number = ReportRun::number(task.occurrence.date);
    let (rows, size) = (sql_number(notice.rows)?, sql_number(notice.size)?);
    let mails = sql_number(u64::try_from(mails).unwrap_or(u64::MAX))?;
    let values = params![account, id, number, state, reason, tx.now(), rows, size, notice.attached, mails];
    tx.execute(sql, values).await?;
    end_occurrence(tx, account, id, task.settings.schedule.as_ref(), Some(task.occurrence.date)).await
}

/// Schedules another attempt.
async fn wait(tx: &Tx, task: &ReportTask, reason: &str) -> Result<()> {
    let (account, id) = (task.account.id, task.report);
    let chance = u16::try_from(id.as_i64().unsigned_abs() % 1_001).unwrap_or_default();
    let due = tx.now().plus_millis(wait_ms(&ReportRun::WAITS_S, task.attempt, chance));
    let sql = "UPDATE report_run SET state = 'waiting', ended = ?4, reason = ?5 \
               WHERE account_id = ?1 AND report_id = ?2 AND number = ?3";
    let number = ReportRun::number(task.occurrence.date);
    tx.execute(sql, params![account, id, number, tx.now(), clean(reason)]).await?;
    set_due(tx, account, id, due).await
}

async fn set_due(
    tx: &Tx,
    account: AccountId,
    id: SavedReportId,
    due: perigee_core::time::Timestamp,
) -> Result<()> {
    let sql = "UPDATE saved_report SET due = ?3, token = token + 1 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, id, due]).await?;
    Ok(())
}

async fn fail(tx: &Tx, task: &ReportTask, reason: &str) -> Result<()> {
    let (account, id) = (task.account.id, task.report);
    end_unfinished(tx, account, id, &clean(reason)).await?;
    end_occurrence(tx, account, id, task.settings.schedule.as_ref(), Some(task.occurrence.date)).await
}

fn clean(reason: &str) -> String {
    let letters = reason.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    letters.take(REASON_CHARS_MAX).collect()
}

/// Writes the mails without marking the date as done, as if a node marked it afterwards and stopped before. Deliberately
/// wrong: the tests of scheduled reports must catch it.
#[cfg(feature = "testing")]
pub async fn finish_report_unmarked(
    database: &crate::Database,
    task: ReportTask,
    outcome: RunOutcome,
) -> Result<()> {
    let RunOutcome::Made(made) = outcome else { return Ok(()) };
    database
        .write(move |tx| {
            Box::pin(async move {
                accounts::lock(tx, task.account.id).await?;
                write_mails(tx, &task, made).await.map(drop)
            })
        })
        .await
}
