//! Erasing a time range from the log.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::TimeRange;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::recent;
use crate::{Tx, params};

/// Erases a time range of a device; gives how many locations were in no chunk.
pub(super) async fn erase(tx: &Tx, account: AccountId, device: DeviceId, range: TimeRange) -> Result<u64> {
    let packed_to = recent::packed_to(tx, account, device).await?;
    let sql = "DELETE FROM location_log \
               WHERE account_id = ?1 AND device_id = ?2 AND time BETWEEN ?3 AND ?4 RETURNING number";
    let rows = tx.query(sql, params![account, device, range.from, range.to]).await?;
    let mut unpacked = 0;
    for row in &rows {
        unpacked += i64::from(row.i64("number")? > packed_to);
    }
    let sql =
        "UPDATE device_live SET unpacked = unpacked - ?3 WHERE account_id = ?1 AND device_id = ?2 AND ?3 > 0";
    tx.execute(sql, params![account, device, unpacked]).await?;
    Ok(u64::try_from(unpacked).unwrap_or(0))
}

/// Whether the log has locations of a device from before this instant.
pub(super) async fn holds_before(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Timestamp,
) -> Result<bool> {
    let sql = "SELECT 1 AS found FROM location_log \
               WHERE account_id = ?1 AND device_id = ?2 AND time < ?3 LIMIT 1";
    Ok(tx.query_opt(sql, params![account, device, before]).await?.is_some())
}
