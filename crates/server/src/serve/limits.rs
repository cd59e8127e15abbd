//! How many connections may be open, in total and for one address.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;

use super::config::ServeConfig;

/// Counts open connections against the limits.
#[derive(Debug)]
pub struct ConnectionLimits {
    config: Arc<ServeConfig>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The right to one connection, given back when dropped.
#[derive(Debug)]
pub struct Permit {
    limits: Arc<ConnectionLimits>,
    counted_as: Option<IpAddr>,
}

/// Which limit a connection would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The limit of all connections.
    Total,
    /// The limit of one address.
    Address,
}

impl Refusal {
    /// Its name in metrics and in the log.
    pub fn label(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Address => "address",
        }
    }
}

impl ConnectionLimits {
    /// No open connections, and the limits of this configuration.
    pub fn new(config: Arc<ServeConfig>) -> Arc<Self> {
        Arc::new(Self { config, open: Mutex::default() })
    }

    /// Takes the right to one more connection from `peer`.
    pub fn admit(self: &Arc<Self>, peer: IpAddr) -> Result<Permit, Refusal> {
        // A proxy's connections are those of all its clients.
        let counted_as = (!self.config.trusted_proxies.contains(peer)).then(|| counted_as(peer));
        let mut open = self.open.lock();
        if open.total >= self.config.max_connections {
            return Err(Refusal::Total);
        }
        if let Some(address) = counted_as {
            let held = open.by_address.get(&address).copied().unwrap_or(0);
            if held >= self.config.max_connections_per_address {
                return Err(Refusal::Address);
            }
            open.by_address.insert(address, held + 1);
        }
        open.total += 1;
        Ok(Permit { limits: Arc::clone(self), counted_as })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.limits.open.lock();
        open.total -= 1;
        let Some(address) = self.counted_as else { return };
        if let Entry::Occupied(mut held) = open.by_address.entry(address) {
            *held.get_mut() -= 1;
            if *held.get() == 0 {
                held.remove();
            }
        }
    }
}

/// The address a peer is counted under. IPv6 addresses are counted by their /64, because a host may use any address of
/// its /64.
fn counted_as(peer: IpAddr) -> IpAddr {
    const NETWORK: u128 = !0 << 64;
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::TrustedProxies;

    fn limits(total: usize, per_address: usize) -> Arc<ConnectionLimits> {
        ConnectionLimits::new(Arc::new(ServeConfig {
            max_connections: total,
            max_connections_per_address: per_address,
            trusted_proxies: TrustedProxies::new(vec!["10.0.0.1".parse().unwrap()]),
            ..ServeConfig::default()
        }))
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn permits_come_back_when_dropped() {
        let limits = limits(2, 2);
        let first = limits.admit(address("192.0.2.1")).unwrap();
        let _second = limits.admit(address("192.0.2.2")).unwrap();
        assert_eq!(limits.admit(address("192.0.2.3")).unwrap_err(), Refusal::Total);
        drop(first);
        assert!(limits.admit(address("192.0.2.3")).is_ok());
        assert_eq!(limits.open.lock().by_address.len(), 1, "addresses without connections are forgotten");
    }

    #[test]
    fn an_address_is_limited_whatever_its_spelling() {
        let limits = limits(100, 1);
        let _v4 = limits.admit(address("192.0.2.1")).unwrap();
        assert_eq!(limits.admit(address("::ffff:192.0.2.1")).unwrap_err(), Refusal::Address);
        let _v6 = limits.admit(address("2001:db8::1")).unwrap();
        assert_eq!(limits.admit(address("2001:db8::ffff")).unwrap_err(), Refusal::Address);
        assert!(limits.admit(address("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn a_trusted_proxy_has_only_the_total() {
        let limits = limits(3, 1);
        let permits: Vec<_> = (0..3).map(|_| limits.admit(address("10.0.0.1")).unwrap()).collect();
        assert_eq!(limits.admit(address("10.0.0.1")).unwrap_err(), Refusal::Total);
        drop(permits);
    }
}
