//! API calls by user and hour.

use async_trait::async_trait;

use super::Result;
use crate::id::{AccountId, UserId};
use crate::time::Timestamp;

/// Days that hourly counts are kept.
pub const CALL_RETENTION_DAYS: i64 = 32;

/// API calls of one user in one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HourCalls {
    /// The account of the user.
    pub account: AccountId,
    /// The user who called.
    pub user: UserId,
    /// Whether tokens of an API key were used, not the console.
    pub by_key: bool,
    /// When the hour began, in UTC.
    pub hour: Timestamp,
    /// Number of calls in that hour.
    pub calls: u64,
}

/// Hourly counts of API calls.
#[async_trait]
pub trait Calls: Send + Sync {
    /// Adds calls to the counts of their hours.
    async fn add_calls(&self, calls: Vec<HourCalls>) -> Result<()>;

    /// Lists the calls of an account in hours that began from `from` up to, but not including, `to`.
    async fn list_calls(&self, account: AccountId, from: Timestamp, to: Timestamp) -> Result<Vec<HourCalls>>;
}
