//! Verifying rows that are not packed: last locations, alerts, devices and rule states.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;

use super::report::{Batch, Cursor};
use crate::damage::{Damaged, Table};
use crate::sql::locations::state_row::{self, StateRow};
use crate::sql::locations::{LAST_COLUMNS, checked_last};
use crate::sql::rules::rule_engine::checked_trail;
use crate::sql::{alerts, devices};
use crate::{Engine, Row, Tx, Value, params};

/// Rows that one statement reads.
const ROWS: i64 = 500;

/// The batch of these rows, whose key is the account and the column `id`, with nothing checked yet.
fn start_batch(rows: &[Row], id: &str) -> Result<Batch> {
    let last = match rows.last() {
        Some(row) => Some([row.i64("account_id")?, row.i64(id)?, 0, 0]),
        None => None,
    };
    let mut batch = Batch::of(rows.len(), usize::try_from(ROWS).unwrap_or(usize::MAX), last);
    for row in rows {
        batch.without_checksum += u64::from(matches!(row.value("checksum")?, Value::Null));
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
    let mut batch = start_batch(&rows, "device_id")?;
    for row in &rows {
        let (account, device) = (AccountId::from_i64(row.i64("account_id")?), row.i64("device_id")?);
        batch
            .damaged
            .extend(checked_last(row, account, DeviceId::from_i64(device)).err().map(|damaged| *damaged));
    }
    Ok(batch)
}

/// Checks the states of devices after this cursor. On PostgreSQL, their count of locations that are in no chunk is
/// checked too: the same statement counts them, because a running server may change them between two statements.
pub(super) async fn check_states(tx: &Tx, [account, device, ..]: Cursor) -> Result<Batch> {
    let count = match tx.engine() {
        Engine::Sqlite => "0 AS unpacked, 0 AS counted",
        Engine::Postgres => {
            "unpacked, (SELECT CAST(COALESCE(SUM(g.count), 0) AS BIGINT) FROM location_log g \
             WHERE g.account_id = v.account_id AND g.device_id = v.device_id AND g.last_number > v.packed_to) AS counted"
        }
    };
    let columns = state_row::columns(tx.engine());
    let sql = format!(
        "SELECT account_id, device_id, {columns}, {count} FROM device_live v \
         WHERE (account_id, device_id) > (?1, ?2) ORDER BY account_id, device_id LIMIT ?3"
    );
    let rows = tx.query(&sql, params![account, device, ROWS]).await?;
    let mut batch = start_batch(&rows, "device_id")?;
    for row in &rows {
        let (account, device) = (AccountId::from_i64(row.i64("account_id")?), row.i64("device_id")?);
        let device = DeviceId::from_i64(device);
        let damaged = match StateRow::of(row, account, device) {
            Err(damaged) => Some(*damaged),
            Ok(_) if row.i64("unpacked")? != row.i64("counted")? => {
                let reason = "its count of locations that are in no chunk is wrong";
                Some(Damaged::new(Table::DeviceState, reason).of(account, Some(device)))
            }
            Ok(_) => None,
        };
        batch.damaged.extend(damaged);
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
    let mut batch = start_batch(&rows, "id")?;
    for row in &rows {
        if let Some(reason) = alerts::checksum::fault(row) {
            let account = AccountId::from_i64(row.i64("account_id")?);
            batch.damaged.push(alerts::checksum::damaged(row, account, reason)?);
        }
    }
    Ok(batch)
}

/// Checks the devices after this cursor.
pub(super) async fn check_devices(tx: &Tx, [account, id, ..]: Cursor) -> Result<Batch> {
    let sql = "SELECT * FROM device WHERE (account_id, id) > (?1, ?2) ORDER BY account_id, id LIMIT ?3";
    let rows = tx.query(sql, params![account, id, ROWS]).await?;
    let mut batch = start_batch(&rows, "id")?;
    for row in &rows {
        if let Some(reason) = devices::checksum::fault(row) {
            let (account, id) = (AccountId::from_i64(row.i64("account_id")?), row.i64("id")?);
            let damaged = Damaged::new(Table::Device, reason).of(account, Some(DeviceId::from_i64(id)));
            batch.damaged.push(damaged);
        }
    }
    Ok(batch)
}
