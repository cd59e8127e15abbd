//! A group: a named set of devices.

use serde::{Deserialize, Serialize};

use crate::id::{AccountId, DeviceId, GroupId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A named set of devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Assigned by the service; never changes.
    pub id: GroupId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: GroupSettings,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// The settings of a group that a client can change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSettings {
    /// Shown in lists and filters; need not be unique.
    pub name: String,
    /// Free text for people.
    pub description: Option<String>,
    /// The devices in the group, ascending by id.
    pub devices: Vec<DeviceId>,
}

impl GroupSettings {
    /// Maximum number of devices of a group.
    pub const DEVICES_MAX: usize = 10_000;
    /// Maximum number of devices that are added and removed in one transaction. Larger changes are written in several.
    pub const SMALL_CHANGE_MAX: usize = 250;

    /// The number of devices that were added or removed since `before`.
    pub fn devices_changed(&self, before: &Self) -> usize {
        let only = |of: &[DeviceId], in_other: &[DeviceId]| {
            of.iter().filter(|device| in_other.binary_search(device).is_err()).count()
        };
        only(&self.devices, &before.devices) + only(&before.devices, &self.devices)
    }

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
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
    /// Part of the name or description, in any letter case.
    pub text: Option<String>,
}
