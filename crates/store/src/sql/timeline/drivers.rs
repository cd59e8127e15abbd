//! Segments whose drivers have to be found again, because a driver, a key tag or an assignment changed.
//!
//! The change marks devices in its own transaction; the timeline engine resolves the marked segments afterwards, in parts.
//! Segments that change get a new number of their change, so that clients who follow changes of trips receive them.

use futures_util::FutureExt as _;
use perigee_core::drivers::DriverTag;
use perigee_core::id::{AccountId, DeviceId, DriverId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::changes::Changes;
use super::row::{COLUMNS, from_row};
use crate::sql::drivers::resolve;
use crate::{Database, Tx, params};

/// How a mark joins one that a device has already.
const JOIN: &str = "ON CONFLICT (account_id, device_id) DO UPDATE SET \
    drivers_from = CASE WHEN timeline_device.drivers_from < excluded.drivers_from \
                        THEN timeline_device.drivers_from ELSE excluded.drivers_from END, \
    drivers_to = CASE WHEN timeline_device.drivers_to > excluded.drivers_to \
                      THEN timeline_device.drivers_to ELSE excluded.drivers_to END";

/// Marks the segments of a device that begin between two instants, without the last. The account is locked.
pub(in crate::sql) async fn mark(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    (from, to): (Timestamp, Timestamp),
) -> Result<()> {
    let sql = format!(
        "INSERT INTO timeline_device (account_id, device_id, drivers_from, drivers_to) \
         VALUES (?1, ?2, ?3, ?4) {JOIN}"
    );
    tx.execute(&sql, params![account, device, from, to]).await?;
    Ok(())
}

/// Marks the segments in which a key tag was reported. The account is locked.
pub(in crate::sql) async fn mark_tag(tx: &Tx, account: AccountId, tag: &DriverTag) -> Result<()> {
    let sql = format!("{} tag_key = ?2 GROUP BY account_id, device_id {JOIN}", mark_those());
    tx.execute(&sql, params![account, tag.as_str()]).await?;
    Ok(())
}

/// Marks the segments of a driver. The account is locked.
pub(in crate::sql) async fn mark_driver(tx: &Tx, account: AccountId, driver: DriverId) -> Result<()> {
    let sql = format!("{} driver_id = ?2 GROUP BY account_id, device_id {JOIN}", mark_those());
    tx.execute(&sql, params![account, driver]).await?;
    Ok(())
}

fn mark_those() -> &'static str {
    "INSERT INTO timeline_device (account_id, device_id, drivers_from, drivers_to) \
     SELECT account_id, device_id, MIN(from_at), MAX(from_at) + 1 FROM timeline_segment WHERE account_id = ?1 AND"
}

/// Finds the drivers of marked segments of one device again, at most `limit` of them. Returns whether an account has more,
/// or `None` if nothing was marked. Two nodes may do this at once: each finds the same.
async fn resolve_part(tx: &Tx, account: AccountId, limit: u32) -> Result<Option<bool>> {
    tx.lock_account(account).await?;
    let sql = "SELECT device_id, drivers_from, drivers_to FROM timeline_device \
               WHERE account_id = ?1 AND drivers_from IS NOT NULL ORDER BY device_id LIMIT 2";
    let marked = tx.query(sql, params![account]).await?;
    let Some(row) = marked.first() else { return Ok(None) };
    let device = DeviceId::from_i64(row.i64("device_id")?);
    let (from, to) = (row.timestamp("drivers_from")?, row.timestamp("drivers_to")?);
    let sql = format!(
        "SELECT {COLUMNS} FROM timeline_segment WHERE account_id = ?1 AND device_id = ?2 \
         AND from_at >= ?3 AND from_at < ?4 AND (kind = 'trip' OR driver IS NOT NULL) ORDER BY from_at LIMIT ?5"
    );
    let rows = tx.query(&sql, params![account, device, from, to, limit]).await?;
    let old = rows.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    let is_part = u32::try_from(old.len()).is_ok_and(|count| count >= limit);
    let next = old.last().map(|last| last.segment.from.plus_millis(1)).filter(|_| is_part);
    let mut new = old.clone();
    resolve(tx, account, device, &mut new).await?;
    let mut changes = Changes::new(account);
    for (old, mut new) in old.iter().zip(new) {
        new.updated_at = tx.now();
        changes.put(Some(old), new, true);
    }
    changes.save(tx).await?;
    // A later mark waits for this transaction, because both lock the account.
    let sql = "UPDATE timeline_device SET drivers_from = ?3, drivers_to = CASE WHEN ?4 THEN drivers_to END \
               WHERE account_id = ?1 AND device_id = ?2";
    tx.execute(sql, params![account, device, next, next.is_some()]).await?;
    Ok(Some(next.is_some() || marked.len() > 1))
}

async fn is_any_marked(tx: &Tx, account: AccountId) -> Result<bool> {
    let sql =
        "SELECT 1 AS found FROM timeline_device WHERE account_id = ?1 AND drivers_from IS NOT NULL LIMIT 1";
    Ok(tx.query_opt(sql, params![account]).await?.is_some())
}

/// See [`resolve_part`]. Nothing is locked or written unless something is marked.
pub(super) async fn resolve_again(
    database: &Database,
    account: AccountId,
    limit: u32,
) -> Result<Option<bool>> {
    if !database.read(move |tx| is_any_marked(tx, account).boxed()).await? {
        return Ok(None);
    }
    database.write_background(move |tx| resolve_part(tx, account, limit).boxed()).await
}
