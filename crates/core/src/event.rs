//! The event log: everything that happened in an account, in arrival order.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::alert::StoredAlert;
use crate::device::Device;
use crate::group::Group;
use crate::id::{AccountId, DeviceId, GroupId, WebhookId};
use crate::location::StoredLocation;
use crate::time::Timestamp;
use crate::user::User;

macro_rules! event_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// What happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// A webhook was switched off because its address is gone.
    WebhookDisabled = "webhook.disabled",
}

impl Serialize for EventKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for EventKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
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
    /// What it happened to.
    pub thing: Thing,
}

/// What an event happened to: a location as it was received, anything else as it is when the event is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Thing {
    /// Nothing that could be shown, or something that is gone by now.
    Gone,
    /// A location.
    Location(Box<StoredLocation>),
    /// An alert.
    Alert(Box<StoredAlert>),
    /// A device; of its groups those in sight.
    Device(Box<Device>),
    /// A group.
    Group(Box<Group>),
    /// A user.
    User(Box<User>),
}

/// Which events are wanted of those in sight. An empty set wants everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EventFilter {
    /// Of these kinds.
    pub kinds: BTreeSet<EventKind>,
    /// About these devices, or those of the groups.
    pub devices: BTreeSet<DeviceId>,
    /// About these groups and the devices in them.
    pub groups: BTreeSet<GroupId>,
    /// Whether new alerts are wanted only where their routing names the reader.
    #[serde(default)]
    pub alerts_by_routing: bool,
    /// The reader, as routings name it: new alerts that do are wanted whatever else is said here.
    #[serde(skip)]
    pub reader: Option<WebhookId>,
}

impl EventFilter {
    /// Whether events of this kind are wanted.
    pub fn wants_kind(&self, kind: EventKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether only events about some devices or groups are wanted.
    pub fn is_about_some(&self) -> bool {
        !self.devices.is_empty() || !self.groups.is_empty()
    }
}

/// A part of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    /// The events wanted, in arrival order.
    pub events: Vec<Event>,
    /// Up to which number the log was looked at: where to go on, also when there was nothing.
    pub next: i64,
}
