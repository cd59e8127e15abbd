//! Devices by the names under which they report, and the messages as they came.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::Scope;
use crate::alerts::sos_notice::SosNotice;
use crate::gateways::claim::CountedClaims;
use crate::gateways::gateway::{
    HeardDevice, HeardMessage, HeardReport, MessageFilter, NewMessage, RawMessage, Reporter,
};
use crate::gateways::message_contents::{
    MessageContents, NewRequest, SearchedMessages, StoredContents, StoredMessage,
};
use crate::gateways::raw_usage::RawUsage;
use crate::id::{AccountId, MessageId};
use crate::locations::location::TimeRange;
use crate::page::{Page, PageRequest};

/// What gateways store and read.
#[async_trait]
pub trait Gateways: Send + Sync {
    /// Finds the device that reports under one of these identifiers, which are tried in order, on a listener that all
    /// accounts share: an identifier there belongs to the account whose claim counts.
    async fn find_claimed_device(
        &self,
        identifiers: &[String],
        counted: CountedClaims,
    ) -> Result<Option<Reporter>>;

    /// Whether there is only one account, whose owner then sees everything that is heard.
    async fn has_one_account(&self) -> Result<bool>;

    /// Stores a message with all it says in one transaction, and with its alerts what follows from them: events,
    /// notifications and escalations. An expired device is no failure: the message is stored and its contents are not.
    /// Fails with `NotFound` if the device no longer exists; the message is stored then too.
    async fn store_message(
        &self,
        reporter: &Reporter,
        message: NewMessage,
        contents: MessageContents,
    ) -> Result<StoredMessage>;

    /// Stores a request with all it says of its devices in one transaction. Gives the result of each device:
    /// `DeviceExpired` or `NotFound` concern it alone. A request with more than a transaction may take is stored in
    /// several, its message in the last.
    async fn store_request(&self, request: NewRequest) -> Result<Vec<Result<StoredContents>>>;

    /// Records which protocol a device speaks.
    async fn set_protocol(&self, reporter: &Reporter, protocol: &'static str) -> Result<()>;

    /// Records the model that a device's messages told.
    async fn set_reported_model(&self, reporter: &Reporter, model: &str) -> Result<()>;

    /// Records the time zone that is proposed for a device, in minutes ahead of UTC, or that none is.
    async fn set_proposed_zone(&self, reporter: &Reporter, minutes: Option<i32>) -> Result<()>;

    /// Lists messages of devices in the scope, newest first, with the beginning of their bytes; messages without a device are only in the scope of a whole
    /// account. Examines a bounded number of messages, so that a page may have fewer items than asked for although there
    /// are more.
    async fn list_messages(
        &self,
        scope: Scope,
        filter: &MessageFilter,
        page: PageRequest,
    ) -> Result<Page<RawMessage>>;

    /// Remembers unknown devices, within the bounds of [`HeardDevice`].
    async fn save_heard(&self, reports: Vec<HeardReport>) -> Result<()>;

    /// Notifies of an SOS that is no alert, once in a while for each identifier: the people of the account, or operators if
    /// there is none. Gives whether somebody was notified.
    async fn announce_sos(&self, account: Option<AccountId>, notice: SosNotice) -> Result<bool>;

    /// Lists unknown devices: those of an account's gateways, or of the listeners that all accounts share. Newest first.
    async fn list_heard(&self, account: Option<AccountId>) -> Result<Vec<HeardDevice>>;

    /// Removes up to `limit` devices that were heard and have been claimed since, and gives what was kept of them, oldest
    /// first. Each is given to one caller only.
    async fn take_claimed(
        &self,
        limit: u32,
        counted: CountedClaims,
    ) -> Result<Vec<(Reporter, Vec<HeardMessage>)>>;

    /// Finds the device of a stored message: the one it was stored for, or else the device of its account that has its
    /// identifier now.
    async fn find_message_device(&self, message: &RawMessage) -> Result<Option<Reporter>>;

    /// Changes device, result and error of a stored message. Gives whether it is still there.
    async fn set_message_result(&self, message: &RawMessage) -> Result<bool>;

    /// Gives the next messages of an earlier version that are searched for missing alerts; `None` once the search is
    /// complete. A bounded number of messages and bytes.
    async fn next_searched_messages(&self) -> Result<Option<SearchedMessages>>;

    /// Saves that these messages were searched.
    async fn finish_searched_messages(&self, searched: &SearchedMessages) -> Result<()>;

    /// Whether a device has an alert of this name within a time range.
    async fn has_alert_within(&self, reporter: &Reporter, name: &str, range: TimeRange) -> Result<bool>;

    /// Adds what a node kept of raw messages to the present day.
    async fn save_raw_usage(&self, usage: Vec<RawUsage>) -> Result<()>;

    /// The gateways and devices whose messages took the most room in the last [`RawUsage::DAYS`] days, those with the most
    /// bytes first.
    async fn list_raw_usage(&self) -> Result<Vec<RawUsage>>;

    /// Bytes of a message in the scope.
    async fn find_message_size(&self, scope: Scope, id: MessageId) -> Result<Option<u32>>;

    /// Finds a message in the scope.
    async fn find_message(&self, scope: Scope, id: MessageId) -> Result<Option<RawMessage>>;
}
