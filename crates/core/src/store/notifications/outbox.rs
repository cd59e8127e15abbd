//! The outbox of notifications, and their record for people.

use async_trait::async_trait;

use crate::access::actor::{Actor, Scope};
use crate::id::{DeviceId, NotificationId};
use crate::notifications::notification::{
    Candidate, Channel, Content, MessageCounts, Notification, NotificationFilter, Receipt, Reservation,
    SendOutcome, SendingPolicy,
};
use crate::page::{Page, PageRequest};
use crate::store::Result;
use crate::time::Timestamp;

/// The result of reserving candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reserved {
    /// Those that may be sent, each once, in the order given.
    pub granted: Vec<Reservation>,
    /// How many were suppressed.
    pub suppressed: usize,
}

/// Methods of the store for the sending workers of all nodes.
///
/// The device's counter is incremented in the transaction that reserves, before anything is sent. So it never exceeds
/// the limit and is never below the number of received messages.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Lists messages that are due, critical ones first, fair between accounts. Several workers may get the same
    /// message; only one can reserve it.
    async fn due_notifications(&self, channel: Channel, limit: u32) -> Result<Vec<Content>>;

    /// Counts each message that is still due against its limits and permits the attempt, or records why it is
    /// suppressed.
    async fn reserve(&self, candidates: Vec<Candidate>, policy: &SendingPolicy) -> Result<Reserved>;

    /// Records the result of an attempt. Returns false if the reservation has passed to another worker.
    async fn settle(&self, reservation: Reservation, delivery: SendOutcome) -> Result<bool>;

    /// Extends a reservation. Returns false if it has passed to another worker.
    async fn renew(&self, reservation: Reservation, lease_ms: i64) -> Result<bool>;

    /// Deletes messages written longer than `keep_ms` ago that are neither waiting nor being sent. Returns how many.
    async fn trim_notifications(&self, keep_ms: i64) -> Result<u64>;

    /// When the next message is due.
    async fn next_due(&self, channel: Channel) -> Result<Option<Timestamp>>;

    /// Records a delivery receipt. Returns false if no such message was sent.
    async fn record_receipt(&self, channel: Channel, receipt: Receipt) -> Result<bool>;
}

/// The record of messages, for people.
#[async_trait]
pub trait Notifications: Send + Sync {
    /// Notifications in the scope, newest first.
    async fn list_notifications(
        &self,
        scope: Scope,
        filter: &NotificationFilter,
        page: PageRequest,
    ) -> Result<Page<Notification>>;

    /// One notification in the scope.
    async fn find_notification(&self, scope: Scope, id: NotificationId) -> Result<Option<Notification>>;

    /// Counts the messages that were written from an instant until before another: those about these devices as far as
    /// they are visible, by device and channel, or those about no device if `devices` is `None`.
    async fn count_messages(
        &self,
        scope: Scope,
        devices: Option<Vec<DeviceId>>,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<MessageCounts>>;

    /// Schedules a suppressed, failed or unclear message again; it is counted again. A message that waits or is being
    /// sent stays as it is.
    async fn resend_notification(&self, actor: &Actor, id: NotificationId) -> Result<Notification>;
}
