//! The part of the location data that a server keeps in memory beside its SQLite file.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use perigee_core::id::{AccountId, DeviceId, IdSource};
use perigee_core::store::CommitSignals;
use perigee_core::time::{Clock, Timestamp};
use tokio::sync::{Mutex, Notify};

use super::device_cache::DeviceCache;
use super::device_state::DeviceStates;
use super::log::SqliteLog;
use super::unpacked::UnpackedLocations;
use crate::damage::Damage;
use crate::tx::TxContext;

/// The location memory of an open store, shared by its writer and its readers.
#[derive(Debug)]
pub(crate) struct LocationMemory {
    clock: Arc<dyn Clock>,
    unpacked: RwLock<UnpackedLocations>,
    device_states: RwLock<DeviceStates>,
    device_cache: RwLock<DeviceCache>,
    /// Held while locations are added or erased: within one commit the order of the two would be undefined.
    pub(crate) arriving: Mutex<()>,
    /// Held while chunks are changed.
    pub(crate) chunks: Mutex<()>,
    /// Signalled when compaction falls behind.
    pub(super) pressed: Notify,
    /// Signalled when locations were moved into chunks.
    room: Notify,
    /// Wakes the tasks that wait for a commit.
    commit_signals: Arc<CommitSignals>,
    /// Makes the ids of rows.
    ids: Arc<IdSource>,
    /// Rows that could not be read.
    damage: Arc<Damage>,
    /// The saved log number from which opening the store replays the log.
    pub(super) replay_from: AtomicI64,
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl LocationMemory {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            unpacked: RwLock::default(),
            device_states: RwLock::default(),
            device_cache: RwLock::default(),
            arriving: Mutex::default(),
            chunks: Mutex::default(),
            pressed: Notify::default(),
            room: Notify::default(),
            commit_signals: Arc::default(),
            ids: Arc::default(),
            damage: Arc::default(),
            replay_from: AtomicI64::default(),
        }
    }

    /// State that the transactions of this store share.
    pub(crate) fn context(self: &Arc<Self>) -> TxContext {
        let log = Arc::new(SqliteLog::new(Arc::clone(self)));
        TxContext {
            memory: Some(Arc::<SqliteLog>::clone(&log)),
            log,
            damage: Arc::clone(&self.damage),
            commit_signals: Arc::clone(&self.commit_signals),
            log_watches: Arc::default(),
            ids: Arc::clone(&self.ids),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn unpacked(&self) -> RwLockReadGuard<'_, UnpackedLocations> {
        read(&self.unpacked)
    }

    pub(super) fn unpacked_mut(&self) -> RwLockWriteGuard<'_, UnpackedLocations> {
        write(&self.unpacked)
    }

    pub(crate) fn device_states(&self) -> RwLockReadGuard<'_, DeviceStates> {
        read(&self.device_states)
    }

    pub(crate) fn device_states_mut(&self) -> RwLockWriteGuard<'_, DeviceStates> {
        write(&self.device_states)
    }

    pub(crate) fn device_cache(&self) -> RwLockReadGuard<'_, DeviceCache> {
        read(&self.device_cache)
    }

    pub(crate) fn device_cache_mut(&self) -> RwLockWriteGuard<'_, DeviceCache> {
        write(&self.device_cache)
    }

    /// Removes a deleted device.
    pub(crate) fn remove_device(&self, account: AccountId, device: DeviceId) {
        self.unpacked_mut().remove((account, device));
        self.device_states_mut().remove((account, device));
    }

    /// Whether so many locations are unpacked that submitters must wait for compaction.
    pub(crate) fn is_full(&self) -> bool {
        self.unpacked().is_full()
    }

    /// Waits up to 10 ms for a running compaction, if memory is full. False if memory is full and no compaction runs.
    pub(crate) async fn wait_for_room(&self) -> bool {
        /// Short, because chunks are also changed by jobs that do not signal `room`.
        const ROOM_WAIT: Duration = Duration::from_millis(10);
        let room = self.room.notified();
        if !self.is_full() {
            return true;
        }
        let is_packing = self.chunks.try_lock().is_err();
        if is_packing {
            let _signalled_or_elapsed = tokio::time::timeout(ROOM_WAIT, room).await;
        }
        is_packing
    }

    pub(super) fn signal_room(&self) {
        self.room.notify_waiters();
    }

    /// Waits until compaction falls behind.
    pub(crate) async fn wait_for_compaction_pressure(&self) {
        self.pressed.notified().await;
    }

    /// Whether compaction has fallen behind.
    pub(super) fn is_pressed(&self) -> bool {
        self.unpacked().is_pressed()
    }

    /// The lowest log number that opening the store would have to replay.
    pub(super) fn needed_from(&self) -> i64 {
        let unpacked = self.unpacked();
        let (oldest, head) = (unpacked.oldest(), unpacked.head());
        drop(unpacked);
        let unsaved = self.device_states().unsaved_from().filter(|from| *from != i64::MAX);
        oldest.into_iter().chain(unsaved).min().unwrap_or(head + 1)
    }

    pub(super) fn set_replay_from(&self, number: i64) {
        self.replay_from.store(number, Ordering::Relaxed);
    }
}
