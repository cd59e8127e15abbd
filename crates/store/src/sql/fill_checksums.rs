//! Filling in missing checksums of rows that older versions wrote without one.

use futures_util::FutureExt as _;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;

use crate::database::Database;
use crate::sql::locations::state_row::{self, StateRow};
use crate::sql::locations::{LAST_COLUMNS, last_checksum, point_from_row};
use crate::sql::{alerts, devices};
use crate::tx::RowLock;
use crate::{Engine, Row, Tx, params};

/// Rows that one transaction fills in; bounds the time other writers wait.
const ROWS_PER_JOB: i64 = 200;

/// Fills in every missing checksum; returns how many there were.
pub(crate) async fn fill_checksums(database: &Database) -> Result<u64> {
    let mut filled = 0;
    loop {
        let some = database.write(|tx| fill_some(tx).boxed()).await?;
        filled += some;
        if some == 0 {
            break;
        }
    }
    let mut after = (AccountId::from_i64(i64::MIN), DeviceId::from_i64(i64::MIN));
    while let Some((some, last)) = database.write(move |tx| fill_last(tx, after).boxed()).await? {
        filled += some;
        after = last;
    }
    let mut after = (AccountId::from_i64(i64::MIN), DeviceId::from_i64(i64::MIN));
    while let Some((some, last)) = database.write(move |tx| fill_states(tx, after).boxed()).await? {
        filled += some;
        after = last;
    }
    Ok(filled)
}

/// Fills in some of the states after this device, of one account; returns how many, and the last of them.
async fn fill_states(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
) -> Result<Option<(u64, (AccountId, DeviceId))>> {
    let sql = "SELECT account_id, device_id FROM device_live \
               WHERE (account_id, device_id) > (?1, ?2) AND checksum IS NULL ORDER BY account_id, device_id LIMIT 1";
    let Some(next) = tx.query_opt(sql, params![account, device]).await? else { return Ok(None) };
    let account = AccountId::from_i64(next.i64("account_id")?);
    // A row that a submission has locked is skipped: the submission writes its checksum.
    let (columns, lock) = (state_row::columns(tx.engine()), tx.row_lock(RowLock::SkipLocked));
    let sql = format!(
        "SELECT account_id, device_id, {columns} FROM device_live \
         WHERE account_id = ?1 AND device_id >= ?2 AND checksum IS NULL ORDER BY device_id LIMIT ?3 {lock}"
    );
    let rows = tx.query(&sql, params![account, next.i64("device_id")?, ROWS_PER_JOB]).await?;
    let sql = "UPDATE device_live SET checksum = ?3 WHERE account_id = ?1 AND device_id = ?2";
    let mut last = (account, DeviceId::from_i64(next.i64("device_id")?));
    for row in &rows {
        let key = (AccountId::from_i64(row.i64("account_id")?), DeviceId::from_i64(row.i64("device_id")?));
        match StateRow::of(row, key.0, key.1) {
            Ok(state) => drop(tx.execute(sql, params![key.0, key.1, state.checksum()]).await?),
            Err(damaged) => tx.damage().note(&damaged),
        }
        last = key;
    }
    Ok(Some((u64::try_from(rows.len()).unwrap_or(u64::MAX), last)))
}

async fn fill_some(tx: &Tx) -> Result<u64> {
    let devices = fill(tx, "device", devices::checksum::of_row).await?;
    let alerts = fill(tx, "alert", alerts::checksum::of_row).await?;
    Ok(devices + alerts)
}

/// Locks an account that has rows without a checksum, so that they do not change until the commit.
async fn lock_next(tx: &Tx, table: &str) -> Result<Option<AccountId>> {
    let sql = format!("SELECT account_id FROM {table} WHERE checksum IS NULL ORDER BY account_id LIMIT 1");
    let Some(row) = tx.query_opt(&sql, &[]).await? else { return Ok(None) };
    let account = AccountId::from_i64(row.i64("account_id")?);
    tx.lock_account(account).await?;
    Ok(Some(account))
}

async fn fill(tx: &Tx, table: &str, checksum: fn(&Row) -> Result<i64>) -> Result<u64> {
    let Some(account) = lock_next(tx, table).await? else { return Ok(0) };
    let sql = format!("SELECT * FROM {table} WHERE account_id = ?1 AND checksum IS NULL LIMIT ?2");
    let rows = tx.query(&sql, params![account, ROWS_PER_JOB]).await?;
    let sql = format!("UPDATE {table} SET checksum = ?3 WHERE account_id = ?1 AND id = ?2");
    for row in &rows {
        tx.execute(&sql, params![account, row.i64("id")?, checksum(row)?]).await?;
    }
    Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
}

/// Fills in some of the last locations after this device, of one account; returns how many, and the last of them.
/// PostgreSQL has no index of rows without a checksum, so each row is examined only once.
async fn fill_last(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
) -> Result<Option<(u64, (AccountId, DeviceId))>> {
    let sql = "SELECT account_id, device_id FROM last_location \
               WHERE (account_id, device_id) > (?1, ?2) AND checksum IS NULL ORDER BY account_id, device_id LIMIT 1";
    let Some(next) = tx.query_opt(sql, params![account, device]).await? else { return Ok(None) };
    let account = AccountId::from_i64(next.i64("account_id")?);
    tx.lock_account(account).await?;
    let sql = format!(
        "SELECT device_id, {LAST_COLUMNS} FROM last_location \
         WHERE account_id = ?1 AND device_id >= ?2 AND checksum IS NULL ORDER BY device_id LIMIT ?3"
    );
    let rows = tx.query(&sql, params![account, next.i64("device_id")?, ROWS_PER_JOB]).await?;
    let sql = match tx.engine() {
        Engine::Sqlite => "UPDATE last_location SET checksum = ?3 WHERE account_id = ?1 AND device_id = ?2",
        // There it is a view, through which Citus cannot write.
        Engine::Postgres => {
            "UPDATE device_live SET last_checksum = ?3 WHERE account_id = ?1 AND device_id = ?2"
        }
    };
    let mut last = DeviceId::from_i64(next.i64("device_id")?);
    for row in &rows {
        last = DeviceId::from_i64(row.i64("device_id")?);
        // A row that cannot be read is reported by its readers.
        if let Ok(point) = point_from_row(row) {
            tx.execute(sql, params![account, last, last_checksum(account, last, &point)]).await?;
        }
    }
    Ok(Some((u64::try_from(rows.len()).unwrap_or(u64::MAX), (account, last))))
}
