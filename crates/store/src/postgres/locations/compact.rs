//! Compaction: locations move from the log into chunks, and are marked as packed in the same transaction, so that none
//! is ever lost or doubled.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Compacted, CompactionBudget};
use perigee_core::store::Result;

use super::log::FULL_CHUNK;
use super::log_row::LogRow;
use super::recent;
use crate::codec::{Point, PointRef};
use crate::postgres::Param;
use crate::sql::locations::{PACK_AFTER_MS, apply, plan_merge, state_row};
use crate::sql::quarantine::quarantine_device_batch;
use crate::{Database, Row, Tx, params};

/// The first key of the advisory locks on the chunks of accounts.
const CHUNKS_LOCK: i64 = 1_346_720_081;
/// Both keys of such a lock; the second is derived from the account.
const LOCK_KEYS: &str = "CAST(?1 AS INTEGER), CAST(CAST(?2 AS BIGINT) % 2147483647 AS INTEGER)";
/// Devices that one transaction packs; bounds the time that other changes of their accounts' chunks wait.
const DEVICES_PER_JOB: usize = 8;
/// Once a transaction has read this many locations of a device, it packs no further rows of the device.
const LOCATIONS_PER_JOB: i64 = 8_192;

/// Packs the devices that are due, within the budget. Accounts that another node packs are left to that node, because
/// two nodes at once would slow down submissions twice as much. A node that could pack no account waits for the locks
/// the next time, so that frequent changes of chunks do not exclude it forever.
pub(crate) async fn compact(
    database: &Database,
    budget: CompactionBudget,
    left_to_others: &AtomicBool,
) -> Result<Compacted> {
    let waits = budget.everything || left_to_others.load(Ordering::Relaxed);
    let find =
        database.read(move |tx| async move { Ok((due(tx, budget).await?, tx.is_distributed())) }.boxed());
    let (mut due, is_distributed) = find.await?;
    let more = due.len() > budget.devices;
    due.truncate(budget.devices);
    // In ascending order of accounts, which prevents deadlocks between nodes.
    due.sort_unstable();
    let (mut done, mut all_busy) = (Compacted { more, ..Compacted::default() }, !due.is_empty());
    for some in jobs(&due, is_distributed) {
        let some = some.to_vec();
        let job = database.write_background(move |tx| pack_devices(tx, some, waits).boxed());
        let Some(packed) = job.await? else { continue };
        all_busy = false;
        done.devices += packed.devices;
        done.locations += packed.locations;
        done.more |= packed.more;
    }
    done.more &= !all_busy;
    left_to_others.store(all_busy, Ordering::Relaxed);
    Ok(done)
}

type Devices = Vec<(AccountId, DeviceId)>;

/// The devices that each transaction packs; on a cluster those of one account, so that it commits on one server.
fn jobs(due: &[(AccountId, DeviceId)], is_distributed: bool) -> Vec<&[(AccountId, DeviceId)]> {
    let together = due.chunk_by(|one, next| !is_distributed || one.0 == next.0);
    together.flat_map(|some| some.chunks(DEVICES_PER_JOB)).collect()
}

/// The devices to pack, those with a full chunk first, and one more than the budget allows.
async fn due(tx: &Tx, budget: CompactionBudget) -> Result<Devices> {
    let until = if budget.everything { i64::MAX } else { tx.now().as_millis() };
    let limit = i64::try_from(budget.devices).unwrap_or(i64::MAX).saturating_add(1);
    let sql = "SELECT account_id, device_id FROM device_live \
               WHERE pack_due IS NOT NULL AND pack_due <= ?1 ORDER BY pack_due LIMIT ?2";
    let device = |row: &Row| {
        Ok((AccountId::from_i64(row.i64("account_id")?), DeviceId::from_i64(row.i64("device_id")?)))
    };
    tx.query(sql, params![until, limit]).await?.iter().map(device).collect()
}

/// Excludes other changes of the account's chunks until the end of the transaction. An advisory lock, because the
/// lock of the account's row would keep submissions waiting. Two accounts with the same key wait for each other,
/// which is harmless.
pub(super) async fn lock_chunks(tx: &Tx, account: AccountId) -> Result<()> {
    let sql = format!("SELECT pg_advisory_xact_lock({LOCK_KEYS})");
    tx.query(&sql, params![CHUNKS_LOCK, account]).await?;
    Ok(())
}

/// Like [`lock_chunks`], without waiting; returns whether the lock was free.
async fn try_lock_chunks(tx: &Tx, account: AccountId) -> Result<bool> {
    let sql = format!("SELECT pg_try_advisory_xact_lock({LOCK_KEYS}) AS is_free");
    Ok(tx.query_one(&sql, params![CHUNKS_LOCK, account]).await?.bool("is_free")?)
}

/// A device whose locations were packed.
struct Packed {
    account: AccountId,
    device: DeviceId,
    /// The highest log number among them.
    up_to: i64,
    /// Number of its locations in the log rows, read or damaged.
    count: i64,
}

/// Packs devices without the locks of their accounts, so that submissions continue: what arrives meanwhile has higher
/// numbers than what is packed. A submission that looks for duplicates reads the log before the chunks, so that it
/// sees what is being packed in one of them or in both. Returns `None` if others hold the locks of all these accounts
/// and `waits` is false.
async fn pack_devices(tx: &Tx, devices: Devices, waits: bool) -> Result<Option<Compacted>> {
    let (mut done, mut packed, mut all_busy) = (Compacted::default(), Vec::new(), true);
    for (account, device) in devices {
        if waits {
            lock_chunks(tx, account).await?;
        } else if !try_lock_chunks(tx, account).await? {
            continue;
        }
        all_busy = false;
        // Keeps the device from being deleted until the commit. If it was deleted before, there is nothing to pack.
        let sql = "SELECT id FROM device WHERE account_id = ?1 AND id = ?2 FOR KEY SHARE";
        if tx.query_opt(sql, params![account, device]).await?.is_none() {
            continue;
        }
        let packed_to = packed_to(tx, account, device).await?;
        let rows = recent::list(tx, account, device, (packed_to, LOCATIONS_PER_JOB)).await?;
        if rows.is_empty() {
            // Everything was packed or deleted in the meantime, or the stored count is wrong.
            state_row::recount(tx, account, device).await?;
            continue;
        }
        let (mut points, mut up_to, mut count) = (Vec::new(), 0, 0);
        for row in &rows {
            let row = LogRow::of(row)?;
            let (_, last) = row.header.numbers;
            match row.points() {
                Ok(of_row) => points.extend(of_row.into_iter().map(PointRef::to_point)),
                Err(damaged) => {
                    tx.damage().note(&damaged);
                    quarantine_device_batch(tx, &damaged, account, last).await?;
                }
            }
            up_to = up_to.max(last);
            count += i64::from(row.header.count);
        }
        done.devices += u64::from(!rows.is_empty());
        done.locations += u64::try_from(points.len()).unwrap_or(0);
        done.more |= count >= LOCATIONS_PER_JOB;
        points.sort_unstable_by_key(Point::key);
        let changes = plan_merge(tx, account, device, points).await?;
        apply(tx, account, device, changes).await?;
        packed.push(Packed { account, device, up_to, count });
    }
    mark_packed(tx, &packed).await?;
    Ok((!all_busy).then_some(done))
}

/// The number up to which a device is packed. A damaged state is rebuilt first.
async fn packed_to(tx: &Tx, account: AccountId, device: DeviceId) -> Result<i64> {
    let state = match state_row::read_all(tx, account, &[device.as_i64()]).await?.remove(&device) {
        Some(Ok(state)) => Some(state),
        Some(Err(_damaged)) => state_row::lock(tx, account, device).await?,
        None => None,
    };
    Ok(state.map_or(0, |state| state.packed_to))
}

const MARK: &str = "UPDATE device_live SET packed_to = GREATEST(packed_to, CAST($3 AS BIGINT)), \
        checksum = checksum + (GREATEST(packed_to, CAST($3 AS BIGINT)) - packed_to), \
        pack_due = CASE WHEN unpacked - CAST($4 AS BIGINT) >= CAST($6 AS BIGINT) THEN 0 \
                   WHEN unpacked - CAST($4 AS BIGINT) > 0 THEN CAST($5 AS BIGINT) END, \
        unpacked = GREATEST(unpacked - CAST($4 AS BIGINT), 0) \
    WHERE account_id = $1 AND device_id = $2";

/// Records the packed locations. Submissions wait for the rows that this statement locks, so it is sent with the commit.
async fn mark_packed(tx: &Tx, packed: &[Packed]) -> Result<()> {
    let session = tx.require_postgres()?;
    let [statement] = session.prepare_native([MARK]).await?;
    let full = i64::try_from(FULL_CHUNK).unwrap_or(i64::MAX);
    let later = tx.now().plus_millis(PACK_AFTER_MS).as_millis();
    for Packed { account, device, up_to, count } in packed {
        let values = [account.as_i64(), device.as_i64(), *up_to, *count, later, full];
        session.defer(statement.clone(), values.into_iter().map(|value| Box::new(value) as Param).collect());
    }
    Ok(())
}
