//! Deleting a part of a device's history: by a client's wish, or because it was kept long enough.

use std::sync::Arc;

use futures_util::FutureExt as _;
use perigee_core::actor::Actor;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Fix, HistoryRequest, Order, StoredLocation, TimeRange, is_coarse, supersedes};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use tokio::sync::MutexGuard;

use super::super::{audit, quarantine, scope};
use super::chunk;
use super::last::{find_last, put_last_points};
use super::log;
use super::read::cut_out;
use crate::codec::Point;
use crate::{Database, Tx, params};

/// Chunks one transaction deletes, so that no commit waits long for it.
const CHUNKS_AT_ONCE: i64 = 256;

/// Deletes what lies in the range, and gives how many locations went.
pub(super) async fn delete(
    database: &Database,
    actor: Actor,
    device: DeviceId,
    range: TimeRange,
) -> Result<u64> {
    let _alone = alone(database).await;
    database.write(move |tx| delete_in_sight(tx, actor, device, range).boxed()).await
}

/// Lets nobody else on this SQLite store change chunks or add locations meanwhile. On PostgreSQL the account's lock
/// does that, whichever node they are on.
pub(crate) async fn alone(database: &Database) -> Option<(MutexGuard<'_, ()>, MutexGuard<'_, ()>)> {
    let memory = database.memory()?;
    // The same order as wherever both are held.
    let chunks = memory.chunks.lock().await;
    Some((chunks, memory.arriving.lock().await))
}

async fn delete_in_sight(tx: &Tx, actor: Actor, device: DeviceId, range: TimeRange) -> Result<u64> {
    let account = actor.scope.account;
    tx.lock_account(account).await?;
    scope::require_device(tx, actor.scope, device).await?;
    let gone = erase(tx, account, device, range).await?;
    if gone > 0 {
        audit::record(tx, account, &actor.origin, "location.delete", Some(device.to_string())).await?;
    }
    Ok(gone)
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
    let mut gone = 0;
    for device in devices {
        loop {
            let _alone = alone(database).await;
            let job = database.write(move |tx| retire_some(tx, account, device, before).boxed());
            let (some, more) = job.await?;
            gone += some;
            if !more {
                break;
            }
        }
    }
    Ok(gone)
}

/// Deletes what a device recorded before this instant, the oldest first and no more than one transaction should hold.
/// Gives how many went, and whether there is more.
pub(crate) async fn retire_some(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Timestamp,
) -> Result<(u64, bool)> {
    tx.lock_account(account).await?;
    let sql = "SELECT last_time FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 AND last_time < ?3 \
               ORDER BY last_time, last_number LIMIT 1 OFFSET ?4";
    let beyond = tx.query_opt(sql, params![account, device, before, CHUNKS_AT_ONCE - 1]).await?;
    let part = beyond.map(|row| row.timestamp("last_time")).transpose()?;
    let range = TimeRange { from: Timestamp::MIN, to: part.unwrap_or(before.plus_millis(-1)) };
    Ok((erase(tx, account, device, range).await?, part.is_some()))
}

/// Whether a device recorded anything before this instant that is still there.
pub(crate) async fn holds_before(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Timestamp,
) -> Result<bool> {
    let sql = "SELECT 1 AS found FROM location_chunk \
               WHERE account_id = ?1 AND device_id = ?2 AND first_time < ?3 LIMIT 1";
    Ok(tx.query_opt(sql, params![account, device, before]).await?.is_some()
        || log::holds_before(tx, account, device, before).await?)
}

async fn devices(tx: &Tx, account: AccountId) -> Result<Vec<DeviceId>> {
    let rows = tx.query("SELECT id FROM device WHERE account_id = ?1 ORDER BY id", params![account]).await?;
    rows.iter().map(|row| Ok(DeviceId::from_i64(row.i64("id")?))).collect()
}

/// Takes a range out of chunks and log, and finds the last location anew if it went.
async fn erase(tx: &Tx, account: AccountId, device: DeviceId, range: TimeRange) -> Result<u64> {
    if range.from > range.to {
        return Ok(0);
    }
    quarantine::erase(tx, account, device, range).await?;
    let packed = erase_packed(tx, account, device, range).await?;
    // The log first: it saves what memory has, the last location too, which is renewed after that.
    let unpacked = log::erase(tx, account, device, range, packed).await?;
    let last = find_last(tx, account, device).await?;
    if last.is_some_and(|last| (range.from..=range.to).contains(&last.location.time)) {
        renew_last(tx, account, device, range).await?;
    }
    Ok(packed + unpacked)
}

/// Whole chunks go by one statement; one at either end keeps what lies outside.
async fn erase_packed(tx: &Tx, account: AccountId, device: DeviceId, range: TimeRange) -> Result<u64> {
    let sql = "DELETE FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 \
               AND first_time >= ?3 AND last_time BETWEEN ?3 AND ?4 RETURNING count";
    let mut gone = 0;
    for row in tx.query(sql, params![account, device, range.from, range.to]).await? {
        gone += row.int::<u64>("count")?;
    }
    let mut after = (range.from, i64::MIN);
    while let Some(chunk) = chunk::next(tx, account, device, after).await? {
        // A damaged one that is not wholly in the range stays as it is: it shows nothing to anybody.
        let mut points = chunk.points.unwrap_or_default();
        let before = points.len();
        points.retain(|point| !(range.from..=range.to).contains(&point.location.time));
        if points.len() < before {
            gone += u64::try_from(before - points.len()).unwrap_or(0);
            chunk::leave(tx, account, device, chunk.last, &points).await?;
        }
        if chunk.last.0 > range.to {
            break;
        }
        after = chunk.last;
    }
    Ok(gone)
}

pub(crate) async fn renew_last(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    erased: TimeRange,
) -> Result<()> {
    let sql = "DELETE FROM last_location WHERE account_id = ?1 AND device_id = ?2";
    tx.execute(sql, params![account, device]).await?;
    let owner = (account, device);
    let last = last_outside(tx, account, device, erased).await?;
    if let Some(last) = &last {
        put_last_points(tx, &[(owner, Point::pack(last))]).await?;
    }
    if let Some(memory) = tx.memory() {
        let memory = Arc::clone(memory);
        tx.after_commit(move || memory.device_states_mut().set_last(owner, last.as_ref()));
    }
    Ok(())
}

/// The last location by the history outside of a range. One that is not coarse replaces whatever is older, so it is
/// enough to go back to the newest such and then forward again.
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
            let part = cut_out(tx, account, device, &request).await?;
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

fn forward(newest_first: Vec<StoredLocation>) -> Option<StoredLocation> {
    newest_first
        .into_iter()
        .rev()
        .reduce(|last, new| if supersedes(&Fix::from(&new), &Fix::from(&last)) { new } else { last })
}
