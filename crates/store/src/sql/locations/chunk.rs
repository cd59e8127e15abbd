//! Chunks: packed locations of a device in the order of time, none overlapping another.
//!
//! Everything is ordered by time and number, the number telling locations of one time apart. A location belongs to
//! the first chunk that ends at or after it.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::StoredLocation;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::super::quarantine::set_aside_chunk;
use super::super::query::for_ids;
use super::packed::{self, Packed};
use super::pending_location::PendingLocation;
use super::row::unreadable_readings;
use super::tiers;
use crate::codec::{CodecError, Point, pack_points, unpack_chunk};
use crate::{Tx, params};

/// Locations of a full chunk.
pub(crate) const FULL: usize = 1_024;
/// Locations from which what would be one chunk becomes several.
const SPLIT: usize = FULL + FULL / 2;

/// A place in the order of locations.
pub(crate) type Key = (Timestamp, i64);

/// The place of a location.
pub(crate) const fn key(stored: &StoredLocation) -> Key {
    (stored.location.time, stored.number)
}

/// A chunk's place, and what is in it.
pub(super) struct Chunk {
    pub(super) last: Key,
    /// The locations, or why they cannot be read.
    pub(super) points: std::result::Result<Vec<StoredLocation>, CodecError>,
}

/// The first chunk that ends after this place. One that is damaged is noted.
pub(super) async fn next(tx: &Tx, account: AccountId, device: DeviceId, after: Key) -> Result<Option<Chunk>> {
    let found = packed::next(tx, account, device, after).await?;
    found.map(|packed| unpack(tx, account, device, &packed)).transpose()
}

/// The last chunk that begins before this place. One that is damaged is noted.
pub(super) async fn previous(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Key,
) -> Result<Option<Chunk>> {
    let found = packed::previous(tx, account, device, before).await?;
    found.map(|packed| unpack(tx, account, device, &packed)).transpose()
}

fn unpack(tx: &Tx, account: AccountId, device: DeviceId, packed: &Packed) -> Result<Chunk> {
    let points = unpack_chunk(packed.bytes()?);
    if let Err(cause) = &points {
        packed.note_damaged(tx, account, device, *cause)?;
    }
    Ok(Chunk { last: packed.last, points })
}

/// What is to become of a device's chunks.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    removed: Vec<Key>,
    /// Those that cannot be read, and why.
    set_aside: Vec<(Key, CodecError)>,
    added: Vec<Piece>,
}

/// A chunk to be written.
#[derive(Debug)]
struct Piece {
    first: Key,
    last: Key,
    count: usize,
    packed: Vec<u8>,
}

impl Changes {
    /// Packs locations, sorted, into chunks of about the same size.
    fn add(&mut self, points: &[Point]) -> Result<()> {
        let pieces = if points.len() < SPLIT { 1 } else { points.len().div_ceil(FULL) };
        for piece in points.chunks(points.len().div_ceil(pieces).max(1)) {
            if let (Some(first), Some(last)) = (piece.first().map(Point::key), piece.last().map(Point::key)) {
                let packed = pack_points(piece).map_err(unreadable_readings)?;
                self.added.push(Piece { first, last, count: piece.len(), packed });
            }
        }
        Ok(())
    }
}

/// Finds what merging these locations, sorted, changes: each goes into the chunk it belongs to, and what is newer
/// than all chunks into new ones.
///
/// A new chunk takes in small ones before it when they are many or together large, so that a device which reports
/// little is left with few chunks and yet each of its locations is packed again only a few times.
pub(crate) async fn plan_merge(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    mut points: Vec<Point>,
) -> Result<Changes> {
    let mut changes = Changes::default();
    while let Some(first) = points.first().map(Point::key) {
        // Numbers are whole, so that ending after the one before is ending at this one or later.
        let before = (first.0, first.1 - 1);
        if let Some(chunk) = next(tx, account, device, before).await? {
            let later = points.split_off(points.partition_point(|point| point.key() <= chunk.last));
            let earlier = std::mem::replace(&mut points, later);
            let merged = match chunk.points {
                Ok(packed) => {
                    changes.removed.push(chunk.last);
                    sorted(&packed, earlier)
                }
                // It would be in the way of what is new for ever.
                Err(cause) => {
                    changes.set_aside.push((chunk.last, cause));
                    earlier
                }
            };
            changes.add(&merged)?;
        } else {
            // Those up to the last one merged into are no longer what they were.
            let set_aside = changes.set_aside.iter().map(|(last, _)| *last);
            let after = changes.removed.iter().copied().chain(set_aside).max();
            let after = after.unwrap_or((Timestamp::MIN, i64::MIN));
            let sizes = packed::newest_sizes(tx, account, device, after, tiers::LOOK_AT).await?;
            let mut end = (Timestamp::MAX, i64::MAX);
            for _ in 0..tiers::taken_in(&sizes, points.len()) {
                let Some(chunk) = previous(tx, account, device, end).await? else { break };
                let Ok(packed) = chunk.points else { break };
                end = packed.first().map_or(end, key);
                changes.removed.push(chunk.last);
                points = sorted(&packed, points);
            }
            changes.add(&points)?;
            break;
        }
    }
    Ok(changes)
}

/// Changes a device's chunks.
pub(crate) async fn apply(tx: &Tx, account: AccountId, device: DeviceId, changes: Changes) -> Result<()> {
    let remove = "DELETE FROM location_chunk \
                  WHERE account_id = ?1 AND device_id = ?2 AND last_time = ?3 AND last_number = ?4";
    for (last, cause) in changes.set_aside {
        set_aside_chunk(tx, (account, device), last, &cause.to_string()).await?;
    }
    for last in changes.removed {
        tx.execute(remove, params![account, device, last.0, last.1]).await?;
    }
    let add = "INSERT INTO location_chunk \
                   (account_id, device_id, first_time, first_number, last_time, last_number, count, points) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    for Piece { first, last, count, packed } in changes.added {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        tx.execute(add, params![account, device, first.0, first.1, last.0, last.1, count, packed]).await?;
    }
    Ok(())
}

/// Leaves of a chunk these locations.
pub(super) async fn leave(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    last: Key,
    points: &[StoredLocation],
) -> Result<()> {
    let mut changes = Changes { removed: vec![last], ..Changes::default() };
    changes.add(&points.iter().map(Point::pack).collect::<Vec<_>>())?;
    apply(tx, account, device, changes).await
}

fn sorted(packed: &[StoredLocation], more: Vec<Point>) -> Vec<Point> {
    let mut points: Vec<Point> = packed.iter().map(Point::pack).chain(more).collect();
    points.sort_unstable_by_key(Point::key);
    // None is there twice; if one ever were, it must not stay so.
    points.dedup_by_key(|point| point.key());
    points
}

/// The newest time in the chunks of each of these devices that has some.
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

/// Says of each of these locations whether a chunk of the device has it.
pub(crate) async fn known_in_chunks(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    locations: &[&PendingLocation],
) -> Result<Vec<bool>> {
    let mut known = vec![false; locations.len()];
    let mut places: Vec<usize> = (0..locations.len()).collect();
    places.sort_unstable_by_key(|place| locations[*place].fix.time);
    let mut rest = places.as_slice();
    let mut after = (Timestamp::MIN, i64::MIN);
    while let Some(earliest) = rest.first().map(|place| locations[*place].fix.time) {
        let Some(chunk) = next(tx, account, device, after.max((earliest, i64::MIN))).await? else { break };
        // Those of the very time it ends at may also be in the next.
        let passed = rest.partition_point(|place| locations[*place].fix.time < chunk.last.0);
        let within = rest.partition_point(|place| locations[*place].fix.time <= chunk.last.0);
        for place in &rest[..within] {
            known[*place] |= holds(&chunk, locations[*place]);
        }
        after = chunk.last;
        rest = &rest[passed..];
    }
    Ok(known)
}

fn holds(chunk: &Chunk, sent: &PendingLocation) -> bool {
    // Nobody knows what a damaged chunk held: taking a location twice is better than refusing it.
    let Ok(points) = &chunk.points else { return false };
    let begin = points.partition_point(|point| point.location.time < sent.fix.time);
    let same_time = points.iter().skip(begin).take_while(|point| point.location.time == sent.fix.time);
    same_time.into_iter().any(|point| sent.is_same(point))
}
