//! A user: their profile, privileges and scope.

mod bounds;

pub use bounds::Bound;

use serde::{Deserialize, Serialize};

use crate::access::actor::Reach;
use crate::access::preference::ConsoleLanguage;
use crate::access::privilege::Privileges;
use crate::accounts::country::Country;
use crate::id::{AccountId, DeviceId, GroupId, UserId};
use crate::revision::Revision;
use crate::text::{Email, Tags};
use crate::time::Timestamp;
use crate::zone::Zone;

/// A person or integration that signs in, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Assigned by the service; never changes.
    pub id: UserId,
    /// The account they belong to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub profile: UserProfile,
    /// Whether the user is an operator of the server. Only the command line can set it.
    pub operator: bool,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed them.
    pub modification: Timestamp,
    /// When they last signed in.
    pub last_login: Option<Timestamp>,
}

/// The settings of a user that a client can change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserProfile {
    /// Shown in lists and in the audit log.
    pub name: String,
    /// E-mail address for signing in, unique on the server; `userName` in the API.
    pub email: Email,
    /// Country of the user; only owners created on the command line have none.
    pub country: Option<Country>,
    /// Time zone of times shown to the user.
    pub time_zone: Zone,
    /// Language of their mails and console, chosen by the user or by the person who invited them. Stored with their
    /// preferences.
    #[serde(default)]
    pub language: Option<ConsoleLanguage>,
    /// Free text for administrators.
    pub description: Option<String>,
    /// A message that the console shows to the user.
    pub message: Option<String>,
    /// Whether the user is blocked from everything.
    pub disabled: bool,
    /// The message for a blocked user.
    pub disabled_message: Option<String>,
    /// Labels as key and value, chosen by clients.
    pub tags: Tags,
    /// Empty for a user who may only read.
    pub privileges: Privileges,
    /// If set, the user sees only this group.
    pub group: Option<GroupId>,
    /// If set, the user sees only this device, whatever `group` is.
    pub device: Option<DeviceId>,
    /// How many devices created by this user may exist; `None` for no limit.
    pub admin_devices: Option<u32>,
    /// The user is refused before this instant.
    pub from: Option<Timestamp>,
    /// The user is refused from this instant on.
    pub expires: Option<Timestamp>,
}

impl UserProfile {
    /// The largest value of `admin_devices`.
    pub const ADMIN_DEVICES_MAX: u32 = 1_000_000;

    /// The language of e-mails to them: the chosen one, or the usual one of their country.
    pub fn mail_language(&self) -> ConsoleLanguage {
        self.language.unwrap_or_else(|| ConsoleLanguage::of_country(self.country))
    }

    /// How much of the account the user sees.
    pub fn reach(&self) -> Reach {
        match (self.device, self.group) {
            (Some(device), _) => Reach::Device(device),
            (None, Some(group)) => Reach::Group(group),
            (None, None) => Reach::Account,
        }
    }

    /// Whether the user may sign in at this instant.
    pub fn status(&self, now: Timestamp) -> UserStatus {
        if self.disabled {
            UserStatus::Disabled
        } else if self.from.is_some_and(|from| now < from) {
            UserStatus::NotYetValid
        } else if self.expires.is_some_and(|expires| now >= expires) {
            UserStatus::Expired
        } else {
            UserStatus::Active
        }
    }

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 16] {
        [
            ("name", self.name != before.name),
            // Compared as text: a change of letter case alone also counts.
            ("email", self.email.as_str() != before.email.as_str()),
            ("country", self.country != before.country),
            ("timeZone", self.time_zone != before.time_zone),
            ("language", self.language != before.language),
            ("description", self.description != before.description),
            ("message", self.message != before.message),
            ("disabled", self.disabled != before.disabled),
            ("disabledMessage", self.disabled_message != before.disabled_message),
            ("tags", self.tags != before.tags),
            ("privileges", self.privileges != before.privileges),
            ("group", self.group != before.group),
            ("deviceId", self.device != before.device),
            ("adminDevices", self.admin_devices != before.admin_devices),
            ("from", self.from != before.from),
            ("expires", self.expires != before.expires),
        ]
    }

    /// Whether this is an owner of the whole account, active now and without an expiry.
    pub fn is_lasting_owner(&self, now: Timestamp) -> bool {
        self.privileges.is_owner()
            && self.status(now) == UserStatus::Active
            && self.expires.is_none()
            && self.reach() == Reach::Account
    }
}

/// Whether a user may sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserStatus {
    /// The user may sign in.
    Active,
    /// The user was disabled by an administrator.
    Disabled,
    /// The user's `from` is in the future.
    NotYetValid,
    /// The user's `expires` has passed.
    Expired,
}

/// A user to be created.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The settings from the client.
    pub profile: UserProfile,
    /// Argon2 hash of the password; without one the user needs an invitation.
    pub password_hash: Option<String>,
}

/// Which users to list.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// Part of the name, address or description, in any letter case.
    pub text: Option<String>,
    /// Only users limited to this group.
    pub group: Option<GroupId>,
    /// Only users with this tag, as key and value.
    pub tag: Option<(String, String)>,
}
