//! Marks devices with the range of fix times that their timelines do not consider yet.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::{Result, TimelineMarks};
use perigee_core::time::Timestamp;

use super::follow;
use super::settings::WHOLE;
use crate::sql::maintenance;
use crate::sql::query::insert_many;
use crate::sql::scope::visible_devices;
use crate::{Tx, params};
use perigee_core::access::actor::Scope;

/// Marks devices and advances the cursor; false if another node has committed the round.
pub(super) async fn commit(tx: &Tx, marks: TimelineMarks, lease: (String, i64)) -> Result<bool> {
    let account = marks.round.account;
    if !marks.devices.is_empty() {
        tx.lock_account_beside(account).await?;
    }
    if !follow::advance(tx, &marks.round, marks.cursor, marks.catch_up, lease).await? {
        return Ok(false);
    }
    let named = marks.devices.iter().map(|(device, _)| *device).collect();
    // Devices that were deleted meanwhile are skipped.
    let existing = visible_devices(tx, Scope::for_store_check(account), named).await?;
    let devices: Vec<_> = marks.devices.into_iter().filter(|(device, _)| existing.contains(device)).collect();
    add(tx, account, &devices, marks.quiet).await?;
    Ok(true)
}

/// Extends the marked ranges of devices. A device keeps its `quiet` until it is derived: whether its events are omitted.
async fn add(tx: &Tx, account: AccountId, devices: &[(DeviceId, TimeRange)], quiet: bool) -> Result<()> {
    let row = |(device, range): &(DeviceId, TimeRange)| {
        params![account, *device, range.from, range.to, 1, quiet].to_vec()
    };
    let rows: Vec<_> = devices.iter().map(row).collect();
    let head = "INSERT INTO timeline_device (account_id, device_id, dirty_from, dirty_to, marks, quiet)";
    let tail = "ON CONFLICT (account_id, device_id) DO UPDATE SET \
                    quiet = CASE WHEN timeline_device.dirty_from IS NULL THEN excluded.quiet \
                                 ELSE timeline_device.quiet END, \
                    dirty_from = CASE WHEN timeline_device.dirty_from < excluded.dirty_from \
                                      THEN timeline_device.dirty_from ELSE excluded.dirty_from END, \
                    dirty_to = CASE WHEN timeline_device.dirty_to > excluded.dirty_to \
                                    THEN timeline_device.dirty_to ELSE excluded.dirty_to END, \
                    marks = timeline_device.marks + 1";
    insert_many(tx, head, &rows, tail).await?;
    Ok(())
}

/// Marks a range of a device's time in which a request erased locations or corrected the timeline. The account is locked.
pub(crate) async fn changed(tx: &Tx, account: AccountId, device: DeviceId, range: TimeRange) -> Result<()> {
    add(tx, account, &[(device, range)], false).await
}

/// Marks the whole histories of devices, without events for what changes. The account is locked.
pub(super) async fn again(tx: &Tx, account: AccountId, devices: &[DeviceId]) -> Result<()> {
    if devices.is_empty() {
        return Ok(());
    }
    let devices: Vec<_> = devices.iter().map(|device| (*device, WHOLE)).collect();
    add(tx, account, &devices, true).await
}

/// Deletes what was derived from locations up to this instant, which were deleted because their retention ended. A
/// segment that goes on after it stays whole. No events are written, as for the locations.
pub(crate) async fn retired(tx: &Tx, account: AccountId, device: DeviceId, up_to: Timestamp) -> Result<()> {
    maintenance::retired(tx, account, device, up_to).await?;
    let sql = "DELETE FROM timeline_segment WHERE account_id = ?1 AND device_id = ?2 AND from_at <= ?3 AND to_at <= ?3";
    tx.execute(sql, params![account, device, up_to]).await?;
    let sql = "DELETE FROM timeline_edit WHERE account_id = ?1 AND device_id = ?2 AND from_at <= ?3 AND to_at <= ?3";
    tx.execute(sql, params![account, device, up_to]).await?;
    let sql = "DELETE FROM timeline_anchor WHERE account_id = ?1 AND device_id = ?2 AND at <= ?3";
    tx.execute(sql, params![account, device, up_to]).await?;
    Ok(())
}
