//! Listeners for trackers.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use perigee_core::gateways::claim::CountedClaims;
use perigee_gateways::{PROTOCOLS, Transport, find_protocol};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::check::refuse;
use super::{ConfigError, redact};
use crate::serve::Network;

/// The name of the listener that detects the protocol by the first bytes.
pub const ANY_PROTOCOL: &str = "any";

/// Listeners for trackers, and limits on their connections.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gateways {
    /// Connections of trackers open at the same time.
    pub max_connections: usize,
    /// Connections of trackers open at the same time from one address.
    pub max_connections_per_address: usize,
    /// Maximum raw messages of one device that are stored per day, in MiB; 0 for no limit.
    pub raw_mib_per_device: u32,
    /// The same of one gateway.
    pub raw_mib_per_gateway: u32,
    /// The same of one account.
    pub raw_mib_per_account: u32,
    /// Seconds after which a silent tracker is disconnected.
    pub idle_seconds: u64,
    /// Which claims of identifiers are accepted: `proof` or `first`.
    pub claims: ClaimRule,
    /// Maximum speed at which engines may be stopped, in km/h.
    pub engine_stop_max_kmh: f64,
    /// Addresses by the name of a protocol, or [`ANY_PROTOCOL`].
    pub listen: BTreeMap<String, SocketAddr>,
    /// The same for connections in TLS, of protocols whose trackers offer it.
    pub tls: BTreeMap<String, SocketAddr>,
    /// Addresses or networks that may connect, by the name of a protocol; all addresses for protocols that are not
    /// listed.
    pub allow: BTreeMap<String, Vec<String>>,
    /// Settings for all devices of a protocol, by its name.
    #[serde(serialize_with = "redact::options")]
    pub options: BTreeMap<String, Map<String, Json>>,
}

/// Which claims of identifiers are accepted on listeners that all accounts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimRule {
    /// Proven claims.
    Proof,
    /// Claims of the account that registers an identifier first.
    First,
}

impl From<ClaimRule> for CountedClaims {
    fn from(rule: ClaimRule) -> Self {
        match rule {
            ClaimRule::Proof => Self::Proven,
            ClaimRule::First => Self::All,
        }
    }
}

/// The protocol that has no authentication and carries messages of many devices: accepted only from allowed addresses.
const NEEDS_ADDRESSES: &str = "iridium";

impl Gateways {
    /// The largest quota of raw messages.
    const RAW_MIB_MAX: u32 = 200_000;

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let is_known = |name: &&String| **name == ANY_PROTOCOL || find_protocol(name).is_some();
        if let Some(other) = self.listen.keys().find(|name| !is_known(name)) {
            let known: Vec<&str> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
            return refuse(
                "gateways.listen",
                format!(
                    "{other:?} is not a protocol; the protocols are {} and {ANY_PROTOCOL}",
                    known.join(", ")
                ),
            );
        }
        let offer_tls =
            |name: &str| find_protocol(name).is_none_or(|it| it.transports.contains(&Transport::Tls));
        if let Some(other) = self.tls.keys().find(|name| !is_known(name) || !offer_tls(name)) {
            let offering = PROTOCOLS.iter().map(|protocol| protocol.name).filter(|name| offer_tls(name));
            let offering: Vec<&str> = offering.chain([ANY_PROTOCOL]).collect();
            return refuse(
                "gateways.tls",
                format!(
                    "the protocol {other:?} is not available over TLS; choose one of {}",
                    offering.join(", ")
                ),
            );
        }
        for (key, names) in [
            ("gateways.allow", self.allow.keys().collect::<Vec<_>>()),
            ("gateways.options", self.options.keys().collect()),
        ] {
            if let Some(other) = names.iter().find(|name| find_protocol(name).is_none()) {
                return refuse(key, format!("{other:?} is not a protocol"));
            }
        }
        for (name, networks) in &self.allow {
            if let Some(error) = networks.iter().find_map(|text| text.parse::<Network>().err()) {
                return refuse("gateways.allow", format!("{name}: {error}"));
            }
        }
        if self.listen.contains_key(NEEDS_ADDRESSES) && !self.allow.contains_key(NEEDS_ADDRESSES) {
            return refuse(
                "gateways.allow",
                "must list the IP addresses of the Iridium gateway as iridium = [...], because DirectIP has no other authentication",
            );
        }
        if self.max_connections == 0 || self.max_connections_per_address == 0 {
            return refuse(
                "gateways.max_connections",
                "max_connections and max_connections_per_address must be at least 1",
            );
        }
        if !(0.0..=1_000.0).contains(&self.engine_stop_max_kmh) {
            return refuse("gateways.engine_stop_max_kmh", "must be between 0 and 1000");
        }
        let most = [self.raw_mib_per_device, self.raw_mib_per_gateway, self.raw_mib_per_account];
        if most.iter().any(|mib| *mib > Self::RAW_MIB_MAX) {
            return refuse(
                "gateways.raw_mib_per_device",
                "must be at most 200000, like raw_mib_per_gateway and raw_mib_per_account",
            );
        }
        if !(60..=86_400).contains(&self.idle_seconds) {
            return refuse("gateways.idle_seconds", "must be between 60 and 86400");
        }
        Ok(())
    }

    /// Whether messages of a protocol are accepted from an address.
    pub fn admits(&self, protocol: &str, address: IpAddr) -> bool {
        match self.allow.get(protocol) {
            Some(networks) => networks
                .iter()
                .filter_map(|text| text.parse::<Network>().ok())
                .any(|network| network.contains(address)),
            None => protocol != NEEDS_ADDRESSES,
        }
    }
}
