//! Chunks: packed locations of a device in the order of time, none overlapping another.
//!
//! Everything is ordered by time and number, the number telling locations of one time apart. A location belongs to
//! the first chunk that ends at or after it.

use std::collections::BTreeMap;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Location, StoredLocation};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::super::column;
use crate::codec::{pack_chunk, unpack_chunk};
use crate::{Row, Tx, params};

/// Locations of a full chunk.
pub(super) const FULL: usize = 1_024;
/// Locations from which a chunk that late ones were merged into is split.
const SPLIT: usize = FULL + FULL / 2;

/// A place in the order of locations.
pub(super) type Key = (Timestamp, i64);

/// The place of a location.
pub(super) const fn key(stored: &StoredLocation) -> Key {
    (stored.location.time, stored.number)
}

/// A chunk's place, and what is in it.
pub(super) struct Chunk {
    pub(super) last: Key,
    pub(super) points: Vec<StoredLocation>,
}

const COLUMNS: &str = "last_time, last_number, points";

fn from_row(row: &Row) -> Result<Chunk> {
    let points = unpack_chunk(&row.bytes("points")?);
    Ok(Chunk {
        last: (row.timestamp("last_time")?, row.i64("last_number")?),
        points: points.map_err(|cause| column::unreadable("points", cause))?,
    })
}

/// The first chunk that ends after this place.
pub(super) async fn next(tx: &Tx, account: AccountId, device: DeviceId, after: Key) -> Result<Option<Chunk>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 \
         AND (last_time, last_number) > (?3, ?4) ORDER BY last_time, last_number LIMIT 1"
    );
    tx.query_opt(&sql, params![account, device, after.0, after.1]).await?.as_ref().map(from_row).transpose()
}

/// The last chunk that begins before this place.
pub(super) async fn previous(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Key,
) -> Result<Option<Chunk>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM location_chunk WHERE account_id = ?1 AND device_id = ?2 \
         AND (first_time, first_number) < (?3, ?4) ORDER BY first_time DESC, first_number DESC LIMIT 1"
    );
    tx.query_opt(&sql, params![account, device, before.0, before.1]).await?.as_ref().map(from_row).transpose()
}

/// Puts these locations, sorted, in the place of a chunk.
pub(super) async fn replace(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    old: Option<Key>,
    points: &[StoredLocation],
) -> Result<()> {
    if let Some(last) = old {
        let sql = "DELETE FROM location_chunk \
                   WHERE account_id = ?1 AND device_id = ?2 AND last_time = ?3 AND last_number = ?4";
        tx.execute(sql, params![account, device, last.0, last.1]).await?;
    }
    let (Some(first), Some(last)) = (points.first().map(key), points.last().map(key)) else { return Ok(()) };
    let sql = "INSERT INTO location_chunk \
                   (account_id, device_id, first_time, first_number, last_time, last_number, count, points) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let count = i64::try_from(points.len()).unwrap_or(i64::MAX);
    let packed = pack_chunk(points);
    tx.execute(sql, params![account, device, first.0, first.1, last.0, last.1, count, packed]).await?;
    Ok(())
}

/// Merges locations, sorted, into the chunks they belong to; what is newer than all fills the last one up.
pub(super) async fn merge(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    mut points: Vec<StoredLocation>,
) -> Result<()> {
    while let Some(first) = points.first().map(key) {
        // Numbers are whole, so that ending after the one before is ending at this one or later.
        let before = (first.0, first.1 - 1);
        if let Some(chunk) = next(tx, account, device, before).await? {
            let later = points.split_off(points.partition_point(|point| key(point) <= chunk.last));
            let merged = sorted(chunk.points, std::mem::replace(&mut points, later));
            let pieces = if merged.len() < SPLIT { 1 } else { merged.len().div_ceil(FULL) };
            let mut old = Some(chunk.last);
            for piece in merged.chunks(merged.len().div_ceil(pieces)) {
                replace(tx, account, device, old.take(), piece).await?;
            }
        } else {
            let last = previous(tx, account, device, (Timestamp::MAX, i64::MAX)).await?;
            let (mut old, merged) = match last {
                Some(chunk) if chunk.points.len() < FULL => {
                    (Some(chunk.last), sorted(chunk.points, std::mem::take(&mut points)))
                }
                _ => (None, std::mem::take(&mut points)),
            };
            for piece in merged.chunks(FULL) {
                replace(tx, account, device, old.take(), piece).await?;
            }
        }
    }
    Ok(())
}

fn sorted(mut points: Vec<StoredLocation>, more: Vec<StoredLocation>) -> Vec<StoredLocation> {
    points.extend(more);
    points.sort_unstable_by_key(key);
    points
}

/// Leaves of these items those whose location is in no chunk of its device.
pub(super) async fn leave_out_known<T>(
    tx: &Tx,
    items: &mut Vec<T>,
    of: impl Fn(&T) -> (AccountId, DeviceId, &Location),
) -> Result<()> {
    let mut by_device: BTreeMap<(AccountId, DeviceId), Vec<usize>> = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        let (account, device, _) = of(item);
        by_device.entry((account, device)).or_default().push(place);
    }
    let mut known = vec![false; items.len()];
    for ((account, device), mut places) in by_device {
        let sql =
            "SELECT MAX(last_time) AS last FROM location_chunk WHERE account_id = ?1 AND device_id = ?2";
        let packed_to = tx.query_one(sql, params![account, device]).await?.opt_timestamp("last")?;
        places.retain(|place| packed_to.is_some_and(|last| of(&items[*place]).2.time <= last));
        places.sort_unstable_by_key(|place| of(&items[*place]).2.time);
        let mut rest = places.as_slice();
        let mut after = (Timestamp::MIN, i64::MIN);
        while let Some(earliest) = rest.first().map(|place| of(&items[*place]).2.time) {
            let from = after.max((earliest, i64::MIN));
            let Some(chunk) = next(tx, account, device, from).await? else { break };
            for place in rest {
                let location = of(&items[*place]).2;
                known[*place] |= holds(&chunk, location);
            }
            after = chunk.last;
            // Those of the very time it ends at may also be in the next.
            let passed = rest.partition_point(|place| of(&items[*place]).2.time < chunk.last.0);
            rest = &rest[passed..];
        }
    }
    let mut known = known.into_iter();
    items.retain(|_| !known.next().unwrap_or(false));
    Ok(())
}

fn holds(chunk: &Chunk, location: &Location) -> bool {
    let begin = chunk.points.partition_point(|point| point.location.time < location.time);
    let same_time = chunk.points.iter().skip(begin).take_while(|point| point.location.time == location.time);
    same_time.into_iter().any(|point| point.location == *location)
}
