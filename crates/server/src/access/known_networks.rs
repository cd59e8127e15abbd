//! The networks from which users signed in, so that they need not wait behind strangers who try passwords.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use perigee_core::id::AccountId;

use crate::budget::wide_network;
use crate::cache::BoundedMap;

/// Pairs of a user and a network that a node remembers, the latest ones. It forgets them when it stops.
const KEPT: usize = 20_000;

/// User names with the networks that they signed in from.
#[derive(Debug)]
pub struct KnownNetworks(Mutex<BoundedMap<(String, IpAddr), AccountId>>);

impl Default for KnownNetworks {
    fn default() -> Self {
        Self(Mutex::new(BoundedMap::new(KEPT)))
    }
}

impl KnownNetworks {
    /// The account of a user who signed in from the network of this address before. It decides who waits, never who is let in.
    pub fn account_of(&self, name: &str, address: IpAddr) -> Option<AccountId> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key(name, address)).copied()
    }

    /// Remembers a user who signed in.
    pub fn remember(&self, name: &str, address: IpAddr, account: AccountId) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
