//! Messages as received, and their content.

use async_trait::async_trait;

use crate::access::actor::Scope;
use crate::gateways::gateway::{MessageFilter, NewMessage, RawMessage, Reporter};
use crate::gateways::message_contents::{MessageContents, NewRequest, StoredContents, StoredMessage};
use crate::gateways::raw_usage::{ListedUsage, RawUsage, StoredToday};
use crate::id::MessageId;
use crate::page::{Page, PageRequest};
use crate::store::Result;

/// Methods of the store for raw messages.
#[async_trait]
pub trait RawMessages: Send + Sync {
    /// Stores a message with its content in one transaction, including the events, notifications and escalations of its
    /// alerts. An expired device is not a failure: the message is stored and its contents are not.
    async fn store_message(
        &self,
        reporter: &Reporter,
        message: NewMessage,
        contents: MessageContents,
    ) -> Result<StoredMessage>;

    /// Stores a request with the content for each of its devices in one transaction. Returns the result for each
    /// device: `DeviceExpired` or `NotFound` for one device does not affect the others. A request that is too large for
    /// one transaction is stored in several, with its message in the last.
    async fn store_request(&self, request: NewRequest) -> Result<Vec<Result<StoredContents>>>;

    /// Lists messages of devices in the scope, newest first, with the beginning of their bytes; messages of no device
    /// or of several are only in the scope of a whole account. Examines a bounded number of messages, so that a page
    /// may have fewer items than requested although there are more.
    async fn list_messages(
        &self,
        scope: Scope,
        filter: &MessageFilter,
        page: PageRequest,
    ) -> Result<Page<RawMessage>>;

    /// Bytes of a message in the scope.
    async fn find_message_size(&self, scope: Scope, id: MessageId) -> Result<Option<u32>>;

    /// Finds a message in the scope.
    async fn find_message(&self, scope: Scope, id: MessageId) -> Result<Option<RawMessage>>;

    /// Changes device, result and error of a stored message, and adds to its devices. Returns whether it is still
    /// there.
    async fn set_message_result(&self, message: &RawMessage) -> Result<bool>;

    /// Adds the raw messages that a node stored to the current day. Returns what all nodes have stored on this day of
    /// the same senders, and of their accounts.
    async fn save_raw_usage(&self, usage: Vec<RawUsage>) -> Result<Vec<StoredToday>>;

    /// The gateways and devices whose messages took the most space in the last [`RawUsage::DAYS`] days, those with the
    /// most bytes first.
    async fn list_raw_usage(&self) -> Result<Vec<ListedUsage>>;
}
