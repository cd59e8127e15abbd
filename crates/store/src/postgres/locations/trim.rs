//! Trimming the log: old rows whose locations are in chunks serve only the feed and are deleted.

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::event_trim::wanted_by_webhooks;
use crate::sql::locations::save_trimmed_to;
use crate::sql::rule_engine::judged_to;
use crate::{Database, Tx, params};

/// Rows that one transaction examines.
const ROWS_PER_JOB: i64 = 5_000;

/// Deletes rows of an account's log that are older than `keep_ms` and in chunks. Gives how many there were.
pub(crate) async fn trim(
    database: &Database,
    account: AccountId,
    (keep_ms, now): (i64, Timestamp),
) -> Result<u64> {
    let mut gone = 0;
    loop {
        let some =
            database.write_background(move |tx| trim_some(tx, account, (keep_ms, now)).boxed()).await?;
        gone += some;
        if some < u64::try_from(ROWS_PER_JOB).unwrap_or(u64::MAX) {
            return Ok(gone);
        }
    }
}

async fn trim_some(tx: &Tx, account: AccountId, (keep_ms, now): (i64, Timestamp)) -> Result<u64> {
    tx.lock_account(account).await?;
    // Only the oldest rows are examined: later ones are newer. Both bounds are given, so that the planner expects few
    // rows and uses the index.
    let sql = "DELETE FROM location_log WHERE account_id = ?1 AND received_at < ?2 \
               AND (received_at < ?4 OR number <= ?5) \
               AND number BETWEEN (SELECT MIN(number) FROM location_log WHERE account_id = ?1) \
               AND (SELECT MAX(o.number) FROM (SELECT number FROM location_log \
                    WHERE account_id = ?1 ORDER BY number LIMIT ?3) o) \
               AND EXISTS (SELECT 1 FROM device_live v WHERE v.account_id = ?1 \
                   AND v.device_id = location_log.device_id AND v.packed_to >= location_log.number) \
               AND (number <= ?6 OR received_at < ?7) \
               RETURNING number";
    let long_ago = now.plus_millis(-keep_ms);
    let (given_up, read) = wanted_by_webhooks(tx, account, now).await?;
    // What the rule engine has not judged yet is kept twice as long.
    let judged_to = judged_to(tx, account).await?.unwrap_or(i64::MAX);
    let longer_ago = long_ago.plus_millis(-keep_ms);
    let values = params![account, long_ago, ROWS_PER_JOB, given_up, read, judged_to, longer_ago];
    let rows = tx.query(sql, values).await?;
    let numbers = rows.iter().map(|row| row.i64("number")).collect::<std::result::Result<Vec<_>, _>>()?;
    if let Some(last) = numbers.iter().max() {
        save_trimmed_to(tx, account, *last).await?;
    }
    Ok(u64::try_from(numbers.len()).unwrap_or(u64::MAX))
}
