//! The event log: all changes and locations of an account, in order of arrival.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::access::user::User;
use crate::alerts::alert::StoredAlert;
use crate::devices::command::Command;
use crate::devices::conversation::ConversationMessage;
use crate::devices::device::Device;
use crate::drivers::Driver;
use crate::groups::group::Group;
use crate::id::{AccountId, DeviceId, GroupId, WebhookId};
use crate::locations::location::StoredLocation;
use crate::time::Timestamp;
use crate::timeline::StoredSegment;

macro_rules! event_kinds {
    ($(#[doc = $description:literal] $variant:ident = $name:literal, $subject:ident;)+) => {
        /// The type of an event.
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

            /// One sentence about the cause of such events, for the OpenAPI document.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $description,)+
                }
                .trim()
            }

            /// The kind of object that `Event::subject` names.
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
    /// An alert was acknowledged.
    AlertAcknowledged = "alert.acknowledged", Alert;
    /// An alert got a position, because a later location of its emergency arrived.
    AlertUpdated = "alert.updated", Alert;
    /// An alert was ended by a user, its rule or its device.
    AlertEnded = "alert.ended", Alert;
    /// A device was created.
    DeviceCreated = "device.created", Device;
    /// A device was updated.
    DeviceUpdated = "device.updated", Device;
    /// A device was deleted, with its history.
    DeviceDeleted = "device.deleted", Device;
    /// A device expires within the `expiryNoticeDays` of the account.
    DeviceExpiring = "device.expiring", Device;
    /// A device expired and freed its licence.
    DeviceExpired = "device.expired", Device;
    /// An expired device was reactivated and uses a licence again.
    DeviceReactivated = "device.reactivated", Device;
    /// A device reports again, or for the first time.
    DeviceOnline = "device.online", Device;
    /// A device is late: it has not reported for about two reporting intervals.
    DeviceLate = "device.late", Device;
    /// A device is offline: it has not reported for about six reporting intervals.
    DeviceOffline = "device.offline", Device;
    /// A command was queued for a device.
    CommandQueued = "command.queued", Command;
    /// A command was sent to a device.
    CommandSent = "command.sent", Command;
    /// A device answered a command.
    CommandAnswered = "command.answered", Command;
    /// A command could not be sent, or was cancelled.
    CommandFailed = "command.failed", Command;
    /// A command was not sent before its deadline.
    CommandExpired = "command.expired", Command;
    /// A text of a device arrived.
    ConversationReceived = "conversation.received", ConversationMessage;
    /// A user sent a text or a request for the position to a device.
    ConversationSent = "conversation.sent", ConversationMessage;
    /// The state of a message to a device changed.
    ConversationChanged = "conversation.changed", ConversationMessage;
    /// A device reached its daily limit of e-mails.
    LimitEmailReached = "limit.email.reached", Device;
    /// A device reached its daily limit of SMS.
    LimitSmsReached = "limit.sms.reached", Device;
    /// A device could not become active because no licence was free. Recorded at most once a day.
    LicenseExhausted = "license.exhausted", Account;
    /// A group was created.
    GroupCreated = "group.created", Group;
    /// A group was updated.
    GroupUpdated = "group.updated", Group;
    /// A group was deleted.
    GroupDeleted = "group.deleted", Group;
    /// A driver was created.
    DriverCreated = "driver.created", Driver;
    /// A driver was updated, or an assignment of the driver was created, updated or deleted.
    DriverUpdated = "driver.updated", Driver;
    /// A driver was deleted.
    DriverDeleted = "driver.deleted", Driver;
    /// A user was created.
    UserCreated = "user.created", User;
    /// A user was updated.
    UserUpdated = "user.updated", User;
    /// A user was deleted.
    UserDeleted = "user.deleted", User;
    /// A webhook was disabled because its receiver answered 410.
    WebhookDisabled = "webhook.disabled", Webhook;
    /// An SOS arrived from a device that is not registered or has expired.
    SosUnregistered = "sos.unregistered", Account;
    /// A trip began: the device left the position of a stop.
    TripStarted = "trip.started", Trip;
    /// A trip ended with a stop or a gap.
    TripEnded = "trip.ended", Trip;
    /// A trip was corrected because of late or deleted locations, or its labels were set.
    TripChanged = "trip.changed", Trip;
    /// A trip was removed or joined with another because of late or deleted locations.
    TripRemoved = "trip.removed", Trip;
    /// A maintenance plan was created.
    MaintenanceCreated = "maintenance.created", Maintenance;
    /// The settings of a maintenance plan were changed.
    MaintenanceUpdated = "maintenance.updated", Maintenance;
    /// A maintenance plan was deleted.
    MaintenanceDeleted = "maintenance.deleted", Maintenance;
    /// The work of a maintenance plan is due soon.
    MaintenanceSoon = "maintenance.soon", Maintenance;
    /// The work of a maintenance plan is due.
    MaintenanceDue = "maintenance.due", Maintenance;
    /// The work of a maintenance plan was done, and the next cycle began.
    MaintenanceDone = "maintenance.done", Maintenance;
    /// A plan was created.
    PlanCreated = "plan.created", Plan;
    /// A plan was deleted.
    PlanDeleted = "plan.deleted", Plan;
    /// A plan was started.
    PlanStarted = "plan.started", Plan;
    /// A traveller of a plan checked in. Locations that are check-ins cause at most one event in 15 minutes.
    PlanCheckedIn = "plan.checkedIn", Plan;
    /// A check-in of a plan was missed.
    PlanMissed = "plan.missed", Plan;
    /// The critical alert of a missed check-in was raised.
    PlanOverdue = "plan.overdue", Plan;
    /// A plan was ended or cancelled.
    PlanEnded = "plan.ended", Plan;
    /// A plan was changed, paused, resumed or extended, or a missed check-in was withdrawn.
    PlanChanged = "plan.changed", Plan;
    /// A gateway was created.
    GatewayCreated = "gateway.created", Gateway;
    /// A gateway was updated.
    GatewayUpdated = "gateway.updated", Gateway;
    /// A gateway was deleted.
    GatewayDeleted = "gateway.deleted", Gateway;
    /// A gateway is late: no message arrived for about two of its usual intervals, or its provider does not answer.
    FeedLate = "feed.late", Gateway;
    /// A gateway or its provider refused requests because of wrong credentials. Recorded at most once an hour.
    FeedRefused = "feed.refused", Gateway;
}

/// The kind of object that an event concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A location, which is stored in the log itself.
    Location,
    /// An alert, read from the store with the event.
    Alert,
    /// A device, read from the store with the event.
    Device,
    /// A command to a device, read from the store with the event.
    Command,
    /// A message of a conversation, read from the store with the event.
    ConversationMessage,
    /// A group, read from the store with the event.
    Group,
    /// A user, read from the store with the event.
    User,
    /// A driver, read from the store with the event.
    Driver,
    /// The account; events have only its ID.
    Account,
    /// A webhook; events have only its ID.
    Webhook,
    /// A gateway; events have only its ID.
    Gateway,
    /// A trip, read from the store with the event.
    Trip,
    /// A maintenance plan; events have its ID, its device, its name and its state.
    Maintenance,
    /// A plan of a voyage, a shift or a hike; events have its ID, its first device, its name and its state.
    Plan,
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

/// One entry of the event log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its position in the log; later events have larger numbers.
    pub number: i64,
    /// The account it happened in.
    pub account: AccountId,
    /// When it was written, by the server's clock.
    pub at: Timestamp,
    /// The type of the event.
    pub kind: EventKind,
    /// The id of the object that changed.
    pub subject: String,
    /// The device it concerns, if any. Decides which scopes see the event.
    pub device: Option<DeviceId>,
    /// Further values, for example the revision.
    pub data: serde_json::Value,
    /// The object that changed, loaded when the event is read.
    pub object: EventObject,
}

/// The object of an event: a location as received, anything else in its state when the event is read.
#[derive(Clone, Debug, PartialEq)]
pub enum EventObject {
    /// The object was deleted since, or there is none.
    Absent,
    /// A stored location of a device.
    Location(Box<StoredLocation>),
    /// An alert of a device.
    Alert(Box<StoredAlert>),
    /// A device, listing only the groups in the reader's scope.
    Device(Box<Device>),
    /// A command to a device.
    Command(Box<Command>),
    /// A message of a conversation with a device.
    ConversationMessage(Box<ConversationMessage>),
    /// A group with its devices.
    Group(Box<Group>),
    /// A user of the account.
    User(Box<User>),
    /// A trip of a device.
    Trip(Box<StoredSegment>),
    /// A driver of the account.
    Driver(Box<Driver>),
}

/// Which events of the scope to read. An empty set means all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EventFilter {
    /// Only events of these types.
    pub kinds: BTreeSet<EventKind>,
    /// Only events about these devices, or about devices in `groups`.
    pub devices: BTreeSet<DeviceId>,
    /// Only events about these groups and the devices in them.
    pub groups: BTreeSet<GroupId>,
    /// Whether new alerts pass only if their routing names `reader`.
    #[serde(default)]
    pub alerts_by_routing: bool,
    /// The webhook that the events are read for. New alerts routed to it pass whatever the other fields are.
    #[serde(skip)]
    pub reader: Option<WebhookId>,
}

impl EventFilter {
    /// Whether events of this type pass the filter.
    pub fn wants_kind(&self, kind: EventKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether the filter names devices or groups.
    pub fn is_about_some(&self) -> bool {
        !self.devices.is_empty() || !self.groups.is_empty()
    }
}

/// A page of the event log.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    /// The events that passed the filter, in order of arrival.
    pub events: Vec<Event>,
    /// The number up to which the log was read; continue from here, also if there were no events.
    pub next: i64,
}
