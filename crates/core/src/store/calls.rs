//! How often the API was called, hour by hour.

use async_trait::async_trait;

use super::Result;
use crate::id::{AccountId, UserId};
use crate::time::Timestamp;

/// Days that calls are kept hour by hour.
pub const CALLS_KEPT_DAYS: i64 = 32;

/// Calls of one user in one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HourCalls {
    /// Their account.
    pub account: AccountId,
    /// Who called.
    pub user: UserId,
    /// Whether with tokens of their API key, rather than by the console.
    pub by_key: bool,
    /// When the hour began.
    pub hour: Timestamp,
    /// How often.
    pub calls: u64,
}

/// Calls of the API, hour by hour.
#[async_trait]
pub trait Calls: Send + Sync {
    /// Adds calls to what is kept of their hours.
    async fn add_calls(&self, calls: Vec<HourCalls>) -> Result<()>;

    /// The calls of an account in hours that began within this span, by hour. The end is not part of it.
    async fn list_calls(&self, account: AccountId, from: Timestamp, to: Timestamp) -> Result<Vec<HourCalls>>;
}
