//! Whose turn it is: accounts are judged a slice each, one after another, and none waits for another to have caught up.

use std::collections::{BTreeSet, VecDeque};

use perigee_core::id::AccountId;

/// Accounts that have something to judge, in the order of their turns.
#[derive(Debug, Default)]
pub(super) struct Turns {
    waiting: VecDeque<AccountId>,
    /// Those that are being judged, and whether there is more to do for them.
    running: std::collections::BTreeMap<AccountId, bool>,
}

impl Turns {
    /// Notes that accounts have something to judge. One that is waiting keeps its turn; one that is being judged has
    /// another turn after it.
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

    /// The account whose turn it is. It has no other turn before [`Self::end`].
    pub(super) fn next(&mut self) -> Option<AccountId> {
        let account = self.waiting.pop_front()?;
        self.running.insert(account, false);
        Some(account)
    }

    /// Notes that a slice has ended. With more to do the account goes behind all others that wait.
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
        let mut turns = Turns::default();
        turns.offer([LARGE]);
        for _ in 0..100 {
            assert_eq!(turns.next(), Some(LARGE));
            turns.end(LARGE, true);
        }
        assert_eq!(turns.next(), Some(LARGE));
        turns.offer([SMALL]);
        turns.end(LARGE, true);
        assert_eq!(turns.next(), Some(SMALL), "next, however much the large one has left");
        assert_eq!(turns.next(), Some(LARGE), "which does not wait for the small one either");
    }

    #[test]
    fn an_account_is_judged_once_at_a_time_and_nothing_is_forgotten() {
        let mut turns = Turns::default();
        turns.offer([SMALL, LARGE, SMALL]);
        assert_eq!((turns.next(), turns.next(), turns.next()), (Some(SMALL), Some(LARGE), None));
        turns.offer([SMALL, SMALL]);
        assert_eq!(turns.next(), None, "it is being judged");
        turns.end(LARGE, false);
        assert_eq!(turns.next(), None);
        turns.end(SMALL, false);
        assert_eq!((turns.next(), turns.next()), (Some(SMALL), None), "what came meanwhile is judged");
    }
}
