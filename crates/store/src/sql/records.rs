//! Deleting records past their retention: audit entries, alerts, occurrences of rules, raw messages, files of devices.

use futures_util::FutureExt as _;
use perigee_core::accounts::retention::{DeletedRecords, RecordRetention};
use perigee_core::id::{AccountId, AlertId, MessageId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::{accounts, gateways::gateway_changes};
use crate::tx::RowLock;
use crate::{Database, Tx, params};

/// Rows that one transaction deletes; bounds the time other writers wait.
const ROWS_PER_JOB: u32 = 2_000;

/// Records of one kind.
#[derive(Clone, Copy)]
struct Records {
    /// Whether the account `a` has any below the bound, `?1`.
    are_older: &'static str,
    /// `?2` is the bound, `?3` the instant.
    delete: &'static str,
    /// The bound of an instant: itself if an index finds rows by their time, otherwise the lowest id of that instant.
    bound: fn(Timestamp) -> i64,
}

/// Found by their time: ids of audit entries increase even if the clock was set back, and may then be ahead of it.
const AUDITS: Records = Records {
    are_older: "EXISTS (SELECT 1 FROM audit r WHERE r.account_id = a.id AND r.at < ?1)",
    delete: "DELETE FROM audit WHERE account_id = ?1 AND at < ?3 AND id IN ( \
        SELECT id FROM audit WHERE account_id = ?1 AND at < ?2 ORDER BY at LIMIT ?4 {free})",
    bound: Timestamp::as_millis,
};
/// Ids of alerts follow the clock, so that the primary key finds the oldest rows; the time in the row decides.
const ALERTS: Records = Records {
    are_older: "EXISTS (SELECT 1 FROM alert r WHERE r.account_id = a.id AND r.id < ?1)",
    delete: "DELETE FROM alert WHERE account_id = ?1 AND id IN ( \
        SELECT id FROM alert WHERE account_id = ?1 AND id < ?2 AND received_at < ?3 \
            AND id NOT IN (SELECT alert_id FROM rule_occurrence WHERE account_id = ?1 AND ends IS NULL) \
        ORDER BY id LIMIT ?4 {free})",
    bound: alert_id,
};
const OCCURRENCES: Records = Records {
    are_older: "EXISTS (SELECT 1 FROM rule_occurrence r WHERE r.account_id = a.id AND r.id < ?1)",
    delete: "DELETE FROM rule_occurrence WHERE account_id = ?1 AND id IN ( \
        SELECT id FROM rule_occurrence WHERE account_id = ?1 AND id < ?2 AND ends IS NOT NULL AND ends < ?3 \
        ORDER BY id LIMIT ?4 {free})",
    bound: alert_id,
};

const MESSAGES: Records = Records {
    are_older: "EXISTS (SELECT 1 FROM raw_message r WHERE r.account_id = a.id AND r.id < ?1)",
    delete: "DELETE FROM raw_message WHERE account_id = ?1 AND id IN ( \
        SELECT id FROM raw_message WHERE account_id = ?1 AND id < ?2 AND received_at < ?3 ORDER BY id LIMIT ?4 {free})",
    bound: message_id,
};

const UNUSED_MESSAGES: Records = Records {
    are_older: "EXISTS (SELECT 1 FROM raw_message r WHERE r.account_id = a.id AND r.id < ?1 AND r.result <> 'decoded')",
    delete: "DELETE FROM raw_message WHERE account_id = ?1 AND id IN ( \
        SELECT id FROM raw_message WHERE account_id = ?1 AND id < ?2 AND received_at < ?3 AND result <> 'decoded' \
        ORDER BY id LIMIT ?4 {free})",
    bound: message_id,
};

/// Found by their time, for the same reason as [`AUDITS`].
const FILES: Records = Records {
    are_older: "EXISTS (SELECT 1 FROM device_file r WHERE r.account_id = a.id AND r.received_at < ?1)",
    delete: "DELETE FROM device_file WHERE account_id = ?1 AND received_at < ?3 AND id IN ( \
        SELECT id FROM device_file WHERE account_id = ?1 AND received_at < ?2 ORDER BY received_at LIMIT ?4 {free})",
    bound: Timestamp::as_millis,
};

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
    let cut = |keep_ms: Option<i64>| keep_ms.map(|keep_ms| now.plus_millis(-keep_ms));
    deleted.audits = delete_before(database, AUDITS, cut(retention.audits_ms)).await?;
    deleted.alerts = delete_before(database, ALERTS, cut(retention.alerts_ms)).await?;
    deleted.occurrences = delete_before(database, OCCURRENCES, cut(retention.occurrences_ms)).await?;
    deleted.messages = delete_before(database, MESSAGES, cut(retention.messages_ms)).await?;
    if let Some(cut) = cut(retention.messages_ms) {
        database.write_background(move |tx| gateway_changes::delete_kept_before(tx, cut).boxed()).await?;
    }
    deleted.messages += delete_before(database, UNUSED_MESSAGES, cut(retention.unused_messages_ms)).await?;
    deleted.files = delete_before(database, FILES, cut(retention.messages_ms)).await?;
    Ok(deleted)
}

/// Deletes records from before this instant, if there is one, in the accounts that may have any.
async fn delete_before(database: &Database, records: Records, cut: Option<Timestamp>) -> Result<u64> {
    let Some(cut) = cut else { return Ok(0) };
    let mut deleted = 0;
    for account in accounts::ids_where(database, records.are_older, (records.bound)(cut)).await? {
        deleted += in_slices(database, account, records.delete, cut, records.bound).await?;
    }
    Ok(deleted)
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
    bound: fn(Timestamp) -> i64,
) -> Result<u64> {
    let mut deleted = 0;
    loop {
        let some = database.write_background(move |tx| slice(tx, account, sql, cut, bound).boxed()).await?;
        deleted += some;
        if some < u64::from(ROWS_PER_JOB) {
            return Ok(deleted);
        }
    }
}

async fn slice(
    tx: &Tx,
    account: AccountId,
    sql: &'static str,
    cut: Timestamp,
    bound: fn(Timestamp) -> i64,
) -> Result<u64> {
    // Locked rows are left for the next run.
    let free = tx.row_lock(RowLock::SkipLocked);
    Ok(tx.execute(&sql.replace("{free}", free), params![account, bound(cut), cut, ROWS_PER_JOB]).await?)
}
