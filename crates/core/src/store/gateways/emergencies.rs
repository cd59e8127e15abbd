//! SOS of devices that no account has, and alerts that earlier versions lost.

use async_trait::async_trait;

use crate::alerts::sos_notice::SosNotice;
use crate::gateways::gateway::Reporter;
use crate::gateways::message_contents::SearchedMessages;
use crate::locations::location::TimeRange;
use crate::store::Result;

/// Methods of the store for emergencies without an alert.
#[async_trait]
pub trait Emergencies: Send + Sync {
    /// Records an SOS of an unknown device on a listener that all accounts share, whose message is not stored. Once
    /// this returns, operators are notified of the SOS even after a crash.
    async fn record_sos(&self, notice: SosNotice) -> Result<()>;

    /// Announces every recorded SOS that did not become an alert, each once: notifies the users of the account and the
    /// operators, unless they were notified of the same identifier recently or of too many on this day. Returns how
    /// many this node announced.
    async fn announce_recorded_sos(&self) -> Result<u64>;

    /// Returns the next messages of an earlier version to search for missing alerts, bounded in number and bytes;
    /// `None` once the search is complete.
    async fn next_searched_messages(&self) -> Result<Option<SearchedMessages>>;

    /// Saves that these messages were searched.
    async fn finish_searched_messages(&self, searched: &SearchedMessages) -> Result<()>;

    /// Whether a device has an alert of this name within a time range.
    async fn has_alert_within(&self, reporter: &Reporter, name: &str, range: TimeRange) -> Result<bool>;
}
