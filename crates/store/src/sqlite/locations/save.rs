//! Saving device states to their tables, and the number from which the log is replayed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;
use perigee_core::store::Result;

use super::last::put_last_points;
use super::memory::LocationMemory;
use super::replay::replay_checksum;
use super::unpacked::Owner;
use crate::sql::locations::state_row::{self, StateRow};
use crate::sql::scope::existing_devices;
use crate::{Database, Tx, params};

/// Devices that one transaction saves; bounds the time other writers wait.
const DEVICES_PER_JOB: usize = 200;
/// How far the replay number must have moved to be worth a write of its own.
const REPLAY_STEP_MIN: i64 = 100_000;

/// Saves the states that are due.
pub(super) async fn save_due(database: &Database, memory: &Arc<LocationMemory>) -> Result<()> {
    save(database, memory, false).await
}

/// Saves all states, as before closing.
pub(crate) async fn save_all(database: &Database, memory: &Arc<LocationMemory>) -> Result<()> {
    save(database, memory, true).await
}

async fn save(database: &Database, memory: &Arc<LocationMemory>, everything: bool) -> Result<()> {
    let (now, head) = (memory.now(), memory.unpacked().head());
    let owners = memory.device_states().to_save(everything, now, head);
    for some in owners.chunks(DEVICES_PER_JOB) {
        // No locations may be erased meanwhile: in the same commit, this would save the state from before the erasure.
        let _chunks = memory.chunks.lock().await;
        let (some, memory) = (some.to_vec(), Arc::clone(memory));
        let job = database.write(move |tx| async move { save_some(tx, &memory, &some).await }.boxed());
        job.await?;
    }
    let moved = memory.needed_from() - memory.replay_from.load(Ordering::Relaxed);
    if moved >= REPLAY_STEP_MIN || (everything && moved > 0) {
        let memory = Arc::clone(memory);
        database.write(move |tx| async move { save_replay_from(tx, &memory).await }.boxed()).await?;
    }
    Ok(())
}

/// The state rows of these devices, where they exist. Damaged rows are rebuilt.
pub(super) async fn lock_states(
    tx: &Tx,
    owners: impl Iterator<Item = Owner>,
) -> Result<HashMap<Owner, StateRow>> {
    let mut accounts: BTreeMap<AccountId, Vec<i64>> = BTreeMap::new();
    for (account, device) in owners {
        accounts.entry(account).or_default().push(device.as_i64());
    }
    let mut states = HashMap::new();
    for (account, devices) in accounts {
        let found = state_row::lock_all(tx, account, &devices).await?;
        states.extend(found.into_iter().map(|(device, state)| ((account, device), state)));
    }
    Ok(states)
}

/// Saves the states of these devices. The caller holds [`LocationMemory::chunks`].
pub(super) async fn save_some(tx: &Tx, memory: &Arc<LocationMemory>, owners: &[Owner]) -> Result<()> {
    let existing = existing_devices(tx, owners).await?;
    let (mut rows, mut last, mut saved, mut deleted) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut states = lock_states(tx, existing.iter().copied()).await?;
    for owner in owners {
        if !existing.contains(owner) {
            deleted.push(*owner);
            continue;
        }
        let Some((entry, changes)) = memory.device_states().snapshot(*owner) else { continue };
        if let Some(last_seen) = entry.last_seen {
            let mut state = states.remove(owner).unwrap_or_else(|| StateRow::empty(owner.0, owner.1));
            state.last_seen = state.last_seen.max(Some(last_seen));
            state.observed_to = entry.observed_to;
            state.interval = entry.interval.to_bytes();
            state.unconfirmed_jump = entry.jump_detector.unconfirmed.to_bytes();
            rows.push(state);
        }
        last.extend(entry.last.map(|point| (*owner, point)));
        saved.push((*owner, entry.observed_to, changes));
    }
    state_row::save_all(tx, &rows).await?;
    put_last_points(tx, &last).await?;
    let memory = Arc::clone(memory);
    tx.after_commit(move || {
        for (account, device) in deleted {
            memory.remove_device(account, device);
        }
        let mut states = memory.device_states_mut();
        for (owner, observed_to, changes) in saved {
            states.mark_saved(owner, observed_to, changes);
        }
    });
    Ok(())
}

/// Saves the number from which the log is replayed. Runs on the writer's thread, so that no location arrives
/// meanwhile.
async fn save_replay_from(tx: &Tx, memory: &Arc<LocationMemory>) -> Result<()> {
    let number = memory.needed_from();
    let sql = "INSERT INTO location_replay (id, number, checksum) VALUES (1, ?1, ?2) \
               ON CONFLICT (id) DO UPDATE SET number = excluded.number, checksum = excluded.checksum";
    tx.execute(sql, params![number, replay_checksum(number)]).await?;
    let memory = Arc::clone(memory);
    tx.after_commit(move || memory.set_replay_from(number));
    Ok(())
}
