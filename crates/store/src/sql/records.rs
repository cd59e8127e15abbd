//! Deleting records past their retention: audit entries, alerts, occurrences of rules, raw messages.

use futures_util::FutureExt as _;
use perigee_core::id::{AccountId, AlertId, AuditId, MessageId};
use perigee_core::retention::{DeletedRecords, RecordRetention};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::accounts;
use crate::tx::RowLock;
use crate::{Database, Tx, params};

/// Rows that one transaction deletes; bounds the time other writers wait.
const ROWS_PER_JOB: u32 = 2_000;

/// Ids begin with their creation time, so that the primary key finds the oldest rows; the time in the row decides,
/// because the id may come from a wrong clock.
const AUDITS: &str = "DELETE FROM audit WHERE account_id = ?1 AND id IN ( \
    SELECT id FROM audit WHERE account_id = ?1 AND id < ?2 AND at < ?3 ORDER BY id LIMIT ?4 {free})";
const ALERTS: &str = "DELETE FROM alert WHERE account_id = ?1 AND id IN ( \
    SELECT id FROM alert WHERE account_id = ?1 AND id < ?2 AND received_at < ?3 \
        AND id NOT IN (SELECT alert_id FROM rule_occurrence WHERE account_id = ?1 AND ends IS NULL) \
    ORDER BY id LIMIT ?4 {free})";
const OCCURRENCES: &str = "DELETE FROM rule_occurrence WHERE account_id = ?1 AND id IN ( \
    SELECT id FROM rule_occurrence WHERE account_id = ?1 AND id < ?2 AND ends IS NOT NULL AND ends < ?3 \
    ORDER BY id LIMIT ?4 {free})";

const MESSAGES: &str = "DELETE FROM raw_message WHERE account_id = ?1 AND id IN ( \
    SELECT id FROM raw_message WHERE account_id = ?1 AND id < ?2 AND received_at < ?3 ORDER BY id LIMIT ?4 {free})";

/// Deletes expired records as of this instant, account by account.
pub(super) async fn delete_old(
    database: &Database,
    retention: RecordRetention,
    now: Timestamp,
) -> Result<DeletedRecords> {
    let mut deleted = DeletedRecords::default();
    if retention == RecordRetention::default() {
        return Ok(deleted);
    }
    for account in database.read(|tx| accounts::ids(tx).boxed()).await? {
        if let Some(keep_ms) = retention.audits_ms {
            deleted.audits +=
                in_slices(database, account, AUDITS, now.plus_millis(-keep_ms), audit_id).await?;
        }
        if let Some(keep_ms) = retention.alerts_ms {
            deleted.alerts +=
                in_slices(database, account, ALERTS, now.plus_millis(-keep_ms), alert_id).await?;
        }
        if let Some(keep_ms) = retention.occurrences_ms {
            deleted.occurrences +=
                in_slices(database, account, OCCURRENCES, now.plus_millis(-keep_ms), alert_id).await?;
        }
        if let Some(keep_ms) = retention.messages_ms {
            deleted.messages +=
                in_slices(database, account, MESSAGES, now.plus_millis(-keep_ms), message_id).await?;
        }
    }
    Ok(deleted)
}

fn audit_id(cut: Timestamp) -> i64 {
    AuditId::first_at(cut).as_i64()
}

/// Ids of occurrences are generated like those of alerts.
fn alert_id(cut: Timestamp) -> i64 {
    AlertId::first_at(cut).as_i64()
}

fn message_id(cut: Timestamp) -> i64 {
    MessageId::first_at(cut).as_i64()
}

async fn in_slices(
    database: &Database,
    account: AccountId,
    sql: &'static str,
    cut: Timestamp,
    first_id: fn(Timestamp) -> i64,
) -> Result<u64> {
    let mut gone = 0;
    loop {
        let some =
            database.write_background(move |tx| slice(tx, account, sql, cut, first_id).boxed()).await?;
        gone += some;
        if some < u64::from(ROWS_PER_JOB) {
            return Ok(gone);
        }
    }
}

async fn slice(
    tx: &Tx,
    account: AccountId,
    sql: &'static str,
    cut: Timestamp,
    first_id: fn(Timestamp) -> i64,
) -> Result<u64> {
    tx.keep_device_cache_valid();
    // Locked rows are left for the next run.
    let free = tx.row_lock(RowLock::SkipLocked);
    Ok(tx.execute(&sql.replace("{free}", free), params![account, first_id(cut), cut, ROWS_PER_JOB]).await?)
}
