//! What an operator wants to know of a store as a whole.

use async_trait::async_trait;

use super::Result;
use crate::notification::Channel;
use crate::time::Timestamp;

/// A store as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFigures {
    /// The engine, by name.
    pub engine: &'static str,
    /// Bytes on disk.
    pub bytes: u64,
    /// Accounts.
    pub accounts: u64,
    /// Users of all of them.
    pub users: u64,
    /// Devices of all of them.
    pub devices: u64,
    /// Messages to people that wait or are under way, by channel.
    pub messages: Vec<(Channel, Backlog)>,
    /// Messages to webhooks that wait or are under way.
    pub deliveries: Backlog,
    /// When the oldest location came in that no rule has judged yet.
    pub oldest_unjudged: Option<Timestamp>,
    /// Rows that are damaged.
    pub damage: DamageFigures,
}

/// How many rows are damaged, as far as that was noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DamageFigures {
    /// Rows that this node could not read since it was started, and passed over.
    pub passed_over: u64,
    /// Rows that were set aside, by any node and at any time.
    pub set_aside: u64,
}

/// What waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many.
    pub waiting: u64,
    /// Since when the oldest of them does.
    pub oldest: Option<Timestamp>,
}

/// Changes on their way into the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Intake {
    /// Changes of all kinds that wait for their commit on this node.
    pub writes: u64,
    /// Locations that wait for theirs.
    pub locations: u64,
}

/// What an operator wants to know.
#[async_trait]
pub trait Figures: Send + Sync {
    /// The store as a whole.
    async fn store_figures(&self) -> Result<StoreFigures>;

    /// How many rows are damaged; unlike the figures of the whole store, cheap.
    async fn damage_figures(&self) -> Result<DamageFigures>;

    /// What is on its way into the store from this node.
    fn intake(&self) -> Intake;
}
