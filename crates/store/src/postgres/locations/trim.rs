//! Deleting old rows of the log whose locations are in chunks.

use perigee_core::id::AccountId;
use perigee_core::store::Result;

use crate::sql::locations::{TrimBounds, Trimmed, save_trimmed_to, state_row};
use crate::{Tx, params};

/// Rows that one transaction examines.
const ROWS_PER_JOB: i64 = 5_000;

/// Whether an account's oldest row was received before this instant.
pub(super) const HAS_OLDER: &str = "(SELECT l.received_at FROM location_log l \
                                     WHERE l.account_id = a.id ORDER BY l.last_number LIMIT 1) < ?1";

/// Rebuilds damaged states of the devices whose rows are examined: a state with too high a packed number would lose
/// locations.
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

/// Deletes some of the oldest rows.
pub(crate) async fn trim(tx: &Tx, account: AccountId, bounds: TrimBounds) -> Result<Trimmed> {
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
    let TrimBounds {
        received_before,
        webhooks: (unread_before, read_to),
        rules: (unevaluated_before, evaluated_to),
    } = bounds;
    let values = params![
        account,
        received_before,
        ROWS_PER_JOB,
        unread_before,
        read_to,
        evaluated_to,
        unevaluated_before
    ];
    let rows = tx.query(sql, values).await?;
    let (mut last, mut locations) = (None, 0);
    for row in &rows {
        last = last.max(Some(row.i64("last_number")?));
        locations += row.int::<u64>("count")?;
    }
    if let Some(last) = last {
        save_trimmed_to(tx, account, last).await?;
    }
    Ok(Trimmed { locations, more: rows.len() >= usize::try_from(ROWS_PER_JOB).unwrap_or(usize::MAX) })
}
