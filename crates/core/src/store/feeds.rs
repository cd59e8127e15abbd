//! What gateway feeds need from the store: the health of gateways, and polls.

use async_trait::async_trait;

use super::Result;
use crate::gateways::account_gateway::Gateway;
use crate::gateways::feed_health::GatewayReport;
use crate::gateways::gateway::{MessageResult, NewMessage};
use crate::id::AccountId;
use crate::time::Timestamp;

/// Polls of one account at the same time, on all nodes together.
pub const POLLS_PER_ACCOUNT: i64 = 2;
/// Polls at the same time, on all nodes together, of gateways whose last poll failed. Of one account: one.
pub const FAILING_POLLS: i64 = 4;

/// A gateway that one poller may poll until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedPoll {
    /// The gateway with its state.
    pub gateway: Gateway,
    /// When it was leased. What a request asks for and how far it brings the cursor are computed from this instant.
    pub at: Timestamp,
    /// Changes with each lease; a poller whose lease has passed to another cannot settle.
    pub fence: i64,
}

/// The result of a poll, to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollSettlement {
    /// Where the next poll continues; `None` leaves it as it is, after a failure.
    pub cursor: Option<String>,
    /// The instant up to which everything is stored, if it is known now.
    pub complete_to: Option<Timestamp>,
    /// When the next poll is due.
    pub next: Timestamp,
    /// The answer of the provider with its result, if it brought something new.
    pub page: Option<(NewMessage, MessageResult)>,
    /// New messages of the answer.
    pub messages: u64,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether the provider refused the request.
    pub refused: bool,
}

/// Health of feeds, and pollers.
#[async_trait]
pub trait Feeds: Send + Sync {
    /// Adds what nodes saw of gateways, and announces refusals. Gives how many were announced.
    async fn save_gateway_reports(&self, reports: Vec<GatewayReport>) -> Result<u64>;

    /// Announces gateways that are late, each once until it is heard again. Gives how many.
    async fn announce_late_gateways(&self) -> Result<u64>;

    /// Leases a gateway of one of these feeds whose poll is due. Accounts take turns by id, beginning with the one after
    /// `after`; none has more than [`POLLS_PER_ACCOUNT`] at the same time. Gateways whose last poll failed have
    /// [`FAILING_POLLS`] of all, so that those that answer do not wait for them.
    async fn lease_poll(
        &self,
        feeds: &[&'static str],
        lease_ms: i64,
        after: AccountId,
    ) -> Result<Option<LeasedPoll>>;

    /// Stores answer and cursor of a poll in one transaction, and ends its lease. Gives whether the lease was still valid;
    /// nothing is stored otherwise.
    async fn settle_poll(&self, poll: &LeasedPoll, settlement: PollSettlement) -> Result<bool>;
}
