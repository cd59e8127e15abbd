//! Verifying rows that are not packed: last locations, alerts, devices and rule states.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;

use super::report::{Batch, Cursor};
use crate::damage::{Damaged, Table};
use crate::sql::locations::{LAST_COLUMNS, checked_last};
use crate::sql::rule_engine::checked_trail;
use crate::sql::{alerts, devices};
use crate::{Row, Tx, params};

/// Rows that one statement reads.
const ROWS: i64 = 500;

fn begin(rows: &[Row], id: &str) -> Result<Batch> {
    let last = match rows.last() {
        Some(row) => Some([row.i64("account_id")?, row.i64(id)?, 0, 0]),
        None => None,
    };
    let mut batch = Batch::of(rows.len(), usize::try_from(ROWS).unwrap_or(usize::MAX), last);
    for row in rows {
        batch.without_checksum += u64::from(row.opt_i64("checksum")?.is_none());
    }
    Ok(batch)
}

/// Checks the last locations after this cursor.
pub(super) async fn check_last(tx: &Tx, [account, device, ..]: Cursor) -> Result<Batch> {
    let sql = format!(
        "SELECT account_id, device_id, {LAST_COLUMNS} FROM last_location \
         WHERE (account_id, device_id) > (?1, ?2) ORDER BY account_id, device_id LIMIT ?3"
    );
    let rows = tx.query(&sql, params![account, device, ROWS]).await?;
    let mut batch = begin(&rows, "device_id")?;
    for row in &rows {
        let (account, device) = (AccountId::from_i64(row.i64("account_id")?), row.i64("device_id")?);
        batch
            .damaged
            .extend(checked_last(row, account, DeviceId::from_i64(device))?.err().map(|damaged| *damaged));
    }
    Ok(batch)
}

/// Checks the rule states after this cursor.
pub(super) async fn check_trails(tx: &Tx, [account, device, ..]: Cursor) -> Result<Batch> {
    let sql = "SELECT account_id, device_id, snapshot FROM rule_trail \
               WHERE (account_id, device_id) > (?1, ?2) ORDER BY account_id, device_id LIMIT ?3";
    let rows = tx.query(sql, params![account, device, ROWS]).await?;
    let last = match rows.last() {
        Some(row) => Some([row.i64("account_id")?, row.i64("device_id")?, 0, 0]),
        None => None,
    };
    let mut batch = Batch::of(rows.len(), usize::try_from(ROWS).unwrap_or(usize::MAX), last);
    for row in &rows {
        let account = AccountId::from_i64(row.i64("account_id")?);
        batch.damaged.extend(checked_trail(row, account, Table::RuleTrail)?.err());
    }
    Ok(batch)
}

/// Checks the earlier rule states after this cursor.
pub(super) async fn check_checkpoints(tx: &Tx, [account, device, at, _]: Cursor) -> Result<Batch> {
    let sql = "SELECT account_id, device_id, at, snapshot FROM rule_checkpoint \
               WHERE (account_id, device_id, at) > (?1, ?2, ?3) ORDER BY account_id, device_id, at LIMIT ?4";
    let rows = tx.query(sql, params![account, device, at, ROWS]).await?;
    let last = match rows.last() {
        Some(row) => Some([row.i64("account_id")?, row.i64("device_id")?, row.i64("at")?, 0]),
        None => None,
    };
    let mut batch = Batch::of(rows.len(), usize::try_from(ROWS).unwrap_or(usize::MAX), last);
    for row in &rows {
        let (account, at) = (AccountId::from_i64(row.i64("account_id")?), row.timestamp("at")?);
        let damaged = checked_trail(row, account, Table::RuleCheckpoint)?.err();
        batch.damaged.extend(damaged.map(|damaged| damaged.with_times(at, at)));
    }
    Ok(batch)
}

/// Checks the alerts after this cursor.
pub(super) async fn check_alerts(tx: &Tx, [account, id, ..]: Cursor) -> Result<Batch> {
    let sql = "SELECT * FROM alert WHERE (account_id, id) > (?1, ?2) ORDER BY account_id, id LIMIT ?3";
    let rows = tx.query(sql, params![account, id, ROWS]).await?;
    let mut batch = begin(&rows, "id")?;
    for row in &rows {
        if let Some(reason) = alerts::checksum::fault(row)? {
            batch.damaged.push(damaged_alert(row, reason)?);
        }
    }
    Ok(batch)
}

/// What is known of a damaged alert.
fn damaged_alert(row: &Row, reason: String) -> Result<Damaged> {
    let (account, device) = (AccountId::from_i64(row.i64("account_id")?), row.i64("device_id")?);
    let (id, time) = (row.i64("id")?, row.timestamp("time")?);
    let damaged = Damaged::new(Table::Alert, reason).of(account, Some(DeviceId::from_i64(device)));
    Ok(damaged.with_numbers(id, id).with_times(time, time))
}

/// Checks the devices after this cursor.
pub(super) async fn check_devices(tx: &Tx, [account, id, ..]: Cursor) -> Result<Batch> {
    let sql = "SELECT * FROM device WHERE (account_id, id) > (?1, ?2) ORDER BY account_id, id LIMIT ?3";
    let rows = tx.query(sql, params![account, id, ROWS]).await?;
    let mut batch = begin(&rows, "id")?;
    for row in &rows {
        if let Some(reason) = devices::checksum::fault(row)? {
            let (account, id) = (AccountId::from_i64(row.i64("account_id")?), row.i64("id")?);
            let damaged = Damaged::new(Table::Device, reason).of(account, Some(DeviceId::from_i64(id)));
            batch.damaged.push(damaged);
        }
    }
    Ok(batch)
}
