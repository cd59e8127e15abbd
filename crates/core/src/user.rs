//! A user: somebody who signs in, what they may do and how much they see.

mod bounds;

pub use bounds::Bound;

use serde::{Deserialize, Serialize};

use crate::actor::Reach;
use crate::country::Country;
use crate::id::{AccountId, DeviceId, GroupId, UserId};
use crate::privilege::Privileges;
use crate::revision::Revision;
use crate::text::{Email, Tags};
use crate::time::Timestamp;
use crate::zone::Zone;

/// Somebody who signs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// The account they belong to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// What a client sets.
    pub profile: UserProfile,
    /// May see the operator's pages and set licences; set by command alone.
    pub operator: bool,
    /// When they were added.
    pub creation: Timestamp,
    /// When a client last changed them.
    pub modification: Timestamp,
    /// When they last signed in.
    pub last_login: Option<Timestamp>,
}

/// What a client sets of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserProfile {
    /// Their name.
    pub name: String,
    /// Their address, unique on the server; the `userName` of the API.
    pub email: Email,
    /// Their country; only an owner made by command may have none.
    pub country: Option<Country>,
    /// Their zone, for what is shown to them.
    pub time_zone: Zone,
    /// A note about them.
    pub description: Option<String>,
    /// A message shown to them.
    pub message: Option<String>,
    /// Whether they are shut out.
    pub disabled: bool,
    /// What they are told then.
    pub disabled_message: Option<String>,
    /// Free labels.
    pub tags: Tags,
    /// What they may do.
    pub privileges: Privileges,
    /// The only group they see.
    pub group: Option<GroupId>,
    /// The only device they see; stronger than the group.
    pub device: Option<DeviceId>,
    /// How many devices made by them may exist.
    pub admin_devices: Option<u32>,
    /// Not valid before.
    pub from: Option<Timestamp>,
    /// Not valid from then on.
    pub expires: Option<Timestamp>,
}

impl UserProfile {
    /// The largest `admin_devices`.
    pub const ADMIN_DEVICES_MAX: u32 = 1_000_000;

    /// The part of the account they see.
    pub fn reach(&self) -> Reach {
        match (self.device, self.group) {
            (Some(device), _) => Reach::Device(device),
            (None, Some(group)) => Reach::Group(group),
            (None, None) => Reach::Account,
        }
    }

    /// Whether they may do anything at this instant.
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

    /// The members in which it differs from what was before, by their names in the API.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 15] {
        [
            ("name", self.name != before.name),
            // A change of letter case alone is one too.
            ("email", self.email.as_str() != before.email.as_str()),
            ("country", self.country != before.country),
            ("timeZone", self.time_zone != before.time_zone),
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

    /// Whether this is an owner who can act for the account from this instant on, without end.
    pub fn is_lasting_owner(&self, now: Timestamp) -> bool {
        self.privileges.is_owner()
            && self.status(now) == UserStatus::Active
            && self.expires.is_none()
            && self.reach() == Reach::Account
    }
}

/// Whether a user may do anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserStatus {
    /// They may.
    Active,
    /// Somebody shut them out.
    Disabled,
    /// Their validity has not begun.
    NotYetValid,
    /// Their validity is over.
    Expired,
}

/// A user to be added.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// What the client set.
    pub profile: UserProfile,
    /// Their password, hashed; without one they need an invitation.
    pub password_hash: Option<String>,
}

/// Which users to list.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// Part of the name, address or description, in any case.
    pub text: Option<String>,
    /// Bound to this group.
    pub group: Option<GroupId>,
    /// Carrying this tag.
    pub tag: Option<(String, String)>,
}
