//! Trimming the log of what was received long ago and is in chunks.

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::event_trim::wanted_by_webhooks;
use crate::sql::locations::note_trimmed;
use crate::sql::rule_engine::judged_to;
use crate::{Database, Tx, params};

/// Rows of the log one transaction looks at to trim it.
const TRIMMED_AT_ONCE: i64 = 5_000;

/// Forgets rows of an account's log that were received this long ago and are in chunks. Gives how many went.
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
        if some < u64::try_from(TRIMMED_AT_ONCE).unwrap_or(u64::MAX) {
            return Ok(gone);
        }
    }
}

async fn trim_some(tx: &Tx, account: AccountId, (keep_ms, now): (i64, Timestamp)) -> Result<u64> {
    tx.lock_account(account).await?;
    // The oldest rows alone are looked at: what follows is newer. Both ends are named, so that PostgreSQL expects few
    // rows between them and goes by the index.
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
    // What rules have not judged yet stays as long again.
    let judged_to = judged_to(tx, account).await?.unwrap_or(i64::MAX);
    let longer_ago = long_ago.plus_millis(-keep_ms);
    let values = params![account, long_ago, TRIMMED_AT_ONCE, given_up, read, judged_to, longer_ago];
    let rows = tx.query(sql, values).await?;
    let numbers = rows.iter().map(|row| row.i64("number")).collect::<std::result::Result<Vec<_>, _>>()?;
    if let Some(last) = numbers.iter().max() {
        note_trimmed(tx, account, *last).await?;
    }
    Ok(u64::try_from(numbers.len()).unwrap_or(u64::MAX))
}
