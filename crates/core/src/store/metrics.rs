//! Figures of the whole store for operators.

use async_trait::async_trait;

use super::Result;
use crate::notifications::notification::Channel;
use crate::time::Timestamp;

/// Figures of the whole store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreMetrics {
    /// Name of the engine: `sqlite` or `postgres`.
    pub engine: &'static str,
    /// Size on disk in bytes.
    pub bytes: u64,
    /// Number of accounts in the store.
    pub accounts: u64,
    /// Number of users in all accounts.
    pub users: u64,
    /// Number of devices in all accounts.
    pub devices: u64,
    /// Notifications that wait or are being sent, by channel.
    pub messages: Vec<(Channel, Backlog)>,
    /// Webhook deliveries that wait or are being sent.
    pub deliveries: Backlog,
    /// Arrival of the oldest location that the rule engine has not evaluated yet.
    pub oldest_unevaluated: Option<Timestamp>,
    /// Damaged rows found so far.
    pub damage: DamageMetrics,
}

/// Counts of damaged rows found so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DamageMetrics {
    /// Rows that this node could not read since its start, and skipped.
    pub passed_over: u64,
    /// Rows in quarantine, moved there by any node at any time.
    pub set_aside: u64,
}

/// Work that waits to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of items that wait.
    pub waiting: u64,
    /// Time at which the oldest of them was added; `None` if nothing waits.
    pub oldest: Option<Timestamp>,
}

/// Writes that wait for their commit on this node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingWrites {
    /// Writes of all kinds.
    pub writes: u64,
    /// How many of them store locations.
    pub locations: u64,
}

/// Figures of the store for operators.
#[async_trait]
pub trait Metrics: Send + Sync {
    /// Computes figures of the whole store.
    async fn store_metrics(&self) -> Result<StoreMetrics>;

    /// Counts damaged rows; cheap, unlike [`Self::store_metrics`].
    async fn damage_metrics(&self) -> Result<DamageMetrics>;

    /// Bytes of the database that are in use. PostgreSQL examines every file, so call it rarely.
    async fn database_size(&self) -> Result<u64>;

    /// Writes that wait for their commit on this node.
    fn pending_writes(&self) -> PendingWrites;
}
