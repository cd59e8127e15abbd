//! The bytes each address and each account holds of a pool.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use parking_lot::{Mutex, MutexGuard};

use super::exhausted::Bound;
use super::payer::{Key, Payer};

const SHARDS: usize = 16;

/// Amounts by key. A key without an amount takes no memory.
#[derive(Debug)]
pub(super) struct Shares {
    per_address: usize,
    per_account: usize,
    hasher: RandomState,
    shards: Vec<Mutex<HashMap<Key, usize>>>,
}

impl Shares {
    pub(super) fn new(per_address: usize, per_account: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { per_address, per_account, hasher: RandomState::new(), shards }
    }

    /// Takes an amount from both shares of a payer, or from none.
    pub(super) fn take(&self, payer: Payer, amount: usize) -> Result<(), Bound> {
        if let Some(key) = payer.address_key() {
            self.add(key, amount, self.per_address).map_err(|()| Bound::Address)?;
        }
        if let Some(key) = payer.account_key()
            && self.add(key, amount, self.per_account).is_err()
        {
            payer.address_key().inspect(|key| self.subtract(*key, amount));
            return Err(Bound::Account);
        }
        Ok(())
    }

    /// Returns an amount to both shares.
    pub(super) fn give_back(&self, payer: Payer, amount: usize) {
        for key in payer.address_key().into_iter().chain(payer.account_key()) {
            self.subtract(key, amount);
        }
    }

    fn add(&self, key: Key, amount: usize, most: usize) -> Result<(), ()> {
        let mut held = self.shard(key);
        let share = held.get(&key).copied().unwrap_or(0).saturating_add(amount);
        if share > most {
            return Err(());
        }
        held.insert(key, share);
        Ok(())
    }

    fn subtract(&self, key: Key, amount: usize) {
        let mut held = self.shard(key);
        let left = held.get(&key).copied().unwrap_or(0).saturating_sub(amount);
        if left == 0 {
            held.remove(&key);
        } else {
            held.insert(key, left);
        }
    }

    fn shard(&self, key: Key) -> MutexGuard<'_, HashMap<Key, usize>> {
        let shard = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        self.shards[shard].lock()
    }
}
