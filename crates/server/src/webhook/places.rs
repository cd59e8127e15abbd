//! Places for messages under way: so many for one account, so many for the node, shared so that nobody waits for long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use perigee_core::id::AccountId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The part of the node's places that is kept for accounts that have none, as a divisor.
const KEPT: usize = 4;

/// The places of a node.
#[derive(Debug)]
pub(super) struct Places {
    accounts: Mutex<HashMap<AccountId, Arc<Room>>>,
    per_account: usize,
    node: Arc<Semaphore>,
    kept: usize,
}

/// The places of one account.
#[derive(Debug)]
pub(super) struct Room {
    places: Arc<Semaphore>,
    /// The one it has while few are left.
    single: Arc<Semaphore>,
}

/// A place for one message, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _of_account: OwnedSemaphorePermit,
    _of_node: OwnedSemaphorePermit,
    _single: Option<OwnedSemaphorePermit>,
    _room: Arc<Room>,
}

impl Places {
    pub(super) fn new(per_account: usize, in_all: usize) -> Self {
        let node = Arc::new(Semaphore::new(in_all));
        Self { accounts: Mutex::default(), per_account, node, kept: in_all / KEPT }
    }

    /// The places of an account, to be held while something is sent for it.
    pub(super) fn of(&self, account: AccountId) -> Arc<Room> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody else holds what nobody is sending with.
        accounts.retain(|_, room| Arc::strong_count(room) > 1);
        let fresh = || Room {
            places: Arc::new(Semaphore::new(self.per_account)),
            single: Arc::new(Semaphore::new(1)),
        };
        Arc::clone(accounts.entry(account).or_insert_with(|| Arc::new(fresh())))
    }

    /// Places for up to so many messages; at least one, when there is nothing else to wait for. While few are left an
    /// account gets one after another, and those who wait are served in turn.
    pub(super) async fn take(&self, room: &Arc<Room>, free: usize, must_wait: bool) -> Vec<Place> {
        let mut places = Vec::new();
        if must_wait && free > 0 {
            places.extend(self.wait(room).await);
        }
        while places.len() < free
            && self.has_plenty()
            && let Ok(of_account) = Arc::clone(&room.places).try_acquire_owned()
            && let Ok(of_node) = Arc::clone(&self.node).try_acquire_owned()
        {
            let room = Arc::clone(room);
            places.push(Place { _of_account: of_account, _of_node: of_node, _single: None, _room: room });
        }
        places
    }

    /// A place, when its turn comes. Nobody closes the semaphores, so that there always is one.
    async fn wait(&self, room: &Arc<Room>) -> Option<Place> {
        let of_account = Arc::clone(&room.places).acquire_owned().await.ok()?;
        let single =
            if self.has_plenty() { None } else { Some(Arc::clone(&room.single).acquire_owned().await.ok()?) };
        let of_node = Arc::clone(&self.node).acquire_owned().await.ok()?;
        Some(Place { _of_account: of_account, _of_node: of_node, _single: single, _room: Arc::clone(room) })
    }

    fn has_plenty(&self) -> bool {
        self.node.available_permits() > self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn nobody_takes_everything() {
        let places = Places::new(10, 16);
        let rooms: Vec<_> = (0..3).map(|id| places.of(AccountId::from_i64(id))).collect();
        let first = places.take(&rooms[0], 100, true).await;
        assert_eq!(first.len(), 10, "an account has its own bound");
        let second = places.take(&rooms[1], 100, true).await;
        assert_eq!(second.len(), 2, "the last four are for whoever has none");
        let mut single = Vec::new();
        for id in 3..7 {
            let room = places.of(AccountId::from_i64(id));
            let some = places.take(&room, 100, true).now_or_never().expect("a place is free");
            assert_eq!(some.len(), 1);
            assert!(places.take(&room, 100, true).now_or_never().is_none(), "one after another");
            single.extend(some);
        }
        let mut waiting = Box::pin(places.take(&rooms[2], 100, true));
        assert!((&mut waiting).now_or_never().is_none(), "sixteen are under way");
        drop(single.pop());
        assert_eq!(waiting.now_or_never().map(|some| some.len()), Some(1), "who waits is served first");
        assert!(places.take(&rooms[0], 100, false).await.is_empty());
        drop((first, second, single));
    }
}
