//! Storage that raw messages use, by gateway and device.

use crate::id::{AccountId, DeviceId, GatewayId};
use crate::time::Timestamp;

/// When a raw message is stored, in addition to the locations that were read from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// In any case.
    #[default]
    Always,
    /// If it was read and stored something new.
    IfUsed,
    /// Never; only its decoded content is stored.
    Never,
}

/// Raw messages of one gateway or device, stored and not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawUsage {
    /// The account that the messages belong to.
    pub account: AccountId,
    /// The gateway that received the messages; `None` for a listener.
    pub gateway: Option<GatewayId>,
    /// The device that sent the messages; `None` if it is unknown, or if they were received by a gateway.
    pub device: Option<DeviceId>,
    /// Number of messages that were stored.
    pub kept: u64,
    /// Size of the stored messages, in bytes.
    pub kept_bytes: u64,
    /// Size of the messages that stored nothing new, in bytes: duplicates, tests, unreadable ones, and those whose
    /// device is unknown or expired.
    pub unused_bytes: u64,
    /// Number of messages that were not stored because of a quota or a full disk. Their locations were stored.
    pub dropped: u64,
    /// Size of the messages that were not stored, in bytes.
    pub dropped_bytes: u64,
}

/// Raw messages that all nodes have stored since midnight UTC, of one sender or of a whole account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredToday {
    /// The account that the messages belong to.
    pub account: AccountId,
    /// Gateway and device, as in [`RawUsage`]; `None` for the sum of the account.
    pub sender: Option<(Option<GatewayId>, Option<DeviceId>)>,
    /// Midnight UTC.
    pub since: Timestamp,
    /// When the sums were read.
    pub at: Timestamp,
    /// Number of messages.
    pub kept: u64,
    /// Their size in bytes.
    pub kept_bytes: u64,
    /// Size of those that stored nothing new, in bytes.
    pub unused_bytes: u64,
}

/// Raw messages of one gateway or device, with the name of the account for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUsage {
    /// Name of the account that the messages belong to.
    pub account_name: String,
    /// Of the last [`RawUsage::DAYS`] days.
    pub usage: RawUsage,
}

impl RawUsage {
    /// Days for which usage is kept.
    pub const DAYS: i64 = 30;
    /// Maximum number of gateways and devices in a list.
    pub const LISTED_MAX: u32 = 100;

    /// No messages of a gateway or device.
    pub const fn none(account: AccountId, gateway: Option<GatewayId>, device: Option<DeviceId>) -> Self {
        Self {
            account,
            gateway,
            device,
            kept: 0,
            kept_bytes: 0,
            unused_bytes: 0,
            dropped: 0,
            dropped_bytes: 0,
        }
    }
}
