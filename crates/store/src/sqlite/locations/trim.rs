//! Deleting old rows of the log whose locations are in chunks.

use perigee_core::id::AccountId;
use perigee_core::store::Result;

use super::memory::LocationMemory;
use crate::sql::locations::{TrimBounds, Trimmed, save_trimmed_to, trimmed_to};
use crate::{Row, Tx, params};

/// Rows that one transaction deletes; each may hold the locations of a whole commit.
const ROWS_PER_JOB: i64 = 64;

/// Deletes some of the oldest rows.
pub(crate) async fn trim(
    tx: &Tx,
    memory: &LocationMemory,
    account: AccountId,
    bounds: TrimBounds,
) -> Result<Trimmed> {
    // Only the oldest rows are examined: later ones are newer.
    let sql = "DELETE FROM location_log WHERE last_number IN ( \
                   SELECT o.last_number FROM (SELECT last_number, received_at FROM location_log \
                       WHERE account_id = ?1 ORDER BY last_number LIMIT ?4) o \
                   WHERE o.received_at < ?2 AND o.last_number < ?3 \
                       AND (o.received_at < ?5 OR o.last_number <= ?6) \
                       AND (o.last_number <= ?7 OR o.received_at < ?8)) \
               RETURNING last_number, first_number";
    let TrimBounds {
        received_before,
        webhooks: (unread_before, read_to),
        rules: (unevaluated_before, evaluated_to),
    } = bounds;
    let values = params![
        account,
        received_before,
        memory.needed_from(),
        ROWS_PER_JOB,
        unread_before,
        read_to,
        evaluated_to,
        unevaluated_before
    ];
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
    Ok(Trimmed { locations, more: rows.len() >= usize::try_from(ROWS_PER_JOB).unwrap_or(usize::MAX) })
}
