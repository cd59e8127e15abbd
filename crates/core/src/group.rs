//! A group: a named set of devices.

use serde::{Deserialize, Serialize};

use crate::id::{AccountId, DeviceId, GroupId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A named set of devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its id.
    pub id: GroupId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// What a client sets.
    pub settings: GroupSettings,
    /// When it was made.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// What a client sets of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSettings {
    /// Its name.
    pub name: String,
    /// A note about it.
    pub description: Option<String>,
    /// The devices in it, ascending.
    pub devices: Vec<DeviceId>,
}

impl GroupSettings {
    /// Devices a group may have.
    pub const DEVICES_MAX: usize = 10_000;

    /// The members in which it differs from what was before, by their names in the API.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 3] {
        [
            ("name", self.name != before.name),
            ("description", self.description != before.description),
            ("devices", self.devices != before.devices),
        ]
    }
}

/// Which groups to list.
#[derive(Clone, Debug, Default)]
pub struct GroupFilter {
    /// Part of the name or description, in any case.
    pub text: Option<String>,
}
