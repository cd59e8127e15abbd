//! Saving device states to their tables, and the number from which the log is replayed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use perigee_core::store::Result;

use super::last::put_last_points;
use super::memory::LocationMemory;
use super::unpacked::Owner;
use crate::sql::query::insert_many;
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
        // Not while locations are erased: in the same commit, this would save what memory still holds of them.
        let _chunks = memory.chunks.lock().await;
        let (some, memory) = (some.to_vec(), Arc::clone(memory));
        let job = database.write(move |tx| {
            tx.keep_device_cache_valid();
            async move { save_some(tx, &memory, &some).await }.boxed()
        });
        job.await?;
    }
    let moved = memory.needed_from() - memory.replay_from.load(Ordering::Relaxed);
    if moved >= REPLAY_STEP_MIN || (everything && moved > 0) {
        let memory = Arc::clone(memory);
        database.write(move |tx| async move { save_replay_from(tx, &memory).await }.boxed()).await?;
    }
    Ok(())
}

const INSERT: &str = "INSERT INTO device_live (account_id, device_id, last_seen, observed_to, rhythm, doubt)";
const UPDATE: &str = "ON CONFLICT (account_id, device_id) DO UPDATE SET \
    last_seen = max(COALESCE(device_live.last_seen, excluded.last_seen), excluded.last_seen), observed_to = excluded.observed_to, \
    rhythm = excluded.rhythm, doubt = excluded.doubt";

/// Saves the states of these devices. The caller holds [`LocationMemory::chunks`].
pub(super) async fn save_some(tx: &Tx, memory: &Arc<LocationMemory>, owners: &[Owner]) -> Result<()> {
    let existing = existing_devices(tx, owners).await?;
    let (mut heard, mut last, mut saved, mut gone) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for owner in owners {
        if !existing.contains(owner) {
            gone.push(*owner);
            continue;
        }
        let Some((entry, changes)) = memory.device_states().snapshot(*owner) else { continue };
        if let Some(last_seen) = entry.last_seen {
            let (rhythm, doubt) = (entry.rhythm.to_bytes(), entry.jump_detector.unconfirmed.to_bytes());
            heard.push(params![owner.0, owner.1, last_seen, entry.observed_to, rhythm, doubt].to_vec());
        }
        last.extend(entry.last.map(|point| (*owner, point)));
        saved.push((*owner, entry.observed_to, changes));
    }
    insert_many(tx, INSERT, &heard, UPDATE).await?;
    put_last_points(tx, &last).await?;
    let memory = Arc::clone(memory);
    tx.after_commit(move || {
        for (account, device) in gone {
            memory.remove_device(account, device);
        }
        let mut states = memory.device_states_mut();
        for (owner, observed_to, changes) in saved {
            states.mark_saved(owner, observed_to, changes);
        }
    });
    Ok(())
}

/// Saves the number from which the log is replayed. Runs on the writer's thread, where nothing arrives meanwhile.
async fn save_replay_from(tx: &Tx, memory: &Arc<LocationMemory>) -> Result<()> {
    tx.keep_device_cache_valid();
    let number = memory.needed_from();
    let sql = "INSERT INTO location_replay (id, number) VALUES (1, ?1) \
               ON CONFLICT (id) DO UPDATE SET number = excluded.number";
    tx.execute(sql, params![number]).await?;
    let memory = Arc::clone(memory);
    tx.after_commit(move || memory.set_replay_from(number));
    Ok(())
}
