//! Where trackers are heard.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use perigee_gateways::{PROTOCOLS, find_protocol};
use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::check::refuse;

/// The name of the listener that tells the protocol by the first bytes.
pub const ANY_PROTOCOL: &str = "any";

/// Where trackers are heard, and limits on their connections.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gateways {
    /// Connections of trackers open at the same time.
    pub max_connections: usize,
    /// Connections of trackers open at the same time from one address.
    pub max_connections_per_address: usize,
    /// Seconds after which a silent tracker is disconnected.
    pub idle_seconds: u64,
    /// Engines of devices that move faster are not stopped, kilometres an hour.
    pub engine_stop_max_kmh: f64,
    /// Addresses by the name of a protocol, or [`ANY_PROTOCOL`].
    pub listen: BTreeMap<String, SocketAddr>,
}

impl Gateways {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let is_known = |name: &&String| **name == ANY_PROTOCOL || find_protocol(name).is_some();
        if let Some(other) = self.listen.keys().find(|name| !is_known(name)) {
            let known: Vec<&str> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
            return refuse(
                "gateways.listen",
                format!("{other:?} is no protocol; there are {} and {ANY_PROTOCOL}", known.join(", ")),
            );
        }
        if self.max_connections == 0 || self.max_connections_per_address == 0 {
            return refuse(
                "gateways.max_connections",
                "must be at least 1, as must max_connections_per_address",
            );
        }
        if !(0.0..=1_000.0).contains(&self.engine_stop_max_kmh) {
            return refuse("gateways.engine_stop_max_kmh", "must be between 0 and 1000");
        }
        if !(60..=86_400).contains(&self.idle_seconds) {
            return refuse("gateways.idle_seconds", "must be between 60 and 86400");
        }
        Ok(())
    }
}
