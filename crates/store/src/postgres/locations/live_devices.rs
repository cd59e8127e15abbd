//! Which devices have a row in `device_live`, as far as this node has seen. The row is made once and deleted with the device.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use perigee_core::id::{AccountId, DeviceId};

/// Devices that are remembered, with about 40 bytes each. When there are more, all are forgotten.
const DEVICES_MAX: usize = 500_000;

/// Devices that were seen to have the row, so that they need no lock in `device`.
#[derive(Debug, Default)]
pub(super) struct LiveDevices(Mutex<HashSet<(i64, i64)>>);

impl LiveDevices {
    fn devices(&self) -> MutexGuard<'_, HashSet<(i64, i64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of the devices that were not seen to have the row.
    pub(super) fn others(&self, devices: &BTreeSet<(i64, i64)>) -> BTreeSet<(i64, i64)> {
        let known = self.devices();
        devices.iter().copied().filter(|device| !known.contains(device)).collect()
    }

    pub(super) fn add<'d>(&self, devices: impl Iterator<Item = &'d (AccountId, DeviceId)>) {
        let mut known = self.devices();
        if known.len() >= DEVICES_MAX {
            known.clear();
        }
        known.extend(devices.map(|(account, device)| (account.as_i64(), device.as_i64())));
    }

    pub(super) fn forget(&self) {
        self.devices().clear();
    }
}
