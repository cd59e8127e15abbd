//! Contacts: people who are notified of alerts and need not be users, and named groups of them.

use serde::{Deserialize, Serialize};

use crate::id::{AccountId, ContactGroupId};
use crate::notifications::routing::{Destination, Preferences};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A person by one channel. Somebody with a mailbox and a telephone is two contacts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// Channel and address of the person.
    pub destination: Destination,
    /// How messages to them are written.
    pub preferences: Preferences,
}

/// A named group of contacts, as stored. Routings and rules name it by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactGroup {
    /// Assigned by the service; never changes.
    pub id: ContactGroupId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: ContactGroupSettings,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// The settings of a contact group that a client can change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactGroupSettings {
    /// Shown where the group is named, for example "Night watch".
    pub name: String,
    /// Contacts to notify, in the order of the client.
    pub contacts: Vec<Contact>,
}

impl ContactGroup {
    /// Maximum number of contact groups of an account.
    pub const COUNT_MAX: u32 = 200;
}

impl ContactGroupSettings {
    /// Maximum number of contacts of a group.
    pub const CONTACTS_MAX: usize = 50;

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 2] {
        [("name", self.name != before.name), ("contacts", self.contacts != before.contacts)]
    }
}
