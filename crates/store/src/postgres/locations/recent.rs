//! What is in the log and in no chunk yet.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::StoredLocation;
use perigee_core::store::Result;

use crate::sql::locations::{COLUMNS, from_row};
use crate::{Tx, params};

/// Up to which number the device's locations are in chunks.
pub(crate) async fn packed_to(tx: &Tx, account: AccountId, device: DeviceId) -> Result<i64> {
    let sql = "SELECT packed_to FROM device_live WHERE account_id = ?1 AND device_id = ?2";
    let row = tx.query_opt(sql, params![account, device]).await?;
    Ok(row.map(|row| row.i64("packed_to")).transpose()?.unwrap_or(0))
}

/// Up to this many locations that are in no chunk, in arrival order.
pub(crate) async fn list(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    limit: i64,
) -> Result<Vec<StoredLocation>> {
    let packed_to = packed_to(tx, account, device).await?;
    let sql = format!(
        "SELECT {COLUMNS} FROM location_log \
         WHERE account_id = ?1 AND device_id = ?2 AND number > ?3 ORDER BY number LIMIT ?4"
    );
    let rows = tx.query(&sql, params![account, device, packed_to, limit]).await?;
    rows.iter().map(from_row).collect()
}
