//! The address and account whose share of a budget a request uses.

use std::net::{IpAddr, Ipv6Addr};

use perigee_core::id::AccountId;

/// A client address, an account, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payer {
    address: Option<IpAddr>,
    account: Option<AccountId>,
}

/// The key by which shares are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Address(IpAddr),
    Account(AccountId),
    /// Work of the service for itself.
    Own,
}

impl Payer {
    /// A client that has not proved who it is, or an account's client.
    pub fn client(address: IpAddr, account: Option<AccountId>) -> Self {
        Self { address: Some(network(address)), account }
    }

    /// Work for an account that no client waits for, such as writing a message.
    pub const fn account(account: AccountId) -> Self {
        Self { address: None, account: Some(account) }
    }

    /// Work of the service for itself.
    pub const fn own() -> Self {
        Self { address: None, account: None }
    }

    pub(super) fn address_key(self) -> Option<Key> {
        self.address.map(Key::Address)
    }

    pub(super) fn account_key(self) -> Option<Key> {
        self.account.map(Key::Account)
    }

    /// The key by which queues take turns: the account, or the address of a client without one.
    pub(super) fn lane(self) -> Key {
        self.account_key().or_else(|| self.address_key()).unwrap_or(Key::Own)
    }
}

/// The network that an address counts as: a customer usually has a whole /64 of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 64 << 64)),
        four @ IpAddr::V4(_) => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_pays_as_one() {
        let payer = |address: &str| Payer::client(address.parse().unwrap(), None);
        assert_eq!(payer("2001:db8:1:2::1"), payer("2001:db8:1:2:3:4:5:6"));
        assert_ne!(payer("2001:db8:1:2::1"), payer("2001:db8:1:3::1"));
        assert_eq!(payer("::ffff:192.0.2.1"), payer("192.0.2.1"));
    }
}
