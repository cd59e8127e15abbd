//! Watches from which networks known devices report on shared listeners, and keeps findings for operators until they
//! are saved. The number of findings is bounded, and each counts against the rate limit of the address that reported.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::gateways::network::{Network, NetworkFinding, NetworkReason, NetworkWatch};
use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic, Timestamp};

use crate::access::RateLimits;
use crate::cache::BoundedMap;

/// Maximum number of identifiers that are watched; beyond it the oldest are removed.
const FOLLOWED_MAX: usize = 50_000;
/// Maximum number of findings between two saves; further ones are found again later.
const FINDINGS_MAX: usize = 1_000;
/// Minimum time between two findings of an identifier. The store keeps only one open finding for each identifier.
const FINDING_INTERVAL: Duration = Duration::from_hours(1);

/// The networks of identifiers on shared listeners.
#[derive(Debug)]
struct FollowedNetworks(Mutex<Networks>);

#[derive(Debug)]
struct Networks {
    followed: BoundedMap<String, Followed>,
    findings: BTreeMap<String, NetworkFinding>,
}

#[derive(Clone, Copy, Debug)]
struct Followed {
    watch: NetworkWatch,
    last_found: Option<Monotonic>,
}

impl Default for FollowedNetworks {
    fn default() -> Self {
        let followed = BoundedMap::new(FOLLOWED_MAX);
        Self(Mutex::new(Networks { followed, findings: BTreeMap::new() }))
    }
}

impl FollowedNetworks {
    /// Notes that a device reported. A finding is kept until the next save if `is_allowed` returns true.
    fn note(
        &self,
        reporter: &Reporter,
        peer: SocketAddr,
        (now, at): (Monotonic, Timestamp),
        is_allowed: impl FnOnce() -> bool,
    ) {
        let mut networks = self.0.lock();
        let before = networks.followed.get(&reporter.identifier).copied();
        let (mut followed, parallel) = match before {
            Some(mut followed) => {
                let parallel = followed.watch.note(peer, now);
                (followed, parallel)
            }
            None => (Followed { watch: NetworkWatch::new(peer, now), last_found: None }, None),
        };
        let network = Network::of(peer.ip());
        let proof = reporter.proof.filter(|proof| proof.contradicts(network, at));
        let after_proof = proof.map(|proof| (NetworkReason::AfterProof, proof.network, network));
        let parallel = parallel.map(|(known, other)| (NetworkReason::Parallel, known, other));
        if let Some((reason, known, other)) = after_proof.or(parallel)
            && followed.last_found.is_none_or(|last| last.plus(FINDING_INTERVAL) <= now)
            && networks.findings.len() < FINDINGS_MAX
            && is_allowed()
        {
            followed.last_found = Some(now);
            let finding = NetworkFinding { reason, known, other, at };
            networks.findings.insert(reporter.identifier.clone(), finding);
        }
        networks.followed.insert(reporter.identifier.clone(), followed, |_| true);
    }

    /// Everything that was found since the last call.
    fn take(&self) -> BTreeMap<String, NetworkFinding> {
        std::mem::take(&mut self.0.lock().findings)
    }
}

/// From which networks known devices report on shared listeners.
pub struct ReportNetworks {
    clock: Arc<dyn Clock>,
    rates: Arc<RateLimits>,
    followed: FollowedNetworks,
}

impl ReportNetworks {
    pub(super) fn new(clock: Arc<dyn Clock>, rates: Arc<RateLimits>) -> Self {
        Self { clock, rates, followed: FollowedNetworks::default() }
    }

    /// Notes from where a known device reported on a listener that all accounts share.
    pub fn note(&self, reporter: &Reporter, peer: SocketAddr) {
        let now = (self.clock.monotonic(), self.clock.now());
        self.followed.note(reporter, peer, now, || self.rates.network_finding(peer.ip()));
    }

    /// Saves which identifiers reported from two networks. What could not be saved is found again later.
    pub async fn save(&self, store: &dyn Store) -> Result<(), StoreError> {
        for (identifier, finding) in self.followed.take() {
            store.save_network_finding(&identifier, finding).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::access::actor::Scope;
    use perigee_core::gateways::network::ProofReport;
    use perigee_core::id::{AccountId, DeviceId};

    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn reporter(identifier: &str, proof: Option<ProofReport>) -> Reporter {
        Reporter {
            scope: Scope::for_gateway(AccountId::from_i64(1)),
            device: DeviceId::from_i64(1),
            identifier: identifier.to_owned(),
            model: None,
            reported_model: None,
            decoding: BTreeMap::new(),
            proposed_zone_minutes: None,
            proof,
        }
    }

    #[test]
    fn findings_are_bounded_limited_by_rate_and_not_repeated_at_once() {
        let networks = FollowedNetworks::default();
        let stranger = SocketAddr::from(([198, 51, 100, 7], 5));
        let proof = Some(ProofReport { at: AT, network: Network::parse("203.0.0.0/16").unwrap() });
        let note = |identifier: &str, minutes: u64, is_allowed: bool| {
            let now = Monotonic::from_start(Duration::from_mins(minutes));
            networks.note(&reporter(identifier, proof), stranger, (now, AT), || is_allowed);
            networks.take().len()
        };
        assert_eq!(note("1", 0, false), 0, "above the rate limit");
        assert_eq!(note("1", 1, true), 1);
        assert_eq!((note("1", 2, true), note("2", 2, true)), (0, 1), "once an hour each");
        assert_eq!(note("1", 61, true), 1);
        for number in 0..2 * FINDINGS_MAX {
            let now = Monotonic::from_start(Duration::from_mins(200));
            networks.note(&reporter(&number.to_string(), proof), stranger, (now, AT), || true);
        }
        assert_eq!(networks.take().len(), FINDINGS_MAX);
    }
}
