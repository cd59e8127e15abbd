//! The order in which accepted connections begin to be served.
//!
//! A new connection is handed to its thread through the same queue as the answer of the database to a request there. If
//! thousands are opened at once, every request would wait until all of them have begun. Therefore a few begin at a time,
//! and the next ones when the threads have taken those; the rest waits here, where networks take turns.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Connections that begin at a time.
pub(super) const AT_ONCE: usize = 16;

/// Accepted connections that have not begun.
#[derive(Debug)]
pub(super) struct Turns<T> {
    lanes: Mutex<Lanes<T>>,
    added: Notify,
}

#[derive(Debug)]
struct Lanes<T> {
    by_network: HashMap<IpAddr, VecDeque<T>>,
    /// Networks with waiting connections, each once; the front is next.
    order: VecDeque<IpAddr>,
}

impl<T> Turns<T> {
    /// No waiting connections.
    pub(super) fn new() -> Self {
        let lanes = Lanes { by_network: HashMap::new(), order: VecDeque::new() };
        Self { lanes: Mutex::new(lanes), added: Notify::new() }
    }

    /// Adds a connection from this address.
    pub(super) fn push(&self, peer: IpAddr, connection: T) {
        let network = network(peer);
        let mut lanes = self.lanes.lock();
        let lane = lanes.by_network.entry(network).or_default();
        lane.push_back(connection);
        if lane.len() == 1 {
            lanes.order.push_back(network);
        }
        drop(lanes);
        self.added.notify_one();
    }

    /// The next connections, at least one.
    pub(super) async fn next(&self) -> Vec<T> {
        loop {
            let next = self.take(AT_ONCE);
            if !next.is_empty() {
                return next;
            }
            self.added.notified().await;
        }
    }

    /// Up to this many connections, in their order.
    pub(super) fn take(&self, most: usize) -> Vec<T> {
        let mut lanes = self.lanes.lock();
        let mut taken = Vec::new();
        while taken.len() < most {
            let Some(network) = lanes.order.pop_front() else { break };
            let Some(lane) = lanes.by_network.get_mut(&network) else { continue };
            taken.extend(lane.pop_front());
            if lane.is_empty() {
                lanes.by_network.remove(&network);
            } else {
                lanes.order.push_back(network);
            }
        }
        taken
    }
}

/// The network of an organisation or of a provider's customers: a /24 of IPv4, a /56 of IPv6.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(four) => IpAddr::V4(Ipv4Addr::from_bits(four.to_bits() >> 8 << 8)),
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 72 << 72)),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn networks_take_turns() {
        let turns = Turns::new();
        for number in 0..1_000 {
            turns.push(address(&format!("198.51.100.{}", number % 200)), number);
        }
        turns.push(address("192.0.2.1"), 5_000);
        turns.push(address("::ffff:192.0.2.2"), 5_001);
        turns.push(address("2001:db8::1"), 6_000);
        let first = turns.take(AT_ONCE);
        assert_eq!(first.len(), AT_ONCE);
        assert_eq!(first[..7], [0, 5_000, 6_000, 1, 5_001, 2, 3]);
        assert_eq!(turns.take(2_000).len(), 1_003 - AT_ONCE);
        assert!(turns.take(1).is_empty());
    }

    #[tokio::test]
    async fn whoever_waits_gets_the_next_connection() {
        let turns = Turns::new();
        let mut next = Box::pin(turns.next());
        assert_eq!((&mut next).now_or_never(), None);
        turns.push(address("192.0.2.1"), 1);
        assert_eq!(next.await, [1]);
    }
}
