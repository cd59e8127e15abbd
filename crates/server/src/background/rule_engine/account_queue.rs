//! The queue of accounts: each gets one slice at a time, so that none waits until another has caught up.

use std::collections::{BTreeSet, VecDeque};

use perigee_core::id::AccountId;

/// Accounts that have something to evaluate, in the order of their slices.
#[derive(Debug, Default)]
pub(super) struct AccountQueue {
    waiting: VecDeque<AccountId>,
    /// Accounts that are being evaluated, and whether they were offered again meanwhile.
    running: std::collections::BTreeMap<AccountId, bool>,
}

impl AccountQueue {
    /// Adds accounts. One that is queued keeps its position; one that is being evaluated is queued again when its slice
    /// ends.
    pub(super) fn offer(&mut self, accounts: impl IntoIterator<Item = AccountId>) {
        let mut waiting: BTreeSet<AccountId> = self.waiting.iter().copied().collect();
        for account in accounts {
            if let Some(again) = self.running.get_mut(&account) {
                *again = true;
            } else if waiting.insert(account) {
                self.waiting.push_back(account);
            }
        }
    }

    /// Takes the first account. It is not given again before [`Self::end`].
    pub(super) fn next(&mut self) -> Option<AccountId> {
        let account = self.waiting.pop_front()?;
        self.running.insert(account, false);
        Some(account)
    }

    /// Called when a slice has ended. With more to do the account goes to the end of the queue.
    pub(super) fn end(&mut self, account: AccountId, more: bool) {
        let again = self.running.remove(&account).unwrap_or(false);
        if more || again {
            self.waiting.push_back(account);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: AccountId = AccountId::from_i64(1);
    const SMALL: AccountId = AccountId::from_i64(2);

    #[test]
    fn a_small_account_waits_for_one_slice_of_a_large_one_at_the_most() {
        let mut queue = AccountQueue::default();
        queue.offer([LARGE]);
        for _ in 0..100 {
            assert_eq!(queue.next(), Some(LARGE));
            queue.end(LARGE, true);
        }
        assert_eq!(queue.next(), Some(LARGE));
        queue.offer([SMALL]);
        queue.end(LARGE, true);
        assert_eq!(queue.next(), Some(SMALL), "next, however much the large one has left");
        assert_eq!(queue.next(), Some(LARGE), "which does not wait for the small one either");
    }

    #[test]
    fn an_account_has_one_slice_at_a_time_and_is_queued_again() {
        let mut queue = AccountQueue::default();
        queue.offer([SMALL, LARGE, SMALL]);
        assert_eq!((queue.next(), queue.next(), queue.next()), (Some(SMALL), Some(LARGE), None));
        queue.offer([SMALL, SMALL]);
        assert_eq!(queue.next(), None, "it is being evaluated");
        queue.end(LARGE, false);
        assert_eq!(queue.next(), None);
        queue.end(SMALL, false);
        assert_eq!((queue.next(), queue.next()), (Some(SMALL), None), "it was offered again meanwhile");
    }
}
