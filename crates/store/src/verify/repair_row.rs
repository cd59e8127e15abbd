//! Repairing one damaged row.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::damage::{Damaged, Table};
use crate::sql::locations::{renew_last, state_row};
use crate::sql::quarantine::{as_json, keep, quarantine_chunk, quarantine_device_batch, quarantine_log_row};
use crate::sql::{alerts, devices};
use crate::{Engine, Tx, Value, params};

/// A time range that contains no time.
const EMPTY_RANGE: TimeRange = TimeRange { from: Timestamp::from_millis(1), to: Timestamp::from_millis(0) };

/// Repairs a damaged row, after copying it into quarantine.
pub(super) async fn repair_row(tx: &Tx, damaged: Damaged) -> Result<()> {
    let Some(account) = damaged.account else { return Ok(()) };
    tx.lock_account(account).await?;
    tx.log().lock_chunks(tx, account).await?;
    match (damaged.table, damaged.device) {
        (Table::LocationLog, _) => repair_log(tx, &damaged, account).await,
        (Table::LocationChunk, Some(device)) => {
            let (Some((_, last)), Some((_, number))) = (damaged.times, damaged.numbers) else {
                return Ok(());
            };
            quarantine_chunk(tx, (account, device), (last, number), &damaged.reason).await
        }
        (Table::LastLocation, Some(device)) => repair_last(tx, &damaged, account, device).await,
        (Table::DeviceState, Some(device)) => {
            // `lock` rebuilds a state that is still damaged; `recount` corrects its count.
            state_row::lock(tx, account, device).await?;
            state_row::recount(tx, account, device).await
        }
        (Table::Alert, _) => {
            let Some((id, _)) = damaged.numbers else { return Ok(()) };
            let sql = "SELECT * FROM alert WHERE account_id = ?1 AND id = ?2";
            let Some(row) = tx.query_opt(sql, params![account, id]).await? else { return Ok(()) };
            keep(tx, &damaged, as_json(&row)).await?;
            alerts::checksum::repair(tx, &row).await
        }
        (Table::Device, Some(device)) => {
            let sql = "SELECT * FROM device WHERE account_id = ?1 AND id = ?2";
            let Some(row) = tx.query_opt(sql, params![account, device]).await? else { return Ok(()) };
            keep(tx, &damaged, as_json(&row)).await?;
            devices::checksum::repair(tx, &row).await
        }
        (Table::RuleTrail | Table::RuleCheckpoint, Some(device)) => {
            delete_snapshot(tx, &damaged, account, device).await
        }
        (_, None) | (Table::Other, _) => Ok(()),
    }
}

/// Deletes a damaged rule state; the rules start again without it.
async fn delete_snapshot(tx: &Tx, damaged: &Damaged, account: AccountId, device: DeviceId) -> Result<()> {
    let sql = match damaged.times {
        None => "DELETE FROM rule_trail WHERE account_id = ?1 AND device_id = ?2 RETURNING snapshot",
        Some(_) => {
            "DELETE FROM rule_checkpoint WHERE account_id = ?1 AND device_id = ?2 AND at = ?3 RETURNING snapshot"
        }
    };
    let mut values = params![account, device].to_vec();
    values.extend(damaged.times.map(|(at, _)| Value::from(at)));
    if let Some(row) = tx.query_opt(sql, &values).await? {
        keep(tx, damaged, row.text("snapshot")?.into_bytes()).await?;
    }
    Ok(())
}

async fn repair_log(tx: &Tx, damaged: &Damaged, account: AccountId) -> Result<()> {
    let Some((_, last)) = damaged.numbers else { return Ok(()) };
    match tx.engine() {
        Engine::Sqlite => quarantine_log_row(tx, damaged, last).await,
        Engine::Postgres => {
            quarantine_device_batch(tx, damaged, account, last).await?;
            // The quarantined locations must not be counted as unpacked.
            let sql = "UPDATE device_live SET unpacked = (SELECT COALESCE(SUM(l.count), 0) FROM location_log l \
                           WHERE l.account_id = ?1 AND l.device_id = ?2 AND l.last_number > device_live.packed_to) \
                       WHERE account_id = ?1 AND device_id = ?2";
            tx.execute(sql, params![account, damaged.device]).await?;
            Ok(())
        }
    }
}

/// Recomputes the last location from the history.
async fn repair_last(tx: &Tx, damaged: &Damaged, account: AccountId, device: DeviceId) -> Result<()> {
    let sql = "SELECT * FROM last_location WHERE account_id = ?1 AND device_id = ?2";
    if let Some(row) = tx.query_opt(sql, params![account, device]).await? {
        keep(tx, damaged, as_json(&row)).await?;
        renew_last(tx, account, device, EMPTY_RANGE).await?;
    }
    Ok(())
}
