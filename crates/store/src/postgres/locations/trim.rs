//! Trimming the log: old rows whose locations are in chunks serve only the feed and are deleted.

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::events::event_trim::wanted_by_webhooks;
use crate::sql::locations::{save_trimmed_to, state_row};
use crate::sql::rules::rule_engine::judged_to;
use crate::{Database, Tx, params};

/// Rows that one transaction examines.
const ROWS_PER_JOB: i64 = 5_000;

/// Deletes rows of an account's log that are older than `keep_ms` and in chunks. Gives how many locations that were.
pub(crate) async fn trim(
    database: &Database,
    account: AccountId,
    (keep_ms, now): (i64, Timestamp),
) -> Result<u64> {
    let mut gone = 0;
    loop {
        let (rows, locations) =
            database.write_background(move |tx| trim_some(tx, account, (keep_ms, now)).boxed()).await?;
        gone += locations;
        if rows < usize::try_from(ROWS_PER_JOB).unwrap_or(usize::MAX) {
            return Ok(gone);
        }
    }
}

/// Whether an account's oldest row was received before this instant.
pub(super) const HAS_OLDER: &str = "(SELECT l.received_at FROM location_log l \
                                     WHERE l.account_id = a.id ORDER BY l.last_number LIMIT 1) < ?1";

/// Rebuilds damaged states of the devices whose rows are examined: one that says that too much is packed would lose locations.
async fn rebuild_damaged(tx: &Tx, account: AccountId) -> Result<()> {
    let sql = "SELECT DISTINCT o.device_id FROM (SELECT device_id FROM location_log \
               WHERE account_id = ?1 ORDER BY last_number LIMIT ?2) o";
    let mut devices = Vec::new();
    for row in tx.query(sql, params![account, ROWS_PER_JOB]).await? {
        devices.push(row.i64("device_id")?);
    }
    for (device, state) in state_row::read_all(tx, account, &devices).await? {
        if state.is_err() {
            state_row::lock(tx, account, device).await?;
        }
    }
    Ok(())
}

/// Deletes some rows; gives how many, and how many locations they held.
async fn trim_some(tx: &Tx, account: AccountId, (keep_ms, now): (i64, Timestamp)) -> Result<(usize, u64)> {
    tx.lock_account(account).await?;
    rebuild_damaged(tx, account).await?;
    // Only the oldest rows are examined: later ones are newer. Both bounds are given, so that the planner expects few
    // rows and uses the index.
    let sql = "DELETE FROM location_log WHERE account_id = ?1 AND received_at < ?2 \
               AND (received_at < ?4 OR last_number <= ?5) \
               AND last_number BETWEEN (SELECT MIN(last_number) FROM location_log WHERE account_id = ?1) \
               AND (SELECT MAX(o.last_number) FROM (SELECT last_number FROM location_log \
                    WHERE account_id = ?1 ORDER BY last_number LIMIT ?3) o) \
               AND EXISTS (SELECT 1 FROM device_live v WHERE v.account_id = ?1 \
                   AND v.device_id = location_log.device_id AND v.packed_to >= location_log.last_number) \
               AND (last_number <= ?6 OR received_at < ?7) \
               RETURNING last_number, count";
    let long_ago = now.plus_millis(-keep_ms);
    let (given_up, read) = wanted_by_webhooks(tx, account, now).await?;
    // What the rule engine has not judged yet is kept twice as long.
    let judged_to = judged_to(tx, account).await?.unwrap_or(i64::MAX);
    let longer_ago = long_ago.plus_millis(-keep_ms);
    let values = params![account, long_ago, ROWS_PER_JOB, given_up, read, judged_to, longer_ago];
    let rows = tx.query(sql, values).await?;
    let (mut last, mut locations) = (None, 0);
    for row in &rows {
        last = last.max(Some(row.i64("last_number")?));
        locations += row.int::<u64>("count")?;
    }
    if let Some(last) = last {
        save_trimmed_to(tx, account, last).await?;
    }
    Ok((rows.len(), locations))
}
