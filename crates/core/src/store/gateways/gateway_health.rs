//! Health of gateways: what arrived, what was refused, and which are late.

use async_trait::async_trait;

use crate::gateways::feed_health::GatewayReport;
use crate::store::Result;

/// Methods of the store for the health of gateways.
#[async_trait]
pub trait GatewayHealth: Send + Sync {
    /// Adds the counts of a node to the state of gateways, and announces refusals. Returns how many were announced.
    async fn save_gateway_reports(&self, reports: Vec<GatewayReport>) -> Result<u64>;

    /// Announces gateways that are late, each once until it is no longer late. Returns how many.
    async fn announce_late_gateways(&self) -> Result<u64>;
}
