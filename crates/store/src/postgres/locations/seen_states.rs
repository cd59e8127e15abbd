//! The devices that this node has seen to have a state with their licence in `device_live`. The row is made once and
//! deleted with the device.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An account and a device of it.
type Key = (i64, i64);

/// Maximum number of remembered devices, about 40 bytes each. If there are more, all are dropped.
const DEVICES_MAX: usize = 500_000;

/// Devices that were seen to have the row, so that they need neither be locked nor read in `device`.
#[derive(Debug, Default)]
pub(super) struct SeenStates(Mutex<HashSet<Key>>);

impl SeenStates {
    fn devices(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Splits the devices into those that were seen to have the row, and the others.
    pub(super) fn split(&self, devices: BTreeSet<Key>) -> (BTreeSet<Key>, BTreeSet<Key>) {
        let known = self.devices();
        devices.into_iter().partition(|device| known.contains(device))
    }

    pub(super) fn add(&self, devices: Vec<Key>) {
        let mut known = self.devices();
        if known.len() >= DEVICES_MAX {
            known.clear();
        }
        known.extend(devices);
    }

    pub(super) fn remove(&self, devices: &[Key]) {
        let mut known = self.devices();
        for device in devices {
            known.remove(device);
        }
    }
}
