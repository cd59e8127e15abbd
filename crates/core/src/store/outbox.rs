//! The outbox: what is to be sent is reserved, sent, and settled. And the record of it for people.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::id::NotificationId;
use crate::notification::{
    Candidate, Channel, Content, Delivery, Notification, NotificationFilter, Receipt, Reservation,
    SendingPolicy,
};
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

/// What became of candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reserved {
    /// Those that may be sent, each once, in the order they were given.
    pub granted: Vec<Reservation>,
    /// How many were not to be sent, by a rule.
    pub suppressed: usize,
}

/// What the sending workers of all nodes share.
///
/// The counter of a device rises in the transaction that reserves, before anything is sent, so that it never exceeds
/// the limit and never falls below what receivers got.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Messages that are due, critical ones first, none of an account waiting for another's. Several workers may be
    /// given the same: only one can reserve it.
    async fn due_notifications(&self, channel: Channel, limit: u32) -> Result<Vec<Content>>;

    /// Counts each message that is still due against its limits and grants the attempt, or records why it is
    /// not sent.
    async fn reserve(&self, candidates: Vec<Candidate>, policy: &SendingPolicy) -> Result<Reserved>;

    /// Records what became of an attempt. Gives false when it comes too late: the reservation was lost.
    async fn settle(&self, reservation: Reservation, delivery: Delivery) -> Result<bool>;

    /// Holds an attempt under way for so long from now on. Gives false when it was lost.
    async fn renew(&self, reservation: Reservation, lease_ms: i64) -> Result<bool>;

    /// Forgets messages written this long ago that neither wait nor are under way. Gives how many.
    async fn trim_notifications(&self, keep_ms: i64) -> Result<u64>;

    /// When the next message is due, if one is.
    async fn next_due(&self, channel: Channel) -> Result<Option<Timestamp>>;

    /// Waits until this process wrote a message for this channel.
    async fn outbox_filled(&self, channel: Channel);

    /// Records what a provider says later of a message it took. Gives false when it took no such message.
    async fn note_receipt(&self, channel: Channel, receipt: Receipt) -> Result<bool>;
}

/// The record of messages, for people.
#[async_trait]
pub trait Notifications: Send + Sync {
    /// Notifications in sight, newest first.
    async fn list_notifications(
        &self,
        scope: Scope,
        filter: &NotificationFilter,
        page: PageRequest,
    ) -> Result<Page<Notification>>;

    /// One notification in sight.
    async fn find_notification(&self, scope: Scope, id: NotificationId) -> Result<Option<Notification>>;

    /// Has a message sent again that was not, or of which it is unclear; it is counted anew. One that waits or is
    /// being sent stays as it is.
    async fn resend_notification(&self, actor: &Actor, id: NotificationId) -> Result<Notification>;
}
