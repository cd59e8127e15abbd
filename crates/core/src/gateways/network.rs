//! The networks from which an identifier reports. Reports from two networks at the same time have two senders, one of
//! which may not be the tracker.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::clock::Monotonic;
use crate::time::Timestamp;

/// The network of an address: its /16 of IPv4, or its /32 of IPv6. The address of a tracker often changes within the
/// mobile network, mostly within such a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network(IpAddr);

impl Network {
    /// The network of an address.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(four) => IpAddr::V4(Ipv4Addr::from_bits(four.to_bits() >> 16 << 16)),
            IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 96 << 96)),
        })
    }

    /// The network of an address with a port, as text; `None` if the text is not such an address.
    pub fn of_peer(peer: &str) -> Option<Self> {
        peer.parse::<SocketAddr>().ok().map(|peer| Self::of(peer.ip()))
    }

    /// Reads the text that [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        text.split_once('/')?.0.parse().ok().map(Self::of)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, if self.0.is_ipv4() { 16 } else { 32 })
    }
}

/// Where and when a claim was proven by a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofReport {
    /// When it was proven.
    pub at: Timestamp,
    /// The network that the report came from.
    pub network: Network,
}

impl ProofReport {
    /// Milliseconds after a proof in which a message from another network is a finding. If somebody proved the claim
    /// with forged messages, the next report of the real tracker shows it.
    const COMPARED_MS: i64 = 24 * 60 * 60 * 1000;

    /// Whether a message from this network arrived soon after the proof, which came from another network.
    pub fn contradicts(&self, network: Network, at: Timestamp) -> bool {
        network != self.network && (0..Self::COMPARED_MS).contains(&(at.as_millis() - self.at.as_millis()))
    }
}

/// Why networks of an identifier are shown to operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkReason {
    /// It was proven in one network, and reported from the other soon after.
    AfterProof,
    /// Two senders in two networks reported in turns.
    Parallel,
}

impl NetworkReason {
    /// Every reason, in the order of the API's description.
    pub const ALL: [Self; 2] = [Self::AfterProof, Self::Parallel];

    /// Its name in the API and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AfterProof => "after-proof",
            Self::Parallel => "parallel",
        }
    }

    /// The reason of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// Two networks from which an identifier reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkFinding {
    /// Why it is shown.
    pub reason: NetworkReason,
    /// The network of the proof, or the one that was seen first.
    pub known: Network,
    /// The network that was seen after it.
    pub other: Network,
    /// When it was found.
    pub at: Timestamp,
}

/// A sender: an open connection, or the address of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sender {
    peer: SocketAddr,
    network: Network,
    last: Monotonic,
}

/// Records the senders of an identifier, to find two of them in different networks. A tracker that moves to another
/// network gets another address and never returns to the old connection. Two senders return again and again, each after
/// the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkWatch {
    latest: Sender,
    /// The last sender of another network.
    before: Option<Sender>,
    /// The network of the two that was seen first.
    known: Network,
    /// How often a sender returned after the other one had reported.
    returns: u8,
    /// Time of the first return.
    since: Monotonic,
}

impl NetworkWatch {
    /// Number of returns that are needed. One or two may be messages of the old connection that were read late.
    const RETURNS: u8 = 3;
    /// Time that has to pass between the first return and the last, in seconds.
    const SPAN_S: u64 = 60;
    /// After a longer silence, in seconds, a message of the same sender is not a return: its port may be reused.
    const WINDOW_S: u64 = 30 * 60;

    /// The state after one message.
    pub fn new(peer: SocketAddr, now: Monotonic) -> Self {
        let network = Network::of(peer.ip());
        let latest = Sender { peer, network, last: now };
        Self { latest, before: None, known: network, returns: 0, since: now }
    }

    /// Records a message. Returns the known and the other network if there are senders in both.
    pub fn note(&mut self, peer: SocketAddr, now: Monotonic) -> Option<(Network, Network)> {
        let network = Network::of(peer.ip());
        let next = Sender { peer, network, last: now };
        if network == self.latest.network {
            self.latest = next;
            return None;
        }
        let left = std::mem::replace(&mut self.latest, next);
        let is_same_pair = self
            .before
            .is_some_and(|before| before.network == network && is_within(before.last, now, Self::WINDOW_S));
        if !is_same_pair {
            (self.returns, self.known) = (0, left.network);
        } else if self.before.is_some_and(|before| before.peer == peer) {
            if self.returns == 0 {
                self.since = now;
            }
            self.returns = self.returns.saturating_add(1);
        }
        self.before = Some(left);
        let is_found = self.returns >= Self::RETURNS && !is_within(self.since, now, Self::SPAN_S);
        let other = if self.known == network { left.network } else { network };
        is_found.then_some((self.known, other))
    }
}

/// Whether fewer than `seconds` are between two instants.
fn is_within(from: Monotonic, to: Monotonic, seconds: u64) -> bool {
    from.plus(std::time::Duration::from_secs(seconds)) > to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    /// The networks that are found in messages of these senders, `step_s` seconds apart.
    fn found(step_s: u64, senders: &[&str]) -> Option<(String, String)> {
        let mut now = Monotonic::from_start(std::time::Duration::ZERO);
        let mut watch = NetworkWatch::new(peer(senders[0]), now);
        let mut last = None;
        for sender in &senders[1..] {
            now = now.plus(std::time::Duration::from_secs(step_s));
            last = watch.note(peer(sender), now).or(last);
        }
        last.map(|(known, other)| (known.to_string(), other.to_string()))
    }

    #[test]
    fn a_network_is_a_prefix_that_can_be_read_again() {
        for (address, network) in [
            ("203.0.113.9", "203.0.0.0/16"),
            ("::ffff:203.0.113.9", "203.0.0.0/16"),
            ("2001:db8:1:2::9", "2001:db8::/32"),
        ] {
            let of = Network::of(address.parse().unwrap());
            assert_eq!(of.to_string(), network);
            assert_eq!(Network::parse(network), Some(of));
        }
        assert_eq!(Network::of_peer("[2001:db8::7]:40000"), Network::parse("2001:db8::/32"));
        assert_eq!((Network::of_peer("somewhere"), Network::parse("203.0.0.0")), (None, None));
    }

    #[test]
    fn two_senders_that_report_in_turns_are_found() {
        let (home, stranger) = ("203.0.113.9:4000", "198.51.100.7:5000");
        let both = Some(("203.0.0.0/16".to_owned(), "198.51.0.0/16".to_owned()));
        assert_eq!(found(40, &[home, stranger, home, stranger, home]), both);
        assert_eq!(found(40, &[home, home, stranger, home, stranger, stranger, home, home, stranger]), both);
        // A stranger who opens a new connection each time.
        let (second, third) = ("198.51.100.7:5001", "198.51.100.7:5002");
        assert_eq!(found(40, &[home, stranger, home, second, home, third, home]), both);
        assert_eq!(found(20 * 60, &[home, stranger, home]), None);
        assert_eq!(found(5, &[home, stranger, home, stranger, home]), None, "read late, within seconds");
    }

    #[test]
    fn a_tracker_that_moves_is_not_found() {
        let (home, abroad) = ("203.0.113.9:4000", "198.51.100.7:5000");
        let later = ["203.0.113.9:4001", "198.51.100.7:5001", "203.0.113.9:4002", "198.51.100.7:5002"];
        assert_eq!(found(60, &[home, abroad, later[0], later[1], later[2], later[3], home]), None);
        assert_eq!(found(60, &[home, "203.0.9.9:7", home, "203.0.9.9:7", home]), None, "of one network");
        let third = "192.0.2.1:6000";
        assert_eq!(found(60, &[home, abroad, home, third, abroad, home, third]), None);
        assert_eq!(found(31 * 60, &[home, abroad, home, abroad, home]), None, "hours apart");
    }

    #[test]
    fn a_message_of_another_network_soon_after_the_proof_contradicts_it() {
        let at = Timestamp::from_millis(1_000_000);
        let network = |text| Network::parse(text).unwrap();
        let proof = ProofReport { at, network: network("203.0.0.0/16") };
        assert!(proof.contradicts(network("198.51.0.0/16"), at.plus_seconds(3_600)));
        assert!(!proof.contradicts(network("203.0.0.0/16"), at.plus_seconds(3_600)));
        assert!(!proof.contradicts(network("198.51.0.0/16"), at.plus_seconds(86_400)));
        assert!(!proof.contradicts(network("198.51.0.0/16"), at.plus_seconds(-1)), "the clock was set back");
    }
}
