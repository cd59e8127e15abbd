//! Watch lists: the alerts that users choose to be notified of, in addition to the routings that others set.

use serde::{Deserialize, Serialize};

use crate::alerts::severity::Severity;
use crate::id::{DeviceId, GroupId};
use crate::revision::Revision;
use crate::rules::schedule::Schedule;
use crate::time::Timestamp;

/// The alerts that a user wants to be notified of by e-mail, in the language and time zone of their console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchList {
    /// Whether the list is in use.
    pub enabled: bool,
    /// Whether it covers every device that the user can see.
    pub all_devices: bool,
    /// Devices that it covers, ascending by id.
    pub devices: Vec<DeviceId>,
    /// Groups whose devices it covers, ascending by id.
    pub groups: Vec<GroupId>,
    /// Only alerts of this severity or higher.
    pub minimum_severity: Severity,
    /// Hours in which the user is notified; `None` for always.
    pub schedule: Option<Schedule>,
}

/// The watch list of a user, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredWatchList {
    /// Counts the changes; 0 if never set.
    pub revision: Revision,
    /// The list; if never set, the default, which is not enabled.
    pub list: WatchList,
    /// When it was last changed, if ever.
    pub last_modified: Option<Timestamp>,
}

impl WatchList {
    /// Maximum number of devices, and of groups, in a list.
    pub const NAMED_MAX: usize = 1_000;

    /// Whether the list is enabled and covers a device in these groups. Does not check that the user can see the
    /// device.
    pub fn covers(&self, device: DeviceId, groups: &[GroupId]) -> bool {
        self.enabled
            && (self.all_devices
                || self.devices.binary_search(&device).is_ok()
                || groups.iter().any(|group| self.groups.binary_search(group).is_ok()))
    }
}

impl Default for WatchList {
    fn default() -> Self {
        Self {
            enabled: false,
            all_devices: true,
            devices: Vec::new(),
            groups: Vec::new(),
            minimum_severity: Severity::Warning,
            schedule: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_covers_what_it_names() {
        let (device, group) = (DeviceId::from_i64(5), GroupId::from_i64(9));
        let named = |devices: &[DeviceId], groups: &[GroupId]| WatchList {
            enabled: true,
            all_devices: false,
            devices: devices.to_vec(),
            groups: groups.to_vec(),
            ..WatchList::default()
        };
        assert!(named(&[device], &[]).covers(device, &[]));
        assert!(named(&[], &[group]).covers(device, &[group]));
        assert!(!named(&[], &[group]).covers(device, &[]));
        assert!(!WatchList::default().covers(device, &[]), "nobody is notified without having asked");
        assert!(WatchList { enabled: true, ..WatchList::default() }.covers(device, &[]));
    }
}
