//! Rebuilding the state of a device from its chunks, its log, its last location and the device.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::super::reads::last::last_points;
use super::StateRow;
use crate::damage::Damaged;
use crate::sql::quarantine::{as_json, keep};
use crate::{Engine, Row, Tx, params};

/// Rebuilds a damaged row, after copying it into quarantine. The caller has locked it, or the account.
pub(crate) async fn rebuild(
    tx: &Tx,
    damaged: &Damaged,
    account: AccountId,
    device: DeviceId,
) -> Result<StateRow> {
    tx.damage().note(damaged);
    let sql = "SELECT * FROM device_live WHERE account_id = ?1 AND device_id = ?2";
    if let Some(row) = tx.query_opt(sql, params![account, device]).await? {
        keep(tx, damaged, as_json(&row)).await?;
        tracing::error!(row = %damaged, "rebuilt; a copy of it is in the table quarantine");
    }
    let state = derive(tx, account, device).await?;
    state.save(tx).await?;
    recount(tx, account, device).await?;
    Ok(state)
}

/// Computes the state of a device from its locations. The interval and the facts that the device reported are learned
/// again.
///
/// The number up to which locations are packed is derived from the first and last locations of chunks, so it may be
/// lower than it was. Locations between the two numbers are then both in the log and in a chunk, and are recognised
/// by their number.
pub(crate) async fn derive(tx: &Tx, account: AccountId, device: DeviceId) -> Result<StateRow> {
    let key = params![account, device];
    let mut state = StateRow::empty(account, device);
    let sql = "SELECT MAX(CASE WHEN first_number > last_number THEN first_number ELSE last_number END) AS packed_to, \
                   MAX(last_time) AS newest FROM location_chunk WHERE account_id = ?1 AND device_id = ?2";
    let packed = tx.query_one(sql, key).await?;
    state.packed_to = packed.opt_i64("packed_to")?.unwrap_or(0);
    for (_, last) in last_points(tx, account, &[device.as_i64()]).await? {
        state.last_seen = Some(last.received_at);
        state.observed_to = last.number;
    }
    let creation = "SELECT creation FROM device WHERE account_id = ?1 AND id = ?2";
    let creation = tx.query_opt(creation, key).await?;
    if tx.engine() == Engine::Postgres {
        let logged = "SELECT MAX(last_time) AS newest, MAX(received_at) AS received FROM location_log \
                      WHERE account_id = ?1 AND device_id = ?2";
        let logged = tx.query_one(logged, key).await?;
        state.newest_time = packed.opt_timestamp("newest")?.max(logged.opt_timestamp("newest")?);
        state.last_seen = state.last_seen.max(logged.opt_timestamp("received")?);
        state.observed_to = 0;
        add_license(tx, &mut state).await?;
    }
    // The times may come from a clock that was ahead.
    state.last_seen = state.last_seen.map(|seen| seen.min(tx.now()));
    let created = |row: Row| row.timestamp("creation").unwrap_or(Timestamp::from_millis(0));
    state.last_seen = state.last_seen.or_else(|| creation.map(created));
    Ok(state)
}

/// Copies the licence of the device to its state.
async fn add_license(tx: &Tx, state: &mut StateRow) -> Result<()> {
    let sql = "SELECT licensed, expires FROM device WHERE account_id = ?1 AND id = ?2";
    if let Some(row) = tx.query_opt(sql, params![state.account, state.device]).await? {
        (state.licensed, state.expires) = (Some(row.bool("licensed")?), row.opt_timestamp("expires")?);
    }
    Ok(())
}

/// Counts the locations of a device that are in no chunk, and makes them due to be packed.
pub(crate) async fn recount(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    if tx.engine() == Engine::Postgres {
        let sql = "UPDATE device_live SET unpacked = c.unpacked, pack_due = CASE WHEN c.unpacked > 0 THEN 0 END \
                   FROM (SELECT CAST(COALESCE(SUM(l.count), 0) AS BIGINT) AS unpacked FROM location_log l \
                         WHERE l.account_id = ?1 AND l.device_id = ?2 AND l.last_number > ( \
                             SELECT v.packed_to FROM device_live v WHERE v.account_id = ?1 AND v.device_id = ?2)) c \
                   WHERE account_id = ?1 AND device_id = ?2";
        tx.execute(sql, params![account, device]).await?;
    }
    Ok(())
}
