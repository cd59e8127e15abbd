//! Applying the retention of locations that accounts and devices set.

use futures_util::FutureExt as _;
use perigee_core::accounts::retention::{retention_cut, retention_days};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::{clock, locations};
use crate::{Database, Row, Tx, params};

/// Devices that one transaction examines.
const DEVICES_PER_READ: i64 = 200;

type Key = (AccountId, DeviceId);

/// Deletes expired locations, a part of a device's history per transaction. Returns how many there were.
pub(in crate::sql) async fn apply(database: &Database) -> Result<u64> {
    let now = clock::trusted_now(database).await?;
    let mut after = Some((AccountId::from_i64(i64::MIN), DeviceId::from_i64(i64::MIN)));
    let mut deleted = 0;
    while let Some(from) = after {
        let (due, next) = database.read(move |tx| due(tx, from, now).boxed()).await?;
        for device in due {
            loop {
                let _guard = locations::exclude_changes(database).await;
                let (some, more) =
                    database.write_background(move |tx| retire_some(tx, device, now).boxed()).await?;
                deleted += some;
                if !more {
                    break;
                }
            }
        }
        after = next;
    }
    Ok(deleted)
}

/// Devices after this one with expired locations, and the cursor to continue from.
async fn due(tx: &Tx, after: Key, now: Timestamp) -> Result<(Vec<Key>, Option<Key>)> {
    let sql = "SELECT d.account_id, d.id, a.retention_days AS account_days, d.retention_days AS device_days \
               FROM device d JOIN account a ON a.id = d.account_id \
               WHERE (d.account_id, d.id) > (?1, ?2) \
               ORDER BY d.account_id, d.id LIMIT ?3";
    let rows = tx.query(sql, params![after.0, after.1, DEVICES_PER_READ]).await?;
    let mut due = Vec::new();
    let mut last = None;
    for row in &rows {
        let (account, device) =
            (AccountId::from_i64(row.i64("account_id")?), DeviceId::from_i64(row.i64("id")?));
        last = Some((account, device));
        if let Some(cut) = cut(row, now)?
            && locations::holds_before(tx, account, device, cut).await?
        {
            due.push((account, device));
        }
    }
    let full = rows.len() >= usize::try_from(DEVICES_PER_READ).unwrap_or(usize::MAX);
    Ok((due, last.filter(|_| full)))
}

/// Deletes a part of a device's expired locations, by the settings in this transaction, so that a longer retention
/// takes effect as soon as it is acknowledged.
async fn retire_some(tx: &Tx, (account, device): Key, now: Timestamp) -> Result<(u64, bool)> {
    tx.lock_account(account).await?;
    let sql = "SELECT a.retention_days AS account_days, d.retention_days AS device_days \
               FROM device d JOIN account a ON a.id = d.account_id WHERE d.account_id = ?1 AND d.id = ?2";
    let Some(row) = tx.query_opt(sql, params![account, device]).await? else { return Ok((0, false)) };
    match cut(&row, now)? {
        Some(cut) => locations::retire_some(tx, account, device, cut).await,
        None => Ok((0, false)),
    }
}

fn cut(row: &Row, now: Timestamp) -> Result<Option<Timestamp>> {
    let days = retention_days(row.opt_int("account_days")?, row.opt_int("device_days")?);
    Ok(days.map(|days| retention_cut(days, now)))
}
