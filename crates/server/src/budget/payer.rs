//! The address and account whose share of a budget a request uses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

impl Key {
    /// Whether the client is not authenticated.
    pub(super) const fn is_stranger(self) -> bool {
        matches!(self, Self::Address(_))
    }
}

impl Payer {
    /// A client that signs in, identified by its network: attackers have many addresses of few networks.
    pub fn signing_in(address: IpAddr) -> Self {
        Self { address: Some(wide_network(address)), account: None }
    }

    /// An unauthenticated client, or a client of an account.
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

/// The network of an organisation or a provider's customers: a /24 of IPv4, a /56 of IPv6.
pub fn wide_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 72 << 72)),
        IpAddr::V4(four) => IpAddr::V4(Ipv4Addr::from_bits(four.to_bits() >> 8 << 8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_counts_as_one_payer() {
        let payer = |address: &str| Payer::client(address.parse().unwrap(), None);
        assert_eq!(payer("2001:db8:1:2::1"), payer("2001:db8:1:2:3:4:5:6"));
        assert_ne!(payer("2001:db8:1:2::1"), payer("2001:db8:1:3::1"));
        assert_eq!(payer("::ffff:192.0.2.1"), payer("192.0.2.1"));
    }

    #[test]
    fn networks_of_sign_ins_are_wide() {
        let payer = |address: &str| Payer::signing_in(address.parse().unwrap());
        assert_eq!(payer("192.0.2.1"), payer("::ffff:192.0.2.200"));
        assert_ne!(payer("192.0.2.1"), payer("192.0.3.1"));
        assert_eq!(payer("2001:db8:1:2::1"), payer("2001:db8:1:ff::1"));
        assert_ne!(payer("2001:db8:1:2::1"), payer("2001:db8:1:102::1"));
    }
}
