//! Polls of providers: one poller at a time for each gateway.

use async_trait::async_trait;

use crate::gateways::account_gateway::Gateway;
use crate::gateways::message_contents::RequestMessage;
use crate::id::AccountId;
use crate::store::Result;
use crate::time::Timestamp;

/// Maximum number of polls of one account at the same time, on all nodes together.
pub const POLLS_PER_ACCOUNT: i64 = 2;
/// Maximum number of polls at the same time, on all nodes together, of gateways whose last poll failed. One account has
/// at most one of them.
pub const FAILING_POLLS: i64 = 4;

/// A gateway that one poller may poll until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedPoll {
    /// The gateway with its state.
    pub gateway: Gateway,
    /// When it was leased. The time range of the request and the next cursor are computed from this time.
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
    /// The answer of the provider, if it brought something new.
    pub page: Option<RequestMessage>,
    /// New messages of the answer.
    pub messages: u64,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether the provider refused the request.
    pub refused: bool,
}

/// Methods of the store for polls.
#[async_trait]
pub trait Polls: Send + Sync {
    /// Leases a gateway of one of these feeds whose poll is due. Accounts take turns by id, and the first is the one
    /// above `after`; none has more than [`POLLS_PER_ACCOUNT`] at the same time. Gateways whose last poll failed share
    /// [`FAILING_POLLS`], so that the others do not wait for them.
    async fn lease_poll(
        &self,
        feeds: &[&'static str],
        lease_ms: i64,
        after: AccountId,
    ) -> Result<Option<LeasedPoll>>;

    /// Stores answer and cursor of a poll in one transaction, and ends its lease. Returns whether the lease was still
    /// valid; nothing is stored otherwise.
    async fn settle_poll(&self, poll: &LeasedPoll, settlement: PollSettlement) -> Result<bool>;
}
