//! How many streams, or waiting polls, a user and an account have open here.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use perigee_core::id::{AccountId, UserId};

/// The streams or polls that are open.
#[derive(Debug)]
pub(super) struct Seats {
    /// The name of their metric.
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

/// A place for one stream or poll, free again when it is dropped.
#[derive(Debug)]
pub struct Seat {
    seats: Arc<Seats>,
    account: AccountId,
    user: UserId,
}

/// Why there is no place for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The user has this many.
    User(usize),
    /// The account has this many.
    Account(usize),
}

impl Seats {
    pub(super) fn new(gauge: &'static str, per_user: usize, per_account: usize) -> Self {
        Self { gauge, per_user, per_account, taken: Mutex::default() }
    }

    pub(super) fn take(self: &Arc<Self>, account: AccountId, user: UserId) -> Result<Seat, Full> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.users.get(&user).is_some_and(|count| *count >= self.per_user) {
            return Err(Full::User(self.per_user));
        }
        if taken.accounts.get(&account).is_some_and(|count| *count >= self.per_account) {
            return Err(Full::Account(self.per_account));
        }
        *taken.users.entry(user).or_default() += 1;
        *taken.accounts.entry(account).or_default() += 1;
        metrics::gauge!(self.gauge).increment(1.0);
        Ok(Seat { seats: Arc::clone(self), account, user })
    }

    /// How many are taken by an account.
    pub(super) fn taken_by(&self, account: AccountId) -> usize {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.accounts.get(&account).copied().unwrap_or_default()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken.lock().unwrap_or_else(PoisonError::into_inner);
        leave(&mut taken.users, &self.user);
        leave(&mut taken.accounts, &self.account);
        metrics::gauge!(self.seats.gauge).decrement(1.0);
    }
}

fn leave<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
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
    fn places_are_bounded_by_user_and_account_and_come_free() {
        let (here, there) = (AccountId::from_i64(1), AccountId::from_i64(2));
        let user = UserId::from_i64;
        let seats = Arc::new(Seats::new("test_seats", 2, 3));
        let first = seats.take(here, user(1)).unwrap();
        let second = seats.take(here, user(1)).unwrap();
        assert_eq!(seats.take(here, user(1)).unwrap_err(), Full::User(2));
        let third = seats.take(here, user(2)).unwrap();
        assert_eq!(seats.take(here, user(3)).unwrap_err(), Full::Account(3));
        let elsewhere = seats.take(there, user(4)).unwrap();
        drop(first);
        let again = seats.take(here, user(1)).unwrap();
        drop((second, third, elsewhere, again));
        let taken = seats.taken.lock().unwrap();
        assert!(taken.users.is_empty() && taken.accounts.is_empty());
    }
}
