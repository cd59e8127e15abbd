//! Errors of a store: those that a caller can act on, and an opaque rest.

use crate::devices::command::CommandState;
use crate::devices::conversation::TextState;
use crate::id::{AccountId, AssignmentId, DeviceId};
use crate::plans::RefusedAction;
use crate::time::Timestamp;

/// Why a store operation failed. Nothing was changed unless the variant documents otherwise.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The object does not exist, belongs to another account or is outside the caller's scope.
    #[error("{0} not found")]
    NotFound(Kind),
    /// The object was changed since the revision that the caller read.
    #[error("{0} was changed in the meantime")]
    RevisionMismatch(Kind),
    /// A value that must be unique is in use.
    #[error("{0} is taken")]
    Taken(Unique),
    /// Every licence of the account is used.
    #[error("no licence is free in account {0}")]
    LicenseExhausted(AccountId),
    /// The account cannot have fewer licences than it uses.
    #[error("{used} licences are in use")]
    LicensesInUse {
        /// How many devices are active now.
        used: u32,
    },
    /// A user of the account is an operator of the server, who must not be locked out.
    #[error("a user of the account is an operator of the server")]
    HasOperator,
    /// The account is being purged, so its deletion cannot be undone.
    #[error("the account is being purged")]
    AccountPurging,
    /// The device has expired and accepts no data.
    #[error("device {0} has expired")]
    DeviceExpired(DeviceId),
    /// The user has created as many devices as allowed (`adminDevices`).
    #[error("the user may create at most {0} devices")]
    AdminDevicesExhausted(u32),
    /// The change would leave the account without an active owner.
    #[error("the account would have no active owner")]
    LastOwner,
    /// Another object refers to the object, so it cannot be deleted.
    #[error("{0} is in use")]
    InUse(Kind),
    /// The caller can see the object, but it also concerns devices outside the caller's scope, so the caller cannot
    /// change it.
    #[error("{0} also concerns devices outside the caller's scope")]
    OutOfReach(Kind),
    /// The account has reached the maximum number of these objects.
    #[error("the account already has {most} objects of the kind {kind}, the maximum")]
    TooMany {
        /// The kind of object.
        kind: Kind,
        /// The maximum per account.
        most: u32,
    },
    /// The geofences of the account would have more positions in total than the maximum.
    #[error("the geofences of an account may have at most {0} positions in total")]
    TooManyPositions(u32),
    /// The input refers to an object that the account does not have.
    #[error("{kind} {id} does not exist")]
    UnknownReference {
        /// The kind of object referred to.
        kind: Kind,
        /// The id as the client sent it.
        id: String,
    },
    /// The device has another driver at that time.
    #[error("the device is assigned to {} from {} on", .0.driver_name, .0.from)]
    Assigned(Box<Overlap>),
    /// Another driver of the account has this key tag.
    #[error("driver {driver_name} has the key tag {tag}")]
    TagTaken {
        /// The tag, in the form in which tags are compared.
        tag: String,
        /// The name of its owner.
        driver_name: String,
    },
    /// The idempotency key was used with another request.
    #[error("the idempotency key was used with another request")]
    IdempotencyMismatch,
    /// The notification was already sent and is not sent twice.
    #[error("the notification was already sent")]
    AlreadySent,
    /// The command is no longer queued, so it cannot be cancelled.
    #[error("the command is {}", .0.name())]
    NotQueued(CommandState),
    /// The message of a conversation is no longer queued, so it cannot be cancelled.
    #[error("the message is {}", .0.name())]
    TextNotQueued(TextState),
    /// The state of a plan does not permit the action.
    #[error("{0}")]
    PlanRefused(RefusedAction),
    /// The device, or the account, has as many messages of a day as a provider may bill.
    #[error("{most} messages were sent within 24 hours, the maximum of the {kind}")]
    TooManyBilled {
        /// The device or the account.
        kind: Kind,
        /// The maximum in any 24 hours.
        most: u32,
    },
    /// The cursor points to events that are no longer stored.
    #[error("the cursor points to events that are no longer stored")]
    CursorExpired,
    /// The store is not available; nothing was changed, and a retry is safe.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The commit was sent and not confirmed: the change may or may not be stored.
    #[error("the store did not confirm the change")]
    Unknown(#[source] Cause),
    /// Anything else: a bug or a broken store. Only for the log.
    #[error("the store failed")]
    Internal(#[source] Cause),
}

/// An assignment that overlaps another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The other assignment.
    pub assignment: AssignmentId,
    /// The name of its driver.
    pub driver_name: String,
    /// Its beginning.
    pub from: Timestamp,
    /// Its end, if it has one.
    pub to: Option<Timestamp>,
}

/// The cause behind a failure, for the log.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A kind of object, as named in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tenant of the service.
    Account,
    /// A user of an account.
    User,
    /// A tracker of an account.
    Device,
    /// A named set of devices.
    Group,
    /// A stored report of a device's position.
    Location,
    /// A stored alert of a device.
    Alert,
    /// A note that a person wrote about an alert.
    AlertNote,
    /// A public link to a device or group.
    Share,
    /// A message to one recipient by one channel.
    Notification,
    /// The routing of alerts for a device, a group or an account.
    AlertRouting,
    /// The notification settings of an account.
    Messaging,
    /// The settings of an account's overview report.
    Overview,
    /// The text of a kind of message.
    Template,
    /// A URL that receives events.
    Webhook,
    /// A delivery to a webhook.
    Delivery,
    /// A named set of recipients of alerts.
    ContactGroup,
    /// A browser that a user subscribed to notifications.
    PushSubscription,
    /// The watch list of a user.
    WatchList,
    /// The preferences of a user for the console.
    Preferences,
    /// A rule that raises alerts.
    Rule,
    /// An area, a circle or a corridor.
    Geofence,
    /// An address to which a satellite network or a phone sends messages.
    Gateway,
    /// A raw message of a tracker or a satellite network.
    Message,
    /// A command to a device.
    Command,
    /// A message of a conversation with a device.
    ConversationMessage,
    /// A photo or another file that a device uploaded.
    File,
    /// A trip, stop or gap of a timeline.
    Segment,
    /// A correction of a timeline by hand.
    TimelineEdit,
    /// The settings of timelines for a device, a group or an account.
    TimelineSettings,
    /// A report with a name.
    SavedReport,
    /// A plan of maintenance of a device.
    MaintenancePlan,
    /// A record of maintenance that was done.
    MaintenanceRecord,
    /// A plan of a voyage, a shift or a hike.
    Plan,
    /// A traveller's link to a plan.
    PlanLink,
    /// A person who drives devices.
    Driver,
    /// An assignment of a driver to a device.
    Assignment,
    /// A session, link or key that proves the identity of a user.
    Credential,
    /// A notice for operators of the server.
    Notice,
    /// A map that the server copies from elsewhere.
    Map,
}

impl Kind {
    /// The word used in messages, in lower case.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::User => "user",
            Self::Device => "device",
            Self::Group => "group",
            Self::Location => "location",
            Self::Alert => "alert",
            Self::AlertNote => "alert note",
            Self::Share => "share link",
            Self::Notification => "notification",
            Self::AlertRouting => "alert routing",
            Self::Messaging => "notification settings",
            Self::Overview => "overview report",
            Self::Template => "template",
            Self::Webhook => "webhook",
            Self::Delivery => "delivery",
            Self::ContactGroup => "contact group",
            Self::PushSubscription => "push subscription",
            Self::WatchList => "watch list",
            Self::Preferences => "preferences",
            Self::Rule => "rule",
            Self::Geofence => "geofence",
            Self::Gateway => "gateway",
            Self::Message => "raw message",
            Self::Command => "command",
            Self::ConversationMessage => "conversation message",
            Self::File => "file",
            Self::Segment => "segment",
            Self::TimelineEdit => "timeline edit",
            Self::TimelineSettings => "timeline settings",
            Self::SavedReport => "saved report",
            Self::MaintenancePlan => "maintenance plan",
            Self::MaintenanceRecord => "maintenance record",
            Self::Plan => "plan",
            Self::PlanLink => "link of a plan",
            Self::Driver => "driver",
            Self::Assignment => "driver assignment",
            Self::Credential => "credential",
            Self::Notice => "notice",
            Self::Map => "map",
        }
    }
}

impl Kind {
    /// Whether its word is a plural.
    pub const fn is_plural(self) -> bool {
        matches!(self, Self::Messaging | Self::Preferences | Self::TimelineSettings)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// A value that must be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unique {
    /// A user's e-mail address, on the whole server.
    Email,
    /// A device's identifier, within the account.
    Identifier,
}

impl std::fmt::Display for Unique {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Email => "email",
            Self::Identifier => "identifier",
        })
    }
}
