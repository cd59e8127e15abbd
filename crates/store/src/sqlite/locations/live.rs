//! What a server keeps in memory of the locations of its store.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::time::{Clock, Timestamp};
use tokio::sync::{Mutex, Notify};

use super::facts::Facts;
use super::present::Present;
use super::tail::Tail;
use crate::bell::Bells;
use crate::damage::Damage;

/// The memory of an open store.
#[derive(Debug)]
pub(crate) struct Live {
    clock: Arc<dyn Clock>,
    tail: RwLock<Tail>,
    present: RwLock<Present>,
    facts: RwLock<Facts>,
    /// Held by whoever adds locations or erases some: a commit they share could not tell which came first.
    pub(crate) arriving: Mutex<()>,
    /// Held by whoever changes chunks.
    pub(crate) chunks: Mutex<()>,
    /// Told when much waits to be packed.
    pub(super) pressed: Notify,
    /// Told when some were packed.
    room: Notify,
    /// Told when there is something to send.
    pub(crate) bells: Arc<Bells>,
    /// Rows that could not be read.
    pub(crate) damage: Arc<Damage>,
    /// From which number on the log is read when the store is opened, as saved.
    pub(super) replay_from: AtomicI64,
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            tail: RwLock::default(),
            present: RwLock::default(),
            facts: RwLock::default(),
            arriving: Mutex::default(),
            chunks: Mutex::default(),
            pressed: Notify::default(),
            room: Notify::default(),
            bells: Arc::default(),
            damage: Arc::default(),
            replay_from: AtomicI64::default(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn tail(&self) -> RwLockReadGuard<'_, Tail> {
        read(&self.tail)
    }

    pub(super) fn tail_mut(&self) -> RwLockWriteGuard<'_, Tail> {
        write(&self.tail)
    }

    pub(crate) fn present(&self) -> RwLockReadGuard<'_, Present> {
        read(&self.present)
    }

    pub(crate) fn present_mut(&self) -> RwLockWriteGuard<'_, Present> {
        write(&self.present)
    }

    pub(crate) fn facts(&self) -> RwLockReadGuard<'_, Facts> {
        read(&self.facts)
    }

    pub(crate) fn facts_mut(&self) -> RwLockWriteGuard<'_, Facts> {
        write(&self.facts)
    }

    /// Forgets a device that was deleted.
    pub(crate) fn forget(&self, account: AccountId, device: DeviceId) {
        self.tail_mut().forget((account, device));
        self.present_mut().forget((account, device));
    }

    /// Whether so many locations wait to be packed that no more are taken before some are.
    pub(crate) fn is_full(&self) -> bool {
        self.tail().is_full()
    }

    /// Waits a moment for whoever is packing; says whether anybody was.
    pub(crate) async fn await_room(&self) -> bool {
        /// Whoever changes chunks without packing tells nobody.
        const MOMENT: Duration = Duration::from_millis(10);
        let room = self.room.notified();
        if !self.is_full() {
            return true;
        }
        let is_packing = self.chunks.try_lock().is_err();
        if is_packing {
            let _told_or_not = tokio::time::timeout(MOMENT, room).await;
        }
        is_packing
    }

    pub(super) fn tell_of_room(&self) {
        self.room.notify_waiters();
    }

    /// Waits until more locations than usual want to be packed.
    pub(crate) async fn until_pressed(&self) {
        self.pressed.notified().await;
    }

    /// Whether more locations than usual want to be packed.
    pub(super) fn is_pressed(&self) -> bool {
        self.tail().is_pressed()
    }

    /// The lowest number that opening the store would have to read.
    pub(super) fn needed_from(&self) -> i64 {
        let tail = self.tail();
        let (oldest, head) = (tail.oldest(), tail.head());
        drop(tail);
        let unsaved = self.present().unsaved_from().filter(|from| *from != i64::MAX);
        oldest.into_iter().chain(unsaved).min().unwrap_or(head + 1)
    }

    pub(super) fn set_replay_from(&self, number: i64) {
        self.replay_from.store(number, Ordering::Relaxed);
    }
}
