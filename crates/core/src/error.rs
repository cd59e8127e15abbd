//! What a store can fail with: the causes a caller can act on, and an opaque rest.

use crate::id::{AccountId, DeviceId};

/// Why a store did not do what it was asked. Nothing was changed unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The thing does not exist, belongs to another account or lies outside the asker's reach.
    #[error("{0} not found")]
    NotFound(Kind),
    /// The thing was changed since the revision the caller had seen.
    #[error("{0} was changed meanwhile")]
    RevisionMismatch(Kind),
    /// A value that must be unique is in use.
    #[error("{0} is taken")]
    Taken(Unique),
    /// Every licence of the account is used.
    #[error("no licence is free in account {0}")]
    LicenseExhausted(AccountId),
    /// An account's licences cannot be fewer than it uses.
    #[error("{used} licences are in use")]
    LicensesInUse {
        /// How many devices are active now.
        used: u32,
    },
    /// The device is expired and takes no data.
    #[error("device {0} is expired")]
    DeviceExpired(DeviceId),
    /// The user has made as many devices as it may.
    #[error("the user may create at most {0} devices")]
    AdminDevicesExhausted(u32),
    /// The change would leave the account without an owner who can act.
    #[error("the account would be left without an owner")]
    LastOwner,
    /// Something else rests on this thing, so it cannot go.
    #[error("{0} is in use")]
    InUse(Kind),
    /// The thing is in sight, and so is something of it that reaches beyond what the asker may change.
    #[error("{0} reaches beyond the asker's scope")]
    OutOfReach(Kind),
    /// The account has as many of these as it may.
    #[error("no more than {most} of {kind}")]
    TooMany {
        /// Of what.
        kind: Kind,
        /// How many there may be.
        most: u32,
    },
    /// A reference inside the given values names nothing the account has.
    #[error("{kind} {id} does not exist")]
    UnknownReference {
        /// What was looked for.
        kind: Kind,
        /// The id as it was given.
        id: String,
    },
    /// The idempotency key was used with another request.
    #[error("the idempotency key was used with another request")]
    IdempotencyMismatch,
    /// The message was sent, so that it cannot be sent again.
    #[error("the notification was sent")]
    AlreadySent,
    /// The cursor points before what is still kept.
    #[error("the cursor points before what is kept")]
    CursorExpired,
    /// The store cannot do it at present; trying again later is safe.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The store was told to keep it and did not confirm that: it may be kept or not.
    #[error("the store did not confirm the change")]
    Unknown(#[source] Cause),
    /// Anything else: a defect or a broken store. For the log only.
    #[error("the store failed")]
    Internal(#[source] Cause),
}

/// The cause behind a failure, for the log.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A kind of thing, as errors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An account.
    Account,
    /// A user.
    User,
    /// A device.
    Device,
    /// A group.
    Group,
    /// A location.
    Location,
    /// An alert.
    Alert,
    /// A share link.
    Share,
    /// A message to one person.
    Notification,
    /// Whom alerts go to.
    AlertRouting,
    /// What an account allows to be sent.
    Messaging,
    /// What an account's report tells, and to whom.
    Overview,
    /// What messages say.
    Template,
    /// A webhook.
    Webhook,
    /// A delivery to a webhook.
    Delivery,
    /// A rule that raises alerts.
    Rule,
    /// An area, a circle or a corridor.
    Geofence,
    /// A session, link or key that proves who somebody is.
    Credential,
}

impl Kind {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::User => "user",
            Self::Device => "device",
            Self::Group => "group",
            Self::Location => "location",
            Self::Alert => "alert",
            Self::Share => "share",
            Self::Notification => "notification",
            Self::AlertRouting => "alert routing",
            Self::Messaging => "notification settings",
            Self::Overview => "overview report",
            Self::Template => "template",
            Self::Webhook => "webhook",
            Self::Delivery => "delivery",
            Self::Rule => "rule",
            Self::Geofence => "geofence",
            Self::Credential => "credential",
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// A value that may stand once only.
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
