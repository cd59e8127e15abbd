//! Replaying the log into memory when a store is opened.

use std::collections::HashMap;
use std::collections::hash_map::Entry::Vacant;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Fix, JumpDetector, judge};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::device_state::{Contact, load};
use super::erase::Erased;
use super::log_row::{COLUMNS, LogRow};
use super::memory::LocationMemory;
use super::unpacked::Owner;
use crate::codec::Point;
use crate::damage::{Damaged, Table};
use crate::sql::checksum::crc;
use crate::sql::locations::state_row::{self, StateRow};
use crate::sql::quarantine::quarantine_log_row;
use crate::sql::scope::existing_devices;
use crate::{Engine, Tx, params};

/// Rows that one statement reads.
const STRIDE: i64 = 64;

/// Replays the log from the saved number on. Returns the damaged rows, which are skipped.
pub(crate) async fn replay(tx: &Tx, memory: &LocationMemory) -> Result<Vec<Damaged>> {
    let mut damaged = Vec::new();
    let from = replay_from(tx).await?;
    memory.set_replay_from(from);
    // Assigned numbers are never assigned again, also when their rows were deleted.
    let head = "SELECT seq FROM sqlite_sequence WHERE name = 'event'";
    let head = tx.query_one(head, &[]).await?.i64("seq")?;
    memory.unpacked_mut().raise_head(head);
    let packed = packed(tx, from, &mut damaged).await?;
    let mut erased: HashMap<AccountId, Erased> = HashMap::new();
    let sql =
        format!("SELECT {COLUMNS} FROM location_log WHERE last_number >= ?1 ORDER BY last_number LIMIT ?2");
    let mut next = from;
    loop {
        let rows = tx.query(&sql, params![next, STRIDE]).await?;
        for row in &rows {
            let row = LogRow::of(row)?;
            let (account, received_at) = (row.account, row.received_at);
            next = row.last + 1;
            if let Vacant(vacant) = erased.entry(account) {
                vacant.insert(Erased::after(tx, account, from - 1).await?);
            }
            let mut by_device: HashMap<Owner, Vec<Point>> = HashMap::new();
            // A row may begin before the saved number: that part of it is in chunks and saved.
            let visited = row.visit(|point| {
                if point.number >= from {
                    by_device.entry((account, point.device)).or_default().push(point.to_point());
                }
                Ok(true)
            });
            if let Err(row) = visited {
                damaged.push(*row);
                continue;
            }
            let owners: Vec<Owner> = by_device.keys().copied().collect();
            let existing = existing_devices(tx, &owners).await?;
            by_device.retain(|owner, _| existing.contains(owner));
            load(tx, memory, existing.into_iter()).await?;
            for (owner, mut points) in by_device {
                if let Some(erased) = erased.get(&account) {
                    points.retain(|point| !erased.contains(owner.1, point.number, point.time));
                }
                apply(memory, owner, points, received_at, packed.get(&owner).copied().unwrap_or(0));
            }
        }
        if rows.len() < usize::try_from(STRIDE).unwrap_or(usize::MAX) {
            return Ok(damaged);
        }
    }
}

/// The saved number; 0, which replays the whole log, if it does not match its checksum.
async fn replay_from(tx: &Tx) -> Result<i64> {
    let sql = "SELECT number, checksum FROM location_replay WHERE id = 1";
    let Some(row) = tx.query_opt(sql, &[]).await? else { return Ok(0) };
    match (row.i64("number"), row.opt_i64("checksum")) {
        (Ok(number), Ok(kept)) if kept.is_none_or(|kept| kept == replay_checksum(number)) => Ok(number),
        _ => {
            let reason = "the number from which the location log is replayed does not match its checksum";
            tx.damage().note(&Damaged::new(Table::Other, reason));
            Ok(0)
        }
    }
}

/// The checksum of the number from which the log is replayed.
pub(super) fn replay_checksum(number: i64) -> i64 {
    crc(params![number])
}

/// Moves unreadable rows of the log into quarantine, so that no later read meets them, and rebuilds damaged states.
pub(crate) async fn quarantine_rows(tx: &Tx, damaged: Vec<Damaged>) -> Result<()> {
    for row in damaged {
        if let (Table::DeviceState, Some(account), Some(device)) = (row.table, row.account, row.device) {
            state_row::rebuild(tx, &row, account, device).await?;
        } else if let Some((_, last)) = row.numbers {
            quarantine_log_row(tx, &row, last).await?;
        }
        tx.damage().note(&row);
    }
    Ok(())
}

/// The log number up to which the locations of devices are in chunks, where it is at or above `from`.
async fn packed(tx: &Tx, from: i64, damaged: &mut Vec<Damaged>) -> Result<HashMap<Owner, i64>> {
    let columns = state_row::columns(Engine::Sqlite);
    let sql = format!("SELECT account_id, device_id, {columns} FROM device_live WHERE packed_to >= ?1");
    let mut packed = HashMap::new();
    for row in tx.query(&sql, params![from]).await? {
        let owner = (AccountId::from_i64(row.i64("account_id")?), DeviceId::from_i64(row.i64("device_id")?));
        let packed_to = match StateRow::of(&row, owner.0, owner.1) {
            Ok(state) => state.packed_to,
            Err(row) => {
                damaged.push(*row);
                state_row::derive(tx, owner.0, owner.1).await?.packed_to
            }
        };
        packed.insert(owner, packed_to);
    }
    Ok(packed)
}

/// Applies the locations of a device in one commit to memory again.
fn apply(memory: &LocationMemory, owner: Owner, points: Vec<Point>, at: Timestamp, packed_to: i64) {
    let observed_to = memory.device_states().get(owner).map_or(0, |entry| entry.observed_to);
    let observed: Vec<&Point> = points.iter().filter(|point| point.number > observed_to).collect();
    if let (Some(first), Some(last)) = (observed.first(), observed.last()) {
        let numbers = Some((first.number, last.number));
        let moved = Some(replay_jump_detector(memory, owner, observed));
        memory.device_states_mut().record_contact(owner, Contact { at, numbers, moved });
    }
    let unpacked = points.into_iter().filter(|point| point.number > packed_to).collect();
    memory.unpacked_mut().add(owner, unpacked);
}

/// The last location after these, if it changed, and the state with which the next one is evaluated.
fn replay_jump_detector(
    memory: &LocationMemory,
    owner: Owner,
    mut observed: Vec<&Point>,
) -> (Option<Point>, JumpDetector) {
    let mut jump_detector =
        memory.device_states().get(owner).map(|entry| entry.jump_detector).unwrap_or_default();
    let mut last = None;
    observed.sort_by_key(|point| point.key());
    for point in observed {
        // The checksum of the row matched, so this should not fail. If it does, the location is skipped.
        let Ok(stored) = point.unpack() else { continue };
        let fix = Fix::from(&stored);
        let by_itself = judge(&fix, point.received_at).suspect;
        jump_detector.replay(fix, by_itself, point.trust.suspect);
        if jump_detector.last.is_some_and(|last| last.number == point.number) {
            last = Some(point.detached());
        }
    }
    (last, jump_detector)
}
