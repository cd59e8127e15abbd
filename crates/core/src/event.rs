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
    ($(#[doc = $description:literal] $variant:ident = $name:literal, $subject:ident;)+) => {
        /// What happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind {
            $(#[doc = $description] $variant,)+
        }

        impl EventKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The `type` of such events in the API.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// One sentence that says what happened, for the API's document.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $description,)+
                }
                .trim()
            }

            /// The kind of thing that `Event::subject` names.
            pub const fn subject(self) -> Subject {
                match self {
                    $(Self::$variant => Subject::$subject,)+
                }
            }
        }
    };
}

event_kinds! {
    /// A location was stored.
    LocationCreated = "location.created", Location;
    /// An alert was stored.
    AlertCreated = "alert.created", Alert;
    /// Somebody acknowledged an alert.
    AlertAcknowledged = "alert.acknowledged", Alert;
    /// An alert ended.
    AlertEnded = "alert.ended", Alert;
    /// A device was added.
    DeviceCreated = "device.created", Device;
    /// A device was changed.
    DeviceUpdated = "device.updated", Device;
    /// A device was deleted, with its history.
    DeviceDeleted = "device.deleted", Device;
    /// A device expires within the account's days of notice.
    DeviceExpiring = "device.expiring", Device;
    /// A device expired and freed its licence.
    DeviceExpired = "device.expired", Device;
    /// An expired device was extended and takes a licence again.
    DeviceReactivated = "device.reactivated", Device;
    /// A device reports again, or for the first time.
    DeviceOnline = "device.online", Device;
    /// A device is late: it has not reported for about two of its intervals.
    DeviceLate = "device.late", Device;
    /// A device is offline: it has not reported for about six of its intervals.
    DeviceOffline = "device.offline", Device;
    /// A device reached its daily limit of e-mails.
    LimitEmailReached = "limit.email.reached", Device;
    /// A device reached its daily limit of SMS.
    LimitSmsReached = "limit.sms.reached", Device;
    /// A device could not become active because no licence was free; told once a day.
    LicenseExhausted = "license.exhausted", Account;
    /// A group was added.
    GroupCreated = "group.created", Group;
    /// A group was changed.
    GroupUpdated = "group.updated", Group;
    /// A group was deleted.
    GroupDeleted = "group.deleted", Group;
    /// A user was added.
    UserCreated = "user.created", User;
    /// A user was changed.
    UserUpdated = "user.updated", User;
    /// A user was removed.
    UserDeleted = "user.deleted", User;
    /// A webhook was switched off because its receiver answered 410.
    WebhookDisabled = "webhook.disabled", Webhook;
}

/// The kind of thing that an event happened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A location, which is stored in the log itself.
    Location,
    /// An alert, read from the store with the event.
    Alert,
    /// A device, read from the store with the event.
    Device,
    /// A group, read from the store with the event.
    Group,
    /// A user, read from the store with the event.
    User,
    /// The account; only its id is told.
    Account,
    /// A webhook; only its id is told.
    Webhook,
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
