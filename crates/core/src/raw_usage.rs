//! How much room messages take that are kept as they came, by who sent them.

use crate::id::{AccountId, DeviceId, GatewayId};

/// When a message is stored beside what it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// In any case.
    #[default]
    Always,
    /// If it is read and says something that was not stored before.
    IfUsed,
    /// Not at all; what it says is stored.
    Never,
}

/// Messages of one gateway or device, kept and not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawUsage {
    /// The account that they were stored for.
    pub account: AccountId,
    /// The gateway that they came by; `None` for a listener.
    pub gateway: Option<GatewayId>,
    /// The device that sent them; `None` if it is not known, or if they came by a gateway.
    pub device: Option<DeviceId>,
    /// Messages that were kept.
    pub kept: u64,
    /// Their bytes.
    pub kept_bytes: u64,
    /// Bytes of those that stored nothing new: duplicates, tests, and those that cannot be read or whose device is unknown or
    /// expired.
    pub unused_bytes: u64,
    /// Messages that were not kept because of a quota or a full disk. What they say was stored.
    pub dropped: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
}

impl RawUsage {
    /// Days that usage is known for.
    pub const DAYS: i64 = 30;
    /// Gateways and devices that a list gives at most.
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
