//! Moving locations from the log into chunks, and trimming the log of what was moved long ago.
//!
//! What moves is marked as moved in the same transaction, so that at no moment a location is lost or doubled.

use futures_util::FutureExt as _;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Compacted, CompactionBudget};
use perigee_core::store::Result;

use super::chunk::{self, FULL, key};
use super::feed::note_trimmed;
use super::recent;
use crate::{Database, Row, Tx, params, sqlite};

/// Devices one transaction packs, so that no commit waits long for it.
const DEVICES_AT_ONCE: usize = 8;
/// Locations of a device one transaction packs.
const LOCATIONS_AT_ONCE: i64 = 8_192;
/// After how long few locations are packed too.
pub(crate) const FEW_WAIT_MS: i64 = 60 * 60 * 1000;
/// Rows of the log one transaction looks at to trim it.
const TRIMMED_AT_ONCE: i64 = 5_000;

/// Packs what is due, up to so many devices.
pub(super) async fn compact(database: &Database, budget: CompactionBudget) -> Result<Compacted> {
    if let Some(live) = database.live() {
        return sqlite::locations::compact(database, live, budget).await;
    }
    let mut due = database.read(move |tx| due(tx, budget).boxed()).await?;
    let more = due.len() > budget.devices;
    due.truncate(budget.devices);
    // Accounts in the order of their ids, so that two nodes never wait for each other in a circle.
    due.sort_unstable();
    let mut done = Compacted { more, ..Compacted::default() };
    for some in due.chunks(DEVICES_AT_ONCE) {
        let some = some.to_vec();
        let packed = database.write(move |tx| pack_devices(tx, some).boxed()).await?;
        done.devices += packed.devices;
        done.locations += packed.locations;
        done.more |= packed.more;
    }
    Ok(done)
}

type Devices = Vec<(AccountId, DeviceId)>;

/// The devices to pack, those with the most to pack first, and one more than the budget allows.
async fn due(tx: &Tx, budget: CompactionBudget) -> Result<Devices> {
    let least = if budget.everything { 1 } else { i64::try_from(FULL).unwrap_or(i64::MAX) };
    let long_ago = tx.now().plus_millis(-FEW_WAIT_MS);
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
        let mut points = recent::list(tx, account, device, LOCATIONS_AT_ONCE).await?;
        let Some(packed_to) = points.last().map(|point| point.number) else { continue };
        let count = i64::try_from(points.len()).unwrap_or(i64::MAX);
        points.sort_unstable_by_key(key);
        let changes = chunk::plan_merge(tx, account, device, points).await?;
        chunk::apply(tx, account, device, changes).await?;
        let sql = "UPDATE device_live SET packed_to = ?3, unpacked = unpacked - ?4, unpacked_since = ?5 \
                   WHERE account_id = ?1 AND device_id = ?2";
        tx.execute(sql, params![account, device, packed_to, count, tx.now()]).await?;
        done.devices += 1;
        done.locations += u64::try_from(count).unwrap_or(0);
        done.more |= count == LOCATIONS_AT_ONCE;
    }
    Ok(done)
}

/// Forgets log rows that were received this long ago and are in chunks. Gives how many went.
pub(super) async fn trim(database: &Database, keep_ms: i64) -> Result<u64> {
    let accounts = database.read(|tx| accounts(tx).boxed()).await?;
    let mut gone = 0;
    for account in accounts {
        if let Some(live) = database.live() {
            gone += sqlite::locations::trim(database, live, account, keep_ms).await?;
            continue;
        }
        loop {
            let some = database.write(move |tx| trim_some(tx, account, keep_ms).boxed()).await?;
            gone += some;
            if some < u64::try_from(TRIMMED_AT_ONCE).unwrap_or(u64::MAX) {
                break;
            }
        }
    }
    Ok(gone)
}

async fn accounts(tx: &Tx) -> Result<Vec<AccountId>> {
    let rows = tx.query("SELECT id FROM account ORDER BY id", &[]).await?;
    rows.iter().map(|row| Ok(AccountId::from_i64(row.i64("id")?))).collect()
}

async fn trim_some(tx: &Tx, account: AccountId, keep_ms: i64) -> Result<u64> {
    tx.lock_account(account).await?;
    // The oldest rows alone are looked at: what follows is newer.
    let sql = "DELETE FROM location_log WHERE account_id = ?1 AND number IN ( \
                   SELECT o.number FROM (SELECT number, device_id, received_at FROM location_log \
                       WHERE account_id = ?1 ORDER BY number LIMIT ?3) o \
                   JOIN device_live v ON v.account_id = ?1 AND v.device_id = o.device_id \
                   WHERE o.received_at < ?2 AND o.number <= v.packed_to) \
               RETURNING number";
    let long_ago = tx.now().plus_millis(-keep_ms);
    let rows = tx.query(sql, params![account, long_ago, TRIMMED_AT_ONCE]).await?;
    let numbers = rows.iter().map(|row| row.i64("number")).collect::<std::result::Result<Vec<_>, _>>()?;
    if let Some(last) = numbers.iter().max() {
        note_trimmed(tx, account, *last).await?;
    }
    Ok(u64::try_from(numbers.len()).unwrap_or(u64::MAX))
}
