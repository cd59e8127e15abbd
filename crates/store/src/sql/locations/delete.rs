//! Deleting a part of a device's history, by request or because its retention has ended.

use futures_util::FutureExt as _;
use perigee_core::access::actor::Actor;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{
    Fix, HistoryRequest, Order, StoredLocation, TimeRange, is_coarse, supersedes,
};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::chunk;
use super::memory::exclude_changes;
use super::reads::last::find_last;
use super::reads::read::read_part;
use crate::sql::{access::audit, quarantine, scope, timeline};
use crate::{Database, Tx, params};

/// Chunks that one transaction deletes; bounds the time other writers wait.
const CHUNKS_PER_JOB: i64 = 256;

/// Deletes the locations in a time range; returns how many there were.
pub(super) async fn delete(
    database: &Database,
    actor: Actor,
    device: DeviceId,
    range: TimeRange,
) -> Result<u64> {
    let _guard = exclude_changes(database).await;
    database.write(move |tx| delete_visible(tx, actor, device, range).boxed()).await
}

async fn delete_visible(tx: &Tx, actor: Actor, device: DeviceId, range: TimeRange) -> Result<u64> {
    let account = actor.scope.account;
    tx.lock_account(account).await?;
    scope::require_device(tx, actor.scope, device).await?;
    let deleted = erase(tx, account, device, range).await?;
    if deleted > 0 {
        timeline::changed(tx, account, device, range).await?;
        audit::record(tx, account, &actor.origin, "location.delete", Some(device.to_string())).await?;
    }
    Ok(deleted)
}

/// Deletes what the devices of an account, or one of them, recorded before this instant.
pub(super) async fn apply_retention(
    database: &Database,
    account: AccountId,
    device: Option<DeviceId>,
    before: Timestamp,
) -> Result<u64> {
    let devices = match device {
        Some(device) => vec![device],
        None => database.read(move |tx| devices(tx, account).boxed()).await?,
    };
    let mut deleted = 0;
    for device in devices {
        loop {
            let _guard = exclude_changes(database).await;
            let job = database.write(move |tx| retire_some(tx, account, device, before).boxed());
            let (some, more) = job.await?;
            deleted += some;
            if !more {
                break;
            }
        }
    }
    Ok(deleted)
}

/// Deletes the oldest locations of a device from before this instant, as many as one transaction should. Returns how
/// many there were, and whether there are more.
pub(crate) async fn retire_some(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Timestamp,
) -> Result<(u64, bool)> {
    tx.lock_account(account).await?;
    let sql = "SELECT last_time FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 AND last_time < ?3 \
               ORDER BY last_time, last_number LIMIT 1 OFFSET ?4";
    let beyond = tx.query_opt(sql, params![account, device, before, CHUNKS_PER_JOB - 1]).await?;
    let part = beyond.map(|row| row.timestamp("last_time")).transpose()?;
    let range = TimeRange { from: Timestamp::MIN, to: part.unwrap_or(before.plus_millis(-1)) };
    timeline::retired(tx, account, device, range.to).await?;
    Ok((erase(tx, account, device, range).await?, part.is_some()))
}

/// Whether a device has locations from before this instant.
pub(crate) async fn holds_before(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Timestamp,
) -> Result<bool> {
    let sql = "SELECT 1 AS found FROM location_chunk \
               WHERE account_id = ?1 AND device_id = ?2 AND first_time < ?3 LIMIT 1";
    Ok(tx.query_opt(sql, params![account, device, before]).await?.is_some()
        || tx.log().has_unpacked_before(tx, account, device, before).await?)
}

async fn devices(tx: &Tx, account: AccountId) -> Result<Vec<DeviceId>> {
    let rows = tx.query("SELECT id FROM device WHERE account_id = ?1 ORDER BY id", params![account]).await?;
    rows.iter().map(|row| Ok(DeviceId::from_i64(row.i64("id")?))).collect()
}

/// Erases a time range from chunks and log, and recomputes the last location if it was in it.
async fn erase(tx: &Tx, account: AccountId, device: DeviceId, range: TimeRange) -> Result<u64> {
    if range.from > range.to {
        return Ok(0);
    }
    tx.log().lock_chunks(tx, account).await?;
    quarantine::erase(tx, account, device, range).await?;
    let packed = erase_packed(tx, account, device, range).await?;
    // The log first: erasing from it saves the state in memory, including the last location, which is recomputed after.
    let unpacked = tx.log().erase(tx, account, device, range, packed).await?;
    let last = find_last(tx, account, device).await?;
    if last.is_some_and(|last| (range.from..=range.to).contains(&last.location.time)) {
        renew_last(tx, account, device, range).await?;
    }
    Ok(packed + unpacked)
}

/// Deletes whole chunks by one statement, and rewrites a chunk at either end of the range.
async fn erase_packed(tx: &Tx, account: AccountId, device: DeviceId, range: TimeRange) -> Result<u64> {
    let sql = "DELETE FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 \
               AND first_time >= ?3 AND last_time BETWEEN ?3 AND ?4 RETURNING count";
    let mut deleted = 0;
    for row in tx.query(sql, params![account, device, range.from, range.to]).await? {
        deleted += row.int::<u64>("count")?;
    }
    let mut after = (range.from, i64::MIN);
    while let Some(chunk) = chunk::next(tx, account, device, after).await? {
        // A damaged chunk that is only partly in the range stays as it is: no read returns anything from it.
        let mut points = chunk.points.unwrap_or_default();
        let before = points.len();
        points.retain(|point| !(range.from..=range.to).contains(&point.location.time));
        if points.len() < before {
            deleted += u64::try_from(before - points.len()).unwrap_or(0);
            chunk::replace(tx, account, device, chunk.last, &points).await?;
        }
        if chunk.last.0 > range.to {
            break;
        }
        after = chunk.last;
    }
    Ok(deleted)
}

/// Recomputes the last location of a device from its history outside the erased range.
pub(crate) async fn renew_last(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    erased: TimeRange,
) -> Result<()> {
    let last = last_outside(tx, account, device, erased).await?;
    tx.log().replace_last(tx, account, device, last).await
}

/// Recomputes the last location from the history outside a range. A location that is not coarse replaces anything
/// older, so it is enough to go back to the newest such one and then forward again.
async fn last_outside(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    erased: TimeRange,
) -> Result<Option<StoredLocation>> {
    let after = TimeRange { from: erased.to.plus_millis(1), to: Timestamp::MAX };
    let before = TimeRange { from: Timestamp::MIN, to: erased.from.plus_millis(-1) };
    let mut newest: Vec<StoredLocation> = Vec::new();
    for range in [after, before].into_iter().filter(|range| range.from <= range.to) {
        let mut request = HistoryRequest { range, order: Order::Descending, after: None, limit: 100 };
        loop {
            let part = read_part(tx, account, device, &request).await?;
            for stored in part.items.into_iter().filter(|stored| !stored.trust.suspect) {
                let settles = !is_coarse(&Fix::from(&stored));
                newest.push(stored);
                if settles {
                    return Ok(forward(newest));
                }
            }
            match part.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
    }
    Ok(forward(newest))
}

/// Applies locations in time order to find the last one.
fn forward(newest_first: Vec<StoredLocation>) -> Option<StoredLocation> {
    newest_first
        .into_iter()
        .rev()
        .reduce(|last, new| if supersedes(&Fix::from(&new), &Fix::from(&last)) { new } else { last })
}
