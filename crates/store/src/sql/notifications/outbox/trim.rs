//! Deleting old outbox rows, a slice per transaction.

use perigee_core::notifications::notification::RepeatFilter;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::clock;
use crate::{Database, Tx, params};

/// Rows that one transaction deletes; bounds the time other writers wait.
const ROWS_PER_JOB: u32 = 2_000;

async fn delete_some_repetitions(tx: &Tx, now: Timestamp) -> Result<u64> {
    tx.lock_upkeep().await?;
    let expired = now.plus_seconds(-2 * i64::from(RepeatFilter::LONGEST_S));
    let sql = "DELETE FROM notification_repetition WHERE met_at <= ?1 AND (account_id, device_id, channel, address, name) IN ( \
             SELECT account_id, device_id, channel, address, name FROM notification_repetition \
             WHERE met_at <= ?1 ORDER BY met_at LIMIT ?2)";
    Ok(tx.execute(sql, params![expired, ROWS_PER_JOB]).await?)
}

async fn delete_some_messages(tx: &Tx, before: Timestamp) -> Result<u64> {
    tx.lock_upkeep().await?;
    let sql = "DELETE FROM notification WHERE due IS NULL AND (account_id, id) IN ( \
             SELECT account_id, id FROM notification WHERE due IS NULL AND created < ?1 \
             ORDER BY created LIMIT ?2)";
    Ok(tx.execute(sql, params![before, ROWS_PER_JOB]).await?)
}

async fn delete_some_hours(tx: &Tx, now: Timestamp) -> Result<u64> {
    tx.lock_upkeep().await?;
    let expired = now.plus_seconds(-2 * 3_600);
    let sql = "DELETE FROM recipient_counter WHERE (account_id, address, hour) IN ( \
             SELECT account_id, address, hour FROM recipient_counter \
             WHERE hour <= ?1 ORDER BY hour LIMIT ?2)";
    Ok(tx.execute(sql, params![expired, ROWS_PER_JOB]).await?)
}

/// Repeats until a slice is not full. Returns how many rows were deleted.
async fn in_slices<F: Future<Output = Result<u64>>>(slice: impl Fn() -> F) -> Result<u64> {
    let mut deleted = 0;
    loop {
        let some = slice().await?;
        deleted += some;
        if some < u64::from(ROWS_PER_JOB) {
            return Ok(deleted);
        }
    }
}

/// Deletes expired repetitions and hourly e-mail counters. Returns how many rows there were.
pub(in crate::sql) async fn delete_repetitions(database: &Database, now: Timestamp) -> Result<u64> {
    let repetitions =
        in_slices(|| database.write_background(move |tx| Box::pin(delete_some_repetitions(tx, now)))).await?;
    let hours =
        in_slices(|| database.write_background(move |tx| Box::pin(delete_some_hours(tx, now)))).await?;
    Ok(repetitions + hours)
}

/// Deletes messages older than `keep_ms` that are neither waiting nor being sent. Returns how many there were.
pub(super) async fn delete_messages(database: &Database, keep_ms: i64) -> Result<u64> {
    let before = clock::trusted_now(database).await?.plus_millis(-keep_ms);
    in_slices(|| database.write_background(move |tx| Box::pin(delete_some_messages(tx, before)))).await
}
