//! Limits how many streams, or waiting polls, a user and an account have open on this node.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::id::{AccountId, UserId};

/// The permits of streams or of polls.
#[derive(Debug)]
pub(super) struct Permits {
    /// Name of the metric that counts taken permits.
    gauge: &'static str,
    per_user: usize,
    per_account: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    users: HashMap<UserId, usize>,
    accounts: HashMap<AccountId, usize>,
}

/// Permits one stream or poll until it is dropped.
#[derive(Debug)]
pub struct Permit {
    permits: Arc<Permits>,
    account: AccountId,
    user: UserId,
}

/// Which limit is reached, and how many it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReached {
    /// The limit of the user.
    User(usize),
    /// The limit of the account.
    Account(usize),
}

impl Permits {
    pub(super) fn new(gauge: &'static str, per_user: usize, per_account: usize) -> Self {
        Self { gauge, per_user, per_account, taken: Mutex::default() }
    }

    pub(super) fn take(self: &Arc<Self>, account: AccountId, user: UserId) -> Result<Permit, LimitReached> {
        let mut taken = self.taken.lock();
        if taken.users.get(&user).is_some_and(|count| *count >= self.per_user) {
            return Err(LimitReached::User(self.per_user));
        }
        if taken.accounts.get(&account).is_some_and(|count| *count >= self.per_account) {
            return Err(LimitReached::Account(self.per_account));
        }
        *taken.users.entry(user).or_default() += 1;
        *taken.accounts.entry(account).or_default() += 1;
        metrics::gauge!(self.gauge).increment(1.0);
        Ok(Permit { permits: Arc::clone(self), account, user })
    }

    /// Permits taken by the users of an account.
    pub(super) fn taken_by(&self, account: AccountId) -> usize {
        let taken = self.taken.lock();
        taken.accounts.get(&account).copied().unwrap_or_default()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut taken = self.permits.taken.lock();
        decrement(&mut taken.users, &self.user);
        decrement(&mut taken.accounts, &self.account);
        metrics::gauge!(self.permits.gauge).decrement(1.0);
    }
}

fn decrement<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_limited_by_user_and_account_and_returned_on_drop() {
        let (here, there) = (AccountId::from_i64(1), AccountId::from_i64(2));
        let user = UserId::from_i64;
        let permits = Arc::new(Permits::new("test_permits", 2, 3));
        let first = permits.take(here, user(1)).unwrap();
        let second = permits.take(here, user(1)).unwrap();
        assert_eq!(permits.take(here, user(1)).unwrap_err(), LimitReached::User(2));
        let third = permits.take(here, user(2)).unwrap();
        assert_eq!(permits.take(here, user(3)).unwrap_err(), LimitReached::Account(3));
        let elsewhere = permits.take(there, user(4)).unwrap();
        drop(first);
        let again = permits.take(here, user(1)).unwrap();
        drop((second, third, elsewhere, again));
        let taken = permits.taken.lock();
        assert!(taken.users.is_empty() && taken.accounts.is_empty());
    }
}
