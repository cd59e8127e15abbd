//! Compaction: unpacked locations move into chunks. A low-priority thread packs them; the writer only inserts the
//! result.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::OptionFuture;
use perigee_core::locations::location::{Compacted, CompactionBudget};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::memory::LocationMemory;
use super::save::{lock_states, save_due};
use super::unpacked::{Due, FULL_CHUNK, Owner, weight};
use crate::codec::Point;
use crate::sql::locations::state_row::{self, StateRow};
use crate::sql::locations::{Changes, PACK_AFTER_MS, apply, plan_merge};
use crate::sql::scope::existing_devices;
use crate::{Database, Tx};

/// Locations that one transaction packs, by weight; bounds the time other writers wait.
const LOCATIONS_PER_JOB: usize = 4_096;
/// Devices that one transaction packs; each of them writes some pages.
const DEVICES_PER_JOB: usize = 32;

/// The packed locations of a device.
pub(super) struct PackedDevice {
    owner: Owner,
    changes: Changes,
    count: usize,
    /// The highest log number among them.
    up_to: i64,
    newest: Timestamp,
}

/// Packs the devices that are due, within the budget, and saves device states that are due.
pub(crate) async fn compact(
    database: &Database,
    memory: &Arc<LocationMemory>,
    budget: CompactionBudget,
) -> Result<Compacted> {
    let now = memory.now();
    let received_by = now.plus_millis(-PACK_AFTER_MS);
    let mut due = memory.unpacked().due(Due { everything: budget.everything, received_by, now });
    let mut done = Compacted { more: due.len() > budget.devices, ..Compacted::default() };
    due.truncate(budget.devices);
    if !due.is_empty() {
        pack_due(database, memory, &due, budget, &mut done).await?;
    }
    save_due(database, memory).await?;
    done.pressed = memory.is_pressed();
    Ok(done)
}

/// Packs these devices in parts; the next part is packed while the last one is being committed.
async fn pack_due(
    database: &Database,
    memory: &Arc<LocationMemory>,
    mut due: &[Owner],
    budget: CompactionBudget,
    done: &mut Compacted,
) -> Result<()> {
    // Held from reading the chunks until the changed ones are committed.
    let _chunks = memory.chunks.lock().await;
    let mut writing = None;
    while !due.is_empty() {
        let (some, taken) = take_part(memory, due, budget.everything);
        due = &due[taken..];
        done.more |= some.iter().any(|(owner, points)| {
            points.len() >= memory.unpacked().count_weighing(*owner, LOCATIONS_PER_JOB)
        });
        let packing = database.read_low_priority(move |tx| pack(tx, some).boxed());
        let (packed, written) = tokio::join!(packing, OptionFuture::from(writing.take()));
        written.transpose()?;
        let packed = packed?;
        done.devices += u64::try_from(packed.len()).unwrap_or(0);
        done.locations += packed.iter().map(|one| u64::try_from(one.count).unwrap_or(0)).sum::<u64>();
        let memory = Arc::clone(memory);
        writing = Some(database.write(move |tx| async move { write(tx, &memory, packed).await }.boxed()));
    }
    OptionFuture::from(writing).await.transpose()?;
    Ok(())
}

/// Copies the locations of the first devices, as many as one job packs. Also returns the number of these devices.
fn take_part(
    memory: &LocationMemory,
    owners: &[Owner],
    everything: bool,
) -> (Vec<(Owner, Vec<Point>)>, usize) {
    let unpacked = memory.unpacked();
    let everything = everything || unpacked.must_pack_all();
    let (mut some, mut total) = (Vec::new(), 0);
    for owner in owners.iter().take(DEVICES_PER_JOB) {
        // The rest waits until it fills a chunk: packed now, it would have to be packed again.
        let whole = unpacked.count_of(*owner) / FULL_CHUNK * FULL_CHUNK;
        let most = unpacked.count_weighing(*owner, LOCATIONS_PER_JOB);
        let most = if everything || whole == 0 { most } else { whole.min(most) };
        let points = unpacked.first_arrived(*owner, most);
        let weight = points.iter().map(weight).sum::<usize>();
        if total > 0 && total + weight > LOCATIONS_PER_JOB {
            break;
        }
        total += weight;
        some.push((*owner, points));
    }
    let taken = some.len();
    (some, taken)
}

pub(super) async fn pack(tx: &Tx, some: Vec<(Owner, Vec<Point>)>) -> Result<Vec<PackedDevice>> {
    let mut packed = Vec::new();
    for (owner, points) in some {
        let Some(up_to) = points.iter().map(|point| point.number).max() else { continue };
        let Some(newest) = points.last().map(|point| point.time) else { continue };
        let count = points.len();
        let changes = plan_merge(tx, owner.0, owner.1, points).await?;
        packed.push(PackedDevice { owner, changes, count, up_to, newest });
    }
    Ok(packed)
}

pub(super) async fn write(tx: &Tx, memory: &Arc<LocationMemory>, packed: Vec<PackedDevice>) -> Result<()> {
    let owners: Vec<Owner> = packed.iter().map(|one| one.owner).collect();
    let existing = existing_devices(tx, &owners).await?;
    let mut states = lock_states(tx, existing.iter().copied()).await?;
    let (mut marked, mut moved) = (Vec::with_capacity(packed.len()), Vec::with_capacity(packed.len()));
    for PackedDevice { owner, changes, up_to, newest, .. } in packed {
        if existing.contains(&owner) {
            apply(tx, owner.0, owner.1, changes).await?;
            let state = states.remove(&owner).unwrap_or_else(|| StateRow::empty(owner.0, owner.1));
            marked.push(StateRow { packed_to: up_to, ..state });
        }
        moved.push((owner, up_to, newest));
    }
    state_row::save_all(tx, &marked).await?;
    let memory = Arc::clone(memory);
    tx.after_commit(move || {
        {
            let mut states = memory.device_states_mut();
            for (owner, _, newest) in &moved {
                states.note_packed(*owner, *newest);
            }
        }
        let mut unpacked = memory.unpacked_mut();
        for (owner, up_to, _) in moved {
            unpacked.drop_packed(owner, up_to);
        }
        drop(unpacked);
        memory.signal_room();
    });
    Ok(())
}
