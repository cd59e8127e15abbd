//! The quarantine table: damaged rows are moved there with the bytes they had.

use std::fmt::Write as _;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::damage::{Damaged, Table};
use crate::{Row, Tx, Value, params};

/// Keeps a copy of a damaged row, with its packed bytes or its columns, unless the table has the same copy already.
pub(crate) async fn keep(tx: &Tx, row: &Damaged, data: Vec<u8>) -> Result<()> {
    let sql = "SELECT COUNT(*) AS count FROM quarantine WHERE source = ?1 AND account_id = ?2 AND data = ?3";
    let same = tx.query_one(sql, params![row.table.name(), row.account, data.as_slice()]).await?;
    if same.i64("count")? > 0 {
        return Ok(());
    }
    let sql = "INSERT INTO quarantine (found_at, source, account_id, device_id, first_number, last_number, \
                   first_time, last_time, count, reason, data) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let (first_number, last_number) = row.numbers.unzip();
    let (first_time, last_time) = row.times.unzip();
    let count = row.count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    let values = params![
        tx.now(),
        row.table.name(),
        row.account,
        row.device,
        first_number,
        last_number,
        first_time,
        last_time,
        count,
        &row.reason,
        data,
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// The columns of a row as JSON, bytes in hexadecimal.
pub(crate) fn as_json(row: &Row) -> Vec<u8> {
    let value = |value: &Value| match value {
        Value::Null => serde_json::Value::Null,
        Value::Int(number) => (*number).into(),
        Value::Real(number) => (*number).into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Text(text) => text.as_str().into(),
        Value::Bytes(bytes) => hexadecimal(bytes).into(),
    };
    let members = row.columns().map(|(name, column)| (name.to_owned(), value(column)));
    serde_json::Value::Object(members.collect()).to_string().into_bytes()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Moves a row of SQLite's log into quarantine.
pub(crate) async fn quarantine_log_row(tx: &Tx, row: &Damaged, last_number: i64) -> Result<()> {
    let sql = "DELETE FROM location_log WHERE last_number = ?1 RETURNING points";
    if let Some(deleted) = tx.query_opt(sql, params![last_number]).await? {
        keep(tx, row, deleted.bytes("points")?).await?;
        tracing::error!(row = %row, "moved into the table quarantine");
    }
    Ok(())
}

/// Moves a row of PostgreSQL's log into quarantine.
pub(crate) async fn quarantine_device_batch(
    tx: &Tx,
    row: &Damaged,
    account: AccountId,
    last_number: i64,
) -> Result<()> {
    let sql = "DELETE FROM location_log WHERE account_id = ?1 AND last_number = ?2 RETURNING points";
    if let Some(deleted) = tx.query_opt(sql, params![account, last_number]).await? {
        keep(tx, row, deleted.bytes("points")?).await?;
        tracing::error!(row = %row, "moved into the table quarantine");
    }
    Ok(())
}

/// Moves a chunk into quarantine, given its device and its last key.
pub(crate) async fn quarantine_chunk(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    (last_time, last_number): (Timestamp, i64),
    reason: &str,
) -> Result<()> {
    let sql = "DELETE FROM location_chunk \
               WHERE account_id = ?1 AND device_id = ?2 AND last_time = ?3 AND last_number = ?4 \
               RETURNING first_time, first_number, last_time, last_number, count, points";
    if let Some(deleted) = tx.query_opt(sql, params![account, device, last_time, last_number]).await? {
        let row = damaged_chunk(&deleted, account, device, reason)?;
        keep(tx, &row, deleted.bytes("points")?).await?;
        tracing::error!(row = %row, "moved into the table quarantine");
    }
    Ok(())
}

/// The columns of an unreadable chunk.
pub(crate) fn damaged_chunk(
    row: &Row,
    account: AccountId,
    device: DeviceId,
    reason: impl std::fmt::Display,
) -> Result<Damaged> {
    Ok(Damaged::new(Table::LocationChunk, reason)
        .of(account, Some(device))
        .with_numbers(row.i64("first_number")?, row.i64("last_number")?)
        .with_times(row.timestamp("first_time")?, row.timestamp("last_time")?)
        .with_count(row.i64("count")?))
}

/// Deletes the quarantined rows of a device in a time range, as the readable ones are deleted.
pub(crate) async fn erase(tx: &Tx, account: AccountId, device: DeviceId, range: TimeRange) -> Result<()> {
    let sql = "DELETE FROM quarantine WHERE account_id = ?1 AND device_id = ?2 \
               AND first_time >= ?3 AND last_time <= ?4";
    tx.execute(sql, params![account, device, range.from, range.to]).await?;
    Ok(())
}

/// Deletes the quarantined rows of a deleted device.
pub(crate) async fn delete_device(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    tx.execute("DELETE FROM quarantine WHERE account_id = ?1 AND device_id = ?2", params![account, device])
        .await?;
    Ok(())
}

/// The number of quarantined rows.
pub(crate) async fn count(tx: &Tx) -> Result<u64> {
    Ok(tx.query_one("SELECT COUNT(*) AS count FROM quarantine", &[]).await?.int("count")?)
}

/// The rows quarantined at this instant or later.
pub(crate) async fn list(tx: &Tx, since: Timestamp) -> Result<Vec<Damaged>> {
    let sql = "SELECT source, account_id, device_id, first_number, last_number, first_time, last_time, count, \
                   reason FROM quarantine WHERE found_at >= ?1 ORDER BY id";
    let damaged = |row: &Row| {
        let table = Table::ALL.into_iter().find(|table| row.str("source").ok() == Some(table.name()));
        Ok(Damaged {
            table: table.unwrap_or(Table::Other),
            account: row.opt_i64("account_id")?.map(AccountId::from_i64),
            device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
            numbers: row.opt_i64("first_number")?.zip(row.opt_i64("last_number")?),
            times: row.opt_timestamp("first_time")?.zip(row.opt_timestamp("last_time")?),
            count: row.opt_int("count")?,
            reason: row.text("reason")?,
        })
    };
    tx.query(sql, params![since]).await?.iter().map(damaged).collect()
}
