//! Compaction: locations move from the log into chunks, and are marked as packed in the same transaction, so that none
//! is ever lost or doubled.

use futures_util::FutureExt as _;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Compacted, CompactionBudget};
use perigee_core::store::Result;

use super::recent;
use crate::codec::Point;
use crate::sql::locations::{CHUNK_FULL, PACK_AFTER_MS, apply, plan_merge};
use crate::sql::quarantine::quarantine_location;
use crate::{Database, Row, Tx, params};

/// Devices that one transaction packs; bounds the time other writers wait.
const DEVICES_PER_JOB: usize = 8;
/// Locations of a device that one transaction packs.
const LOCATIONS_PER_JOB: i64 = 8_192;

/// Packs the devices that are due, within the budget.
pub(crate) async fn compact(database: &Database, budget: CompactionBudget) -> Result<Compacted> {
    let mut due = database.read(move |tx| due(tx, budget).boxed()).await?;
    let more = due.len() > budget.devices;
    due.truncate(budget.devices);
    // In ascending order of accounts, which prevents deadlocks between nodes.
    due.sort_unstable();
    let mut done = Compacted { more, ..Compacted::default() };
    for some in due.chunks(DEVICES_PER_JOB) {
        let some = some.to_vec();
        let packed = database.write_background(move |tx| pack_devices(tx, some).boxed()).await?;
        done.devices += packed.devices;
        done.locations += packed.locations;
        done.more |= packed.more;
    }
    Ok(done)
}

type Devices = Vec<(AccountId, DeviceId)>;

/// The devices to pack, those with the most locations first, and one more than the budget allows.
async fn due(tx: &Tx, budget: CompactionBudget) -> Result<Devices> {
    let least = if budget.everything { 1 } else { i64::try_from(CHUNK_FULL).unwrap_or(i64::MAX) };
    let long_ago = tx.now().plus_millis(-PACK_AFTER_MS);
    let limit = i64::try_from(budget.devices).unwrap_or(i64::MAX).saturating_add(1);
    let sql = "SELECT account_id, device_id FROM device_live \
               WHERE unpacked >= ?1 OR (unpacked > 0 AND unpacked_since <= ?2) \
               ORDER BY unpacked DESC LIMIT ?3";
    let device = |row: &Row| {
        Ok((AccountId::from_i64(row.i64("account_id")?), DeviceId::from_i64(row.i64("device_id")?)))
    };
    tx.query(sql, params![least, long_ago, limit]).await?.iter().map(device).collect()
}

async fn pack_devices(tx: &Tx, devices: Devices) -> Result<Compacted> {
    let mut done = Compacted::default();
    for (account, device) in devices {
        tx.lock_account(account).await?;
        let all = recent::list(tx, account, device, LOCATIONS_PER_JOB).await?;
        let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
        let (mut points, mut packed_to) = (Vec::with_capacity(all.len()), 0);
        for one in all {
            match one {
                Ok(point) => {
                    packed_to = packed_to.max(point.number);
                    points.push(point);
                }
                Err(damaged) => {
                    let Some((number, _)) = damaged.numbers else { continue };
                    tx.damage().note(&damaged);
                    quarantine_location(tx, &damaged, account, number).await?;
                    packed_to = packed_to.max(number);
                }
            }
        }
        if count == 0 {
            continue;
        }
        points.sort_unstable_by_key(Point::key);
        let changes = plan_merge(tx, account, device, points).await?;
        apply(tx, account, device, changes).await?;
        let sql = "UPDATE device_live SET packed_to = ?3, unpacked = unpacked - ?4, unpacked_since = ?5 \
                   WHERE account_id = ?1 AND device_id = ?2";
        tx.execute(sql, params![account, device, packed_to, count, tx.now()]).await?;
        done.devices += 1;
        done.locations += u64::try_from(count).unwrap_or(0);
        done.more |= count == LOCATIONS_PER_JOB;
    }
    Ok(done)
}
