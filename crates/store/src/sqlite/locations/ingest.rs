//! Storing a batch of submissions on SQLite: one log row per account, however many locations it holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use perigee_core::id::AccountId;
use perigee_core::store::{Additions, Result};
use perigee_core::time::Timestamp;

use super::admission::admissions;
use super::device_state::{Contact, DeviceEntry, load};
use super::log_row::checksum;
use super::memory::LocationMemory;
use super::unpacked::Owner;
use crate::codec::{BatchWriter, Point};
use crate::sql::locations::{
    Arrival, Arrivals, Gap, Ingested, Submission, arrivals, first_results, known_in_chunks, last_positions,
};
use crate::{Tx, params};

/// Stores new locations; returns for each whether it was accepted or a duplicate, or why its submission is refused.
pub(crate) async fn ingest(
    tx: &Tx,
    memory: &Arc<LocationMemory>,
    submissions: &[Submission],
) -> Result<Ingested> {
    let admissions = admissions(tx, memory, submissions).await?;
    let mut results = first_results(submissions, &admissions);
    let mut arrivals = arrivals(submissions, &admissions);
    load(tx, memory, arrivals.keys().copied()).await?;
    let mut gaps = Vec::new();
    for (owner, arrival) in &mut arrivals {
        let gap = find_new(tx, memory, *owner, submissions, arrival).await?;
        gaps.extend(gap.map(|gap| (*owner, gap)));
    }
    assign_numbers(tx, &mut arrivals).await?;
    for (owner, arrival) in &mut arrivals {
        let before = memory.device_states().get(*owner).map(|entry| entry.jump_detector);
        arrival.detect_jumps(before.unwrap_or_default(), submissions);
    }
    append(tx, &arrivals).await?;
    for arrival in arrivals.values() {
        arrival.accept(&mut results);
    }
    let last = last_positions(submissions, &arrivals);
    let (memory, at) = (Arc::clone(memory), tx.now());
    tx.after_commit(move || apply_to_memory(&memory, arrivals, gaps, at));
    Ok(Ingested { results, last })
}

/// Finds the locations of a device that are neither in memory nor in a chunk nor earlier in the batch. Returns the
/// gap between packed locations that contains the newest one, if chunks had to be searched.
async fn find_new(
    tx: &Tx,
    memory: &LocationMemory,
    owner: Owner,
    submissions: &[Submission],
    arrival: &mut Arrival,
) -> Result<Option<Gap>> {
    let packed = memory.device_states().get(owner).map(DeviceEntry::packed).unwrap_or_default();
    {
        let unpacked = memory.unpacked();
        arrival.take_new(submissions, tx.now(), |point, duplicate_rule| {
            unpacked.holds(owner, point, duplicate_rule)
        });
    }
    if !arrival.points.iter().any(|point| packed.may_contain(point.time)) {
        return Ok(None);
    }
    let (known, gap) = known_in_chunks(tx, owner.0, owner.1, &arrival.pending(submissions)).await?;
    arrival.remove_stored(&known);
    Ok(gap)
}

/// Assigns log numbers from the counter that SQLite keeps for the AUTOINCREMENT ids of events.
async fn assign_numbers(tx: &Tx, arrivals: &mut Arrivals) -> Result<()> {
    let count = arrivals.values().map(|arrival| arrival.points.len()).sum::<usize>();
    if count == 0 {
        return Ok(());
    }
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let sql = "UPDATE sqlite_sequence SET seq = seq + ?1 WHERE name = 'event' RETURNING seq";
    let last = tx.query_one(sql, params![count]).await?.i64("seq")?;
    let points = arrivals.values_mut().flat_map(|arrival| &mut arrival.points);
    for (point, number) in points.zip(last - count + 1..) {
        point.number = number;
    }
    Ok(())
}

/// Writes the new locations, one log row per account.
async fn append(tx: &Tx, arrivals: &Arrivals) -> Result<()> {
    let mut rows: BTreeMap<AccountId, NewLogRow> = BTreeMap::new();
    for ((account, device), arrival) in arrivals.iter().filter(|(_, arrival)| !arrival.points.is_empty()) {
        let row = rows.entry(*account).or_default();
        let first = arrival.points.first().map_or(0, |point| point.number);
        row.first.get_or_insert(first);
        row.last = arrival.points.last().map_or(0, |point| point.number);
        row.batch.add(*device, &arrival.points);
    }
    let sql = "INSERT INTO location_log (last_number, first_number, account_id, received_at, checksum, points) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    for (account, row) in rows {
        let checksum = checksum(row.last, row.first.unwrap_or_default(), account, tx.now());
        let values = params![row.last, row.first, account, tx.now(), checksum, row.batch.finish()];
        tx.execute(sql, values).await?;
        tx.mark(Additions::to_account(account));
    }
    Ok(())
}

#[derive(Default)]
struct NewLogRow {
    first: Option<i64>,
    last: i64,
    batch: BatchWriter,
}

/// Applies a commit to memory.
fn apply_to_memory(memory: &LocationMemory, arrivals: Arrivals, gaps: Vec<(Owner, Gap)>, at: Timestamp) {
    let mut contacts = Vec::with_capacity(arrivals.len());
    {
        let mut unpacked = memory.unpacked_mut();
        for (owner, arrival) in arrivals {
            let last = arrival.last().map(Point::detached);
            let number = |point: Option<&Point>| point.map(|point| point.number);
            let numbers = number(arrival.points.first()).zip(number(arrival.points.last()));
            let moved = numbers.map(|_| (last, arrival.jump_detector));
            unpacked.add(owner, arrival.points);
            contacts.push((owner, Contact { at, numbers, moved }));
        }
        if unpacked.is_pressed() {
            memory.pressed.notify_one();
        }
    }
    let mut states = memory.device_states_mut();
    for (owner, contact) in contacts {
        states.record_contact(owner, contact);
    }
    for (owner, gap) in gaps {
        states.set_gap(owner, gap);
    }
}
