//! The networks from which users signed in, so that these users need not wait behind clients that guess passwords.

use std::net::IpAddr;

use parking_lot::Mutex;
use perigee_core::error::StoreError;
use perigee_core::id::AccountId;
use perigee_core::store::Store;

use crate::budget::wide_network;
use crate::cache::BoundedMap;

/// Maximum number of pairs of a user and a network in memory; the oldest are removed. After a restart only the pairs of
/// open sessions are known.
const KEPT: u16 = 20_000;

/// User names with the networks that they signed in from.
#[derive(Debug)]
pub struct KnownNetworks(Mutex<BoundedMap<(String, IpAddr), AccountId>>);

impl Default for KnownNetworks {
    fn default() -> Self {
        Self(Mutex::new(BoundedMap::new(usize::from(KEPT))))
    }
}

impl KnownNetworks {
    /// The networks from which the users of open sessions signed in.
    pub async fn of_sessions(store: &dyn Store) -> Result<Self, StoreError> {
        let known = Self::default();
        // Oldest first, because a full map removes the entries that were inserted first.
        for from in store.list_sign_in_addresses(KEPT.into()).await?.into_iter().rev() {
            known.remember(&from.email, from.address, from.account);
        }
        Ok(known)
    }

    /// The account of a user who signed in from the network of this address before. It affects only the order of
    /// waiting, never the result.
    pub fn account_of(&self, name: &str, address: IpAddr) -> Option<AccountId> {
        let known = self.0.lock();
        known.get(&key(name, address)).copied()
    }

    /// Remembers a user who signed in.
    pub fn remember(&self, name: &str, address: IpAddr, account: AccountId) {
        let mut known = self.0.lock();
        known.insert(key(name, address), account, |_| true);
    }
}

fn key(name: &str, address: IpAddr) -> (String, IpAddr) {
    (name.to_lowercase(), wide_network(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_known_by_name_and_network() {
        let known = KnownNetworks::default();
        let ask = |name: &str, address: &str| known.account_of(name, address.parse().unwrap());
        let account = AccountId::from_i64(7);
        known.remember("Ana@example.com", "192.0.2.1".parse().unwrap(), account);
        assert_eq!(ask("ana@example.com", "192.0.2.99"), Some(account));
        assert_eq!(ask("ana@example.com", "192.0.3.1"), None);
        assert_eq!(ask("eva@example.com", "192.0.2.1"), None);
    }
}
