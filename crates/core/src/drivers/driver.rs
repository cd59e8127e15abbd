//! A person who drives devices.

use serde::{Deserialize, Serialize};

use super::DriverTag;
use crate::id::{AccountId, DriverId, UserId};
use crate::revision::Revision;
use crate::text::Email;
use crate::time::Timestamp;

/// A driver, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Driver {
    /// Assigned by the service; never changes.
    pub id: DriverId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: DriverSettings,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// The settings of a driver that a client can change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverSettings {
    /// Shown in lists, on trips and in reports. Need not be unique.
    pub name: String,
    /// Telephone number, in any form; nothing is sent to it.
    pub phone: Option<String>,
    /// Address for people to write to; nothing is sent to it.
    pub email: Option<Email>,
    /// The user of the account who is this person.
    pub user: Option<UserId>,
    /// Key tags of the driver, ascending. No other driver of the account has any of them.
    pub tags: Vec<DriverTag>,
    /// Free text for people.
    pub description: Option<String>,
}

/// Conditions that listed drivers fulfil.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriverFilter {
    /// Only drivers with this text in name, telephone number, e-mail address, description or a tag, in any letter case.
    pub text: Option<String>,
}

impl Driver {
    /// Maximum number of drivers of an account.
    pub const COUNT_MAX: u32 = 10_000;
}

impl DriverSettings {
    /// Maximum number of key tags of a driver.
    pub const TAGS_MAX: usize = 20;
    /// Maximum number of characters of a name: it is stored with each trip.
    pub const NAME_MAX: usize = 100;

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 6] {
        [
            ("name", self.name != before.name),
            ("phone", self.phone != before.phone),
            // Equal addresses can differ in letter case.
            ("email", self.email.as_ref().map(Email::as_str) != before.email.as_ref().map(Email::as_str)),
            ("userId", self.user != before.user),
            ("tags", self.tags != before.tags),
            ("description", self.description != before.description),
        ]
    }
}
