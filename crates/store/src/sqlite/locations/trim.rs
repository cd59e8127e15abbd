//! Trimming the log: old rows whose locations are in chunks serve only the feed and are deleted.

use std::sync::Arc;

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::memory::LocationMemory;
use crate::sql::events::event_trim::wanted_by_webhooks;
use crate::sql::locations::{save_trimmed_to, trimmed_to};
use crate::sql::rules::rule_engine::judged_to;
use crate::{Database, Row, Tx, params};

/// Rows that one transaction deletes; each may hold the locations of a whole commit.
const ROWS_PER_JOB: i64 = 64;

/// Deletes rows of an account's log that are older than `keep_ms` and in chunks. Gives how many locations that were.
pub(crate) async fn trim(
    database: &Database,
    memory: &Arc<LocationMemory>,
    account: AccountId,
    (keep_ms, now): (i64, Timestamp),
) -> Result<u64> {
    let mut gone = 0;
    loop {
        let memory = Arc::clone(memory);
        let job = database
            .write(move |tx| async move { trim_some(tx, &memory, account, (keep_ms, now)).await }.boxed());
        let (rows, locations) = job.await?;
        gone += locations;
        if rows < usize::try_from(ROWS_PER_JOB).unwrap_or(usize::MAX) {
            return Ok(gone);
        }
    }
}

async fn trim_some(
    tx: &Tx,
    memory: &LocationMemory,
    account: AccountId,
    (keep_ms, now): (i64, Timestamp),
) -> Result<(usize, u64)> {
    tx.keep_device_cache_valid();
    // Only the oldest rows are examined: later ones are newer.
    let sql = "DELETE FROM location_log WHERE last_number IN ( \
                   SELECT o.last_number FROM (SELECT last_number, received_at FROM location_log \
                       WHERE account_id = ?1 ORDER BY last_number LIMIT ?4) o \
                   WHERE o.received_at < ?2 AND o.last_number < ?3 \
                       AND (o.received_at < ?5 OR o.last_number <= ?6) \
                       AND (o.last_number <= ?7 OR o.received_at < ?8)) \
               RETURNING last_number, first_number";
    let long_ago = now.plus_millis(-keep_ms);
    let (given_up, read) = wanted_by_webhooks(tx, account, now).await?;
    // What the rule engine has not judged yet is kept twice as long.
    let judged_to = judged_to(tx, account).await?.unwrap_or(i64::MAX);
    let longer_ago = long_ago.plus_millis(-keep_ms);
    let values =
        params![account, long_ago, memory.needed_from(), ROWS_PER_JOB, given_up, read, judged_to, longer_ago];
    let rows = tx.query(sql, values).await?;
    let numbers =
        |row: &Row| -> Result<(i64, i64)> { Ok((row.i64("first_number")?, row.i64("last_number")?)) };
    let numbers = rows.iter().map(numbers).collect::<Result<Vec<_>>>()?;
    if let Some(last) = numbers.iter().map(|(_, last)| *last).max() {
        save_trimmed_to(tx, account, last).await?;
        let sql = "DELETE FROM location_erased WHERE account_id = ?1 AND up_to <= ?2";
        tx.execute(sql, params![account, trimmed_to(tx, account).await?]).await?;
    }
    let locations = numbers.iter().map(|(first, last)| u64::try_from(last - first + 1).unwrap_or(0)).sum();
    Ok((rows.len(), locations))
}
