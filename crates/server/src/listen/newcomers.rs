//! Connections that have not identified a known device: they use at most half of all slots, and if these are in use,
//! the network with the most connections loses its oldest one. So a few addresses cannot keep trackers out.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// The connections that have not identified a known device yet.
#[derive(Debug)]
pub(super) struct Newcomers {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    count: usize,
    next: u64,
    networks: HashMap<IpAddr, VecDeque<(u64, CancellationToken)>>,
}

/// The slot of one connection, returned when it is dropped.
#[derive(Debug)]
pub(super) struct Newcomer {
    all: Arc<Newcomers>,
    network: IpAddr,
    number: u64,
    /// Cancelled when the slot is given to another connection.
    pub(super) displaced: CancellationToken,
}

impl Newcomers {
    /// Slots for this many connections, at least one.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), state: Mutex::default() })
    }

    /// A slot for a connection of this address. `None` if all are in use and no network holds at least two more than
    /// the network of this address.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Newcomer> {
        let network = network(peer);
        let mut state = self.state.lock();
        if state.count >= self.most {
            let own = state.networks.get(&network).map_or(0, VecDeque::len);
            let (largest, held) = state
                .networks
                .iter()
                .map(|(network, held)| (*network, held.len()))
                .max_by_key(|(_, held)| *held)?;
            if held <= own + 1 {
                return None;
            }
            state.remove_oldest(largest);
        }
        let (number, displaced) = (state.next, CancellationToken::new());
        state.next += 1;
        state.count += 1;
        state.networks.entry(network).or_default().push_back((number, displaced.clone()));
        Some(Newcomer { all: Arc::clone(self), network, number, displaced })
    }
}

impl State {
    fn remove_oldest(&mut self, network: IpAddr) {
        let Some(held) = self.networks.get_mut(&network) else { return };
        if let Some((_, displaced)) = held.pop_front() {
            displaced.cancel();
            self.count -= 1;
        }
        if held.is_empty() {
            self.networks.remove(&network);
        }
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        let mut state = self.all.state.lock();
        let Some(held) = state.networks.get_mut(&self.network) else { return };
        let before = held.len();
        held.retain(|(number, _)| *number != self.number);
        let (removed, is_empty) = (before - held.len(), held.is_empty());
        state.count -= removed;
        if is_empty {
            state.networks.remove(&self.network);
        }
    }
}

/// The network that an address counts as: a /24 of IPv4, a /48 of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(four) => IpAddr::V4(Ipv4Addr::from_bits(four.to_bits() >> 8 << 8)),
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 80 << 80)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_few_networks_cannot_hold_all_slots() {
        let all = Newcomers::new(10);
        let mut held: Vec<Newcomer> = Vec::new();
        for number in 0..10 {
            held.push(all.admit(address(&format!("192.0.2.{number}"))).unwrap());
        }
        assert!(all.admit(address("192.0.2.200")).is_none(), "not at the expense of its own network");
        let tracker = all.admit(address("203.0.113.1")).unwrap();
        assert!(held[0].displaced.is_cancelled() && !held[1].displaced.is_cancelled());
        let others: Vec<Newcomer> =
            (2..6).map(|number| all.admit(address(&format!("203.0.{number}.1"))).unwrap()).collect();
        assert!(
            !tracker.displaced.is_cancelled() && others.iter().all(|other| !other.displaced.is_cancelled())
        );
        assert_eq!(held.iter().filter(|one| one.displaced.is_cancelled()).count(), 5);
        drop((held, tracker, others));
        assert_eq!(all.state.lock().count, 0);
        assert!(all.state.lock().networks.is_empty());
    }

    #[test]
    fn networks_are_those_of_one_customer() {
        assert_eq!(network(address("192.0.2.7")), network(address("::ffff:192.0.2.9")));
        assert_ne!(network(address("192.0.2.7")), network(address("192.0.3.7")));
        assert_eq!(network(address("2001:db8:1:2::1")), network(address("2001:db8:1:ffff::1")));
    }
}
