//! Filling in the checksums of rows that were written before there were any.

use futures_util::FutureExt as _;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;

use crate::database::Database;
use crate::sql::locations::{LAST_COLUMNS, last_checksum, point_from_row};
use crate::sql::{alerts, devices};
use crate::tx::RowLock;
use crate::{Row, Tx, params};

/// Rows that one transaction fills in; bounds the time other writers wait.
const ROWS_PER_JOB: i64 = 200;

/// Fills in every missing checksum; gives how many there were.
pub(crate) async fn fill_checksums(database: &Database) -> Result<u64> {
    let mut filled = 0;
    loop {
        let some = database.write(|tx| fill_some(tx).boxed()).await?;
        filled += some;
        if some == 0 {
            return Ok(filled);
        }
    }
}

async fn fill_some(tx: &Tx) -> Result<u64> {
    tx.keep_device_cache_valid();
    let devices = fill(tx, "device", devices::checksum::of_row).await?;
    let alerts = fill(tx, "alert", alerts::checksum::of_row).await?;
    Ok(devices + alerts + fill_last(tx).await?)
}

async fn fill(tx: &Tx, table: &str, checksum: fn(&Row) -> Result<i64>) -> Result<u64> {
    let sql =
        format!("SELECT * FROM {table} WHERE checksum IS NULL LIMIT ?1 {}", tx.row_lock(RowLock::SkipLocked));
    let rows = tx.query(&sql, params![ROWS_PER_JOB]).await?;
    let sql = format!("UPDATE {table} SET checksum = ?3 WHERE account_id = ?1 AND id = ?2");
    for row in &rows {
        tx.execute(&sql, params![row.i64("account_id")?, row.i64("id")?, checksum(row)?]).await?;
    }
    Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
}

async fn fill_last(tx: &Tx) -> Result<u64> {
    let sql = format!(
        "SELECT account_id, device_id, {LAST_COLUMNS} FROM last_location WHERE checksum IS NULL LIMIT ?1 {}",
        tx.row_lock(RowLock::SkipLocked)
    );
    let rows = tx.query(&sql, params![ROWS_PER_JOB]).await?;
    let sql = "UPDATE last_location SET checksum = ?3 WHERE account_id = ?1 AND device_id = ?2";
    for row in &rows {
        let account = AccountId::from_i64(row.i64("account_id")?);
        let device = DeviceId::from_i64(row.i64("device_id")?);
        let checksum = last_checksum(account, device, &point_from_row(row)?);
        tx.execute(sql, params![account, device, checksum]).await?;
    }
    Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
}
