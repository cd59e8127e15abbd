//! The event log: everything that happened in an account, in arrival order.

use crate::id::{AccountId, DeviceId};
use crate::time::Timestamp;

macro_rules! event_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// What happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EventKind {
            $($(#[$doc])* $variant,)+
        }

        impl EventKind {
            /// Every kind there is.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in the API.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

event_kinds! {
    /// A location was stored.
    LocationCreated = "location.created",
    /// An alert was stored.
    AlertCreated = "alert.created",
    /// Somebody took note of an alert.
    AlertAcknowledged = "alert.acknowledged",
    /// An alert is over.
    AlertEnded = "alert.ended",
    /// A device was added.
    DeviceCreated = "device.created",
    /// A device was changed.
    DeviceUpdated = "device.updated",
    /// A device was deleted, with its history.
    DeviceDeleted = "device.deleted",
    /// A device will expire soon.
    DeviceExpiring = "device.expiring",
    /// A device expired and freed its licence.
    DeviceExpired = "device.expired",
    /// An expired device came back.
    DeviceReactivated = "device.reactivated",
    /// A device reports again.
    DeviceOnline = "device.online",
    /// A device is overdue.
    DeviceLate = "device.late",
    /// A device is overdue for long.
    DeviceOffline = "device.offline",
    /// A device reached its daily e-mails.
    LimitEmailReached = "limit.email.reached",
    /// A device reached its daily SMS.
    LimitSmsReached = "limit.sms.reached",
    /// A device could not become active for want of a licence.
    LicenseExhausted = "license.exhausted",
    /// A group was added.
    GroupCreated = "group.created",
    /// A group was changed.
    GroupUpdated = "group.updated",
    /// A group was deleted.
    GroupDeleted = "group.deleted",
    /// A user was added.
    UserCreated = "user.created",
    /// A user was changed.
    UserUpdated = "user.updated",
    /// A user was removed.
    UserDeleted = "user.deleted",
}

impl std::str::FromStr for EventKind {
    type Err = UnknownEventKind;

    fn from_str(text: &str) -> Result<Self, UnknownEventKind> {
        Self::ALL.iter().copied().find(|kind| kind.name() == text).ok_or(UnknownEventKind)
    }
}

/// A text that names no kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a kind of event")]
pub struct UnknownEventKind;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its place in the log.
    pub number: i64,
    /// The account it happened in.
    pub account: AccountId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: EventKind,
    /// The id of what it happened to.
    pub subject: String,
    /// The device it concerns, if one: decides who sees it.
    pub device: Option<DeviceId>,
    /// Figures that say more, for example the revision.
    pub data: serde_json::Value,
}
