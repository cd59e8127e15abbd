//! Trimming the event log, and recording up to which number, so that a reader does not continue across the gap.

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use perigee_core::webhooks::webhook::WINDOW_MS;

use crate::sql::{accounts, clock};
use crate::{Database, Tx, params};

/// Events that one transaction examines; bounds the time other writers wait.
const EVENTS_PER_JOB: i64 = 1_000;

/// Deletes events older than `keep_ms`, in small transactions of one account each. Returns how many there were.
pub(in crate::sql) async fn trim(database: &Database, keep_ms: i64) -> Result<u64> {
    let now = clock::trusted_now(database).await?;
    let before = now.plus_millis(-keep_ms);
    let accounts = accounts::ids_where(database, HAS_OLDER, before.as_millis()).await?;
    let mut deleted = 0;
    for account in accounts {
        loop {
            let some =
                database.write_background(move |tx| trim_some(tx, account, keep_ms, now).boxed()).await?;
            deleted += some;
            if some < u64::try_from(EVENTS_PER_JOB).unwrap_or(u64::MAX) {
                break;
            }
        }
    }
    Ok(deleted)
}

/// Whether an account's oldest event is from before this instant.
const HAS_OLDER: &str = "(SELECT e.at FROM event e WHERE e.account_id = a.id ORDER BY e.number LIMIT 1) < ?1";

async fn trim_some(tx: &Tx, account: AccountId, keep_ms: i64, now: Timestamp) -> Result<u64> {
    tx.lock_account(account).await?;
    // Only the oldest are examined: later ones are newer.
    let sql = "DELETE FROM event WHERE account_id = ?1 AND number IN ( \
                   SELECT o.number FROM (SELECT number, at FROM event \
                       WHERE account_id = ?1 ORDER BY number LIMIT ?3) o \
                   WHERE o.at < ?2 AND (o.at < ?4 OR o.number <= ?5)) \
               RETURNING number";
    let oldest_kept = now.plus_millis(-keep_ms);
    let (unread_before, read_to) = unneeded_by_webhooks(tx, account, now).await?;
    let rows = tx.query(sql, params![account, oldest_kept, EVENTS_PER_JOB, unread_before, read_to]).await?;
    let numbers = rows.iter().map(|row| row.i64("number")).collect::<std::result::Result<Vec<_>, _>>()?;
    if let Some(last) = numbers.iter().max() {
        let sql = "INSERT INTO event_trim (account_id, number) VALUES (?1, ?2) \
                   ON CONFLICT (account_id) DO UPDATE SET number = CASE \
                       WHEN excluded.number > event_trim.number \
                       THEN excluded.number ELSE event_trim.number END";
        tx.execute(sql, params![account, *last]).await?;
    }
    Ok(u64::try_from(numbers.len()).unwrap_or(u64::MAX))
}

/// The part of an account's log that webhooks no longer need: what is older than this instant, or up to this number.
pub(crate) async fn unneeded_by_webhooks(
    tx: &Tx,
    account: AccountId,
    now: Timestamp,
) -> Result<(Timestamp, i64)> {
    let sql = "SELECT MIN(read_to) AS read FROM webhook WHERE account_id = ?1 AND enabled = TRUE";
    let read = tx.query_one(sql, params![account]).await?.opt_i64("read")?;
    Ok((now.plus_millis(-WINDOW_MS), read.unwrap_or(i64::MAX)))
}

/// The number up to which an account's events are trimmed, including those of locations.
pub(in crate::sql) async fn trimmed_to(tx: &Tx, account: AccountId) -> Result<i64> {
    let sql = "SELECT MAX(number) AS number FROM ( \
                   SELECT number FROM event_trim WHERE account_id = ?1 \
                   UNION ALL SELECT number FROM location_trim WHERE account_id = ?1) trimmed";
    Ok(tx.query_one(sql, params![account]).await?.opt_i64("number")?.unwrap_or(0))
}
