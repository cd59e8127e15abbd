//! Limits how many messages are sent at the same time, by account and by node, so that no account starves the others.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::id::AccountId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The node keeps one in this many of its permits for accounts that hold none.
const RESERVED_DIVISOR: usize = 4;

/// The permits of a node.
#[derive(Debug)]
pub(super) struct Permits {
    accounts: Mutex<HashMap<AccountId, Arc<AccountPermits>>>,
    per_account: usize,
    node: Arc<Semaphore>,
    reserved: usize,
}

/// The permits of one account.
#[derive(Debug)]
pub(super) struct AccountPermits {
    permits: Arc<Semaphore>,
    /// Limits the account to one message while few permits of the node are left.
    single: Arc<Semaphore>,
}

/// Permits one message until it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    _of_account: OwnedSemaphorePermit,
    _of_node: OwnedSemaphorePermit,
    _single: Option<OwnedSemaphorePermit>,
    _account: Arc<AccountPermits>,
}

impl Permits {
    pub(super) fn new(per_account: usize, in_all: usize) -> Self {
        let node = Arc::new(Semaphore::new(in_all));
        Self { accounts: Mutex::default(), per_account, node, reserved: in_all / RESERVED_DIVISOR }
    }

    /// The permits of an account. They are removed when they are no longer held.
    pub(super) fn of(&self, account: AccountId) -> Arc<AccountPermits> {
        let mut accounts = self.accounts.lock();
        accounts.retain(|_, account| Arc::strong_count(account) > 1);
        let fresh = || AccountPermits {
            permits: Arc::new(Semaphore::new(self.per_account)),
            single: Arc::new(Semaphore::new(1)),
        };
        Arc::clone(accounts.entry(account).or_insert_with(|| Arc::new(fresh())))
    }

    /// Up to `free` permits; waits for the first when `must_wait`. While few permits of the node are left an account gets
    /// one at a time, and waiting accounts are served in order.
    pub(super) async fn take(
        &self,
        account: &Arc<AccountPermits>,
        free: usize,
        must_wait: bool,
    ) -> Vec<Permit> {
        let mut permits = Vec::new();
        if must_wait && free > 0 {
            permits.extend(self.wait(account).await);
        }
        while permits.len() < free
            && self.has_unreserved()
            && let Ok(of_account) = Arc::clone(&account.permits).try_acquire_owned()
            && let Ok(of_node) = Arc::clone(&self.node).try_acquire_owned()
        {
            let account = Arc::clone(account);
            permits.push(Permit {
                _of_account: of_account,
                _of_node: of_node,
                _single: None,
                _account: account,
            });
        }
        permits
    }

    /// Waits for a permit. Never none: the semaphores are not closed.
    async fn wait(&self, account: &Arc<AccountPermits>) -> Option<Permit> {
        let of_account = Arc::clone(&account.permits).acquire_owned().await.ok()?;
        let single = if self.has_unreserved() {
            None
        } else {
            Some(Arc::clone(&account.single).acquire_owned().await.ok()?)
        };
        let of_node = Arc::clone(&self.node).acquire_owned().await.ok()?;
        Some(Permit {
            _of_account: of_account,
            _of_node: of_node,
            _single: single,
            _account: Arc::clone(account),
        })
    }

    fn has_unreserved(&self) -> bool {
        self.node.available_permits() > self.reserved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn no_account_takes_every_permit() {
        let permits = Permits::new(10, 16);
        let accounts: Vec<_> = (0..3).map(|id| permits.of(AccountId::from_i64(id))).collect();
        let first = permits.take(&accounts[0], 100, true).await;
        assert_eq!(first.len(), 10, "an account has its own bound");
        let second = permits.take(&accounts[1], 100, true).await;
        assert_eq!(second.len(), 2, "the last four are for whoever has none");
        let mut single = Vec::new();
        for id in 3..7 {
            let account = permits.of(AccountId::from_i64(id));
            let some = permits.take(&account, 100, true).now_or_never().expect("a permit is free");
            assert_eq!(some.len(), 1);
            assert!(permits.take(&account, 100, true).now_or_never().is_none(), "one after another");
            single.extend(some);
        }
        let mut waiting = Box::pin(permits.take(&accounts[2], 100, true));
        assert!((&mut waiting).now_or_never().is_none(), "sixteen are under way");
        drop(single.pop());
        assert_eq!(waiting.now_or_never().map(|some| some.len()), Some(1), "who waits is served first");
        assert!(permits.take(&accounts[0], 100, false).await.is_empty());
        drop((first, second, single));
    }
}
