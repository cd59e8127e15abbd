//! Deletes records that are older than the operator keeps them: audit entries, alerts, episodes of rules.

use futures_util::FutureExt as _;
use perigee_core::id::{AccountId, AlertId, AuditId};
use perigee_core::retention::{DeletedRecords, RecordRetention};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::accounts;
use crate::{Database, Engine, Tx, params};

/// Rows one transaction deletes, so that no other writer waits for long.
const SLICE: u32 = 2_000;

/// Ids begin with the instant they were made at, so that the primary key finds the oldest rows; the instant in the row
/// decides, since a clock that was wrong may have made the id.
const AUDITS: &str = "DELETE FROM audit WHERE account_id = ?1 AND id IN ( \
    SELECT id FROM audit WHERE account_id = ?1 AND id < ?2 AND at < ?3 ORDER BY id LIMIT ?4 {free})";
const ALERTS: &str = "DELETE FROM alert WHERE account_id = ?1 AND id IN ( \
    SELECT id FROM alert WHERE account_id = ?1 AND id < ?2 AND received_at < ?3 \
        AND id NOT IN (SELECT alert_id FROM rule_occurrence WHERE account_id = ?1 AND ends IS NULL) \
    ORDER BY id LIMIT ?4 {free})";
const OCCURRENCES: &str = "DELETE FROM rule_occurrence WHERE account_id = ?1 AND id IN ( \
    SELECT id FROM rule_occurrence WHERE account_id = ?1 AND id < ?2 AND ends IS NOT NULL AND ends < ?3 \
    ORDER BY id LIMIT ?4 {free})";

/// Deletes what is older by this instant, account by account.
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
    }
    Ok(deleted)
}

fn audit_id(cut: Timestamp) -> i64 {
    AuditId::first_at(cut).as_i64()
}

/// Ids of occurrences are made as those of alerts are.
fn alert_id(cut: Timestamp) -> i64 {
    AlertId::first_at(cut).as_i64()
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
        if some < u64::from(SLICE) {
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
    // Rows another transaction holds wait for the next run: waiting for them could become a deadlock.
    let free = match tx.engine() {
        Engine::Sqlite => "",
        Engine::Postgres => "FOR UPDATE SKIP LOCKED",
    };
    Ok(tx.execute(&sql.replace("{free}", free), params![account, first_id(cut), cut, SLICE]).await?)
}
