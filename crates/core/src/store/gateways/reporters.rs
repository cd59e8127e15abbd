//! Devices by the identifiers under which they report, and devices that no account has.

use async_trait::async_trait;

use crate::gateways::claim::CountedClaims;
use crate::gateways::gateway::{HeardDevice, HeardMessage, HeardReport, RawMessage, Reporter};
use crate::id::AccountId;
use crate::store::Result;

/// Methods of the store for devices that report.
#[async_trait]
pub trait Reporters: Send + Sync {
    /// Finds the device that reports under one of these identifiers, which are tried in order, on a listener that all
    /// accounts share: an identifier there belongs to the account whose claim counts.
    async fn find_claimed_device(
        &self,
        identifiers: &[String],
        counted: CountedClaims,
    ) -> Result<Option<Reporter>>;

    /// Finds the device of a stored message: the one it was stored for, or else the device of its account that has its
    /// identifier now.
    async fn find_message_device(&self, message: &RawMessage) -> Result<Option<Reporter>>;

    /// Whether there is only one account. Its owner then sees all unknown devices.
    async fn has_one_account(&self) -> Result<bool>;

    /// Records the protocol of a device.
    async fn set_protocol(&self, reporter: &Reporter, protocol: &'static str) -> Result<()>;

    /// Records the model reported in a device's messages.
    async fn set_reported_model(&self, reporter: &Reporter, model: &str) -> Result<()>;

    /// Records the time zone that is proposed for a device, in minutes ahead of UTC, or that none is.
    async fn set_proposed_zone(&self, reporter: &Reporter, minutes: Option<i32>) -> Result<()>;

    /// Saves unknown devices, within the bounds of [`HeardDevice`].
    async fn save_heard(&self, reports: Vec<HeardReport>) -> Result<()>;

    /// Lists unknown devices, newest first: those of an account's gateways, or of the listeners that all accounts
    /// share.
    async fn list_heard(&self, account: Option<AccountId>) -> Result<Vec<HeardDevice>>;

    /// Removes up to `limit` unknown devices that have been claimed since, and returns their kept messages, oldest
    /// first. Each is returned to only one caller.
    async fn take_claimed(
        &self,
        limit: u32,
        counted: CountedClaims,
    ) -> Result<Vec<(Reporter, Vec<HeardMessage>)>>;
}
