//! Conversations with devices.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::devices::conversation::{Conversation, ConversationMessage, NewOutgoing, OutgoingText, TextEnd};
use crate::id::{ConversationMessageId, DeviceId, UserId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};

/// The texts between devices and users, and the queue of those that providers deliver. Texts of devices are stored with
/// the message that they came in. Every new message and every change of a state is an event.
#[async_trait]
pub trait Conversations: Send + Sync {
    /// Queues messages to a device in this order, all or none. Refused with `TooMany` if more than
    /// [`ConversationMessage::QUEUED_MAX`] would wait, and with `TooManyBilled` if the provider would bill more of them
    /// than are permitted in 24 hours.
    async fn send_texts(
        &self,
        actor: &Actor,
        device: DeviceId,
        new: Vec<NewOutgoing>,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Vec<ConversationMessage>>>;

    /// Lists the messages of a device in the scope, in both directions, newest first.
    async fn list_conversation(
        &self,
        scope: Scope,
        device: DeviceId,
        page: PageRequest,
    ) -> Result<Page<ConversationMessage>>;

    /// Finds a message to or from a device in the scope.
    async fn find_text(&self, scope: Scope, id: ConversationMessageId)
    -> Result<Option<ConversationMessage>>;

    /// Withdraws a queued message. Refused with `TextNotQueued` if it is not queued.
    async fn cancel_text(&self, actor: &Actor, id: ConversationMessageId) -> Result<ConversationMessage>;

    /// Lists the devices in the scope that have a conversation, by id, with what this user has not read.
    async fn list_conversations(
        &self,
        scope: Scope,
        user: Option<UserId>,
        page: PageRequest,
    ) -> Result<Page<Conversation>>;

    /// The conversation with a device in the scope; `None` if it has no message.
    async fn find_conversation(
        &self,
        scope: Scope,
        user: Option<UserId>,
        device: DeviceId,
    ) -> Result<Option<Conversation>>;

    /// Marks the messages of a device up to this one, or all, as read by the user who calls, and returns how many are
    /// unread then. A mark never moves back.
    async fn mark_conversation_read(
        &self,
        actor: &Actor,
        device: DeviceId,
        up_to: Option<ConversationMessageId>,
    ) -> Result<u64>;

    /// Leases up to `limit` due messages for `lease_ms`, at most one of a device at a time and its oldest first, so
    /// that each is handed over by one worker and in order.
    async fn lease_texts(&self, limit: u32, lease_ms: i64) -> Result<Vec<OutgoingText>>;

    /// Records the result of an attempt. False if the lease has passed to another attempt, or the message is gone.
    async fn settle_text(&self, leased: &OutgoingText, end: TextEnd) -> Result<bool>;

    /// Ends up to `limit` messages that nobody will send: those past their deadline expire, and those whose worker
    /// did not settle within its lease are unclear. Returns how many.
    async fn end_overdue_texts(&self, limit: u32) -> Result<u32>;
}
