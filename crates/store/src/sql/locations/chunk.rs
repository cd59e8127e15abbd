//! Chunks: packed locations of a device in time order, without overlap.
//!
//! Locations are ordered by time and, within one time, by log number. A location belongs to the first chunk that ends
//! at or after it.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::StoredLocation;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::super::quarantine::quarantine_chunk;
use super::super::query::for_ids;
use super::chunk_row::{self, ChunkRow};
use super::row::unreadable_readings;
use super::tiers;
use crate::codec::{CodecError, Point, pack_points, unpack_chunk};
use crate::{Tx, params};

/// A position in the order of locations: time and log number.
pub(crate) type LocationKey = (Timestamp, i64);

/// The key of a location.
pub(crate) const fn key_of(stored: &StoredLocation) -> LocationKey {
    (stored.location.time, stored.number)
}

/// A chunk with its columns unpacked.
pub(super) struct Chunk {
    pub(super) last: LocationKey,
    /// Its locations, or why they cannot be read.
    pub(super) points: std::result::Result<Vec<StoredLocation>, CodecError>,
}

/// The first chunk that ends after this key. A damaged one is recorded.
pub(super) async fn next(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    after: LocationKey,
) -> Result<Option<Chunk>> {
    let found = chunk_row::next(tx, account, device, after).await?;
    found.map(|packed| unpack(tx, account, device, &packed)).transpose()
}

/// The last chunk that begins before this key. A damaged one is recorded.
pub(super) async fn previous(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: LocationKey,
) -> Result<Option<Chunk>> {
    let found = chunk_row::previous(tx, account, device, before).await?;
    found.map(|packed| unpack(tx, account, device, &packed)).transpose()
}

fn unpack(tx: &Tx, account: AccountId, device: DeviceId, packed: &ChunkRow) -> Result<Chunk> {
    let points = unpack_chunk(packed.bytes()?);
    if let Err(cause) = &points {
        packed.note_damaged(tx, account, device, *cause)?;
    }
    Ok(Chunk { last: packed.last, points })
}

/// The changes to a device's chunks.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    removed: Vec<LocationKey>,
    /// Unreadable chunks, and the reason.
    quarantined: Vec<(LocationKey, CodecError)>,
    added: Vec<NewChunk>,
}

/// A chunk to insert.
#[derive(Debug)]
struct NewChunk {
    first: LocationKey,
    last: LocationKey,
    count: usize,
    packed: Vec<u8>,
}

impl Changes {
    /// Packs sorted locations into chunks of about equal size. Up to one and a half full chunks become one.
    fn add(&mut self, points: &[Point], full: usize) -> Result<()> {
        let pieces = if points.len() < full + full / 2 { 1 } else { points.len().div_ceil(full) };
        for piece in points.chunks(points.len().div_ceil(pieces).max(1)) {
            if let (Some(first), Some(last)) = (piece.first().map(Point::key), piece.last().map(Point::key)) {
                let packed = pack_points(piece).map_err(unreadable_readings)?;
                self.added.push(NewChunk { first, last, count: piece.len(), packed });
            }
        }
        Ok(())
    }
}

/// Plans the merge of these sorted locations: each goes into the chunk it belongs to, and those newer than all chunks
/// into new ones.
///
/// A new chunk absorbs small ones before it when they are many or together large ([`tiers`]), so that a device that
/// reports rarely has few chunks, and yet each of its locations is repacked only a few times.
pub(crate) async fn plan_merge(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    mut points: Vec<Point>,
) -> Result<Changes> {
    let (mut changes, full) = (Changes::default(), tx.log().full_chunk());
    while let Some(first) = points.first().map(Point::key) {
        // Numbers are integers: a chunk that ends after the previous number ends at this one or later.
        let before = (first.0, first.1 - 1);
        if let Some(chunk) = next(tx, account, device, before).await? {
            let later = points.split_off(points.partition_point(|point| point.key() <= chunk.last));
            let earlier = std::mem::replace(&mut points, later);
            let merged = match chunk.points {
                Ok(packed) => {
                    changes.removed.push(chunk.last);
                    sorted(&packed, earlier)
                }
                // An unreadable chunk would block the merge forever.
                Err(cause) => {
                    changes.quarantined.push((chunk.last, cause));
                    earlier
                }
            };
            changes.add(&merged, full)?;
        } else {
            // Chunks up to the last one merged into have changed and are not considered.
            let quarantined = changes.quarantined.iter().map(|(last, _)| *last);
            let after = changes.removed.iter().copied().chain(quarantined).max();
            let after = after.unwrap_or((Timestamp::MIN, i64::MIN));
            let sizes = chunk_row::newest_sizes(tx, account, device, after, tiers::EXAMINED_MAX).await?;
            let mut end = (Timestamp::MAX, i64::MAX);
            for _ in 0..tiers::absorbed(&sizes, points.len(), full) {
                let Some(chunk) = previous(tx, account, device, end).await? else { break };
                let Ok(packed) = chunk.points else { break };
                end = packed.first().map_or(end, key_of);
                changes.removed.push(chunk.last);
                points = sorted(&packed, points);
            }
            changes.add(&points, full)?;
            break;
        }
    }
    Ok(changes)
}

/// Applies the changes to a device's chunks.
pub(crate) async fn apply(tx: &Tx, account: AccountId, device: DeviceId, changes: Changes) -> Result<()> {
    let remove = "DELETE FROM location_chunk \
                  WHERE account_id = ?1 AND device_id = ?2 AND last_time = ?3 AND last_number = ?4";
    for (last, cause) in changes.quarantined {
        quarantine_chunk(tx, (account, device), last, &cause.to_string()).await?;
    }
    for last in changes.removed {
        tx.execute(remove, params![account, device, last.0, last.1]).await?;
    }
    let add = "INSERT INTO location_chunk \
                   (account_id, device_id, first_time, first_number, last_time, last_number, count, points) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    for NewChunk { first, last, count, packed } in changes.added {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        tx.execute(add, params![account, device, first.0, first.1, last.0, last.1, count, packed]).await?;
    }
    Ok(())
}

/// Replaces the locations of a chunk.
pub(super) async fn replace(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    last: LocationKey,
    points: &[StoredLocation],
) -> Result<()> {
    let mut changes = Changes { removed: vec![last], ..Changes::default() };
    changes.add(&points.iter().map(Point::pack).collect::<Vec<_>>(), tx.log().full_chunk())?;
    apply(tx, account, device, changes).await
}

fn sorted(packed: &[StoredLocation], more: Vec<Point>) -> Vec<Point> {
    let mut points: Vec<Point> = packed.iter().map(Point::pack).chain(more).collect();
    points.sort_unstable_by_key(Point::key);
    // There should be no duplicates; one that exists by a defect is removed here.
    points.dedup_by_key(|point| point.key());
    points
}

/// The latest time in the chunks of each of these devices; devices without chunks are omitted.
pub(crate) async fn newest_packed(
    tx: &Tx,
    account: AccountId,
    devices: &[i64],
) -> Result<Vec<(DeviceId, Timestamp)>> {
    let sql = "SELECT device_id, MAX(last_time) AS last FROM location_chunk \
               WHERE account_id = ?1 AND device_id IN ({ids}) GROUP BY device_id";
    let rows = for_ids(tx, sql, params![account], devices).await?;
    rows.iter().map(|row| Ok((DeviceId::from_i64(row.i64("device_id")?), row.timestamp("last")?))).collect()
}
