//! A cache of the devices that submit: whether they are visible to the submitter, and their licence.
//!
//! An entry is valid until a job changes the columns that it was read from. The writer thread alone commits such
//! changes. It invalidates the cache after every job that ran such a statement (see `device_writes`), and when another
//! process has written to the file.

use std::collections::HashMap;

use perigee_core::access::actor::Scope;
use perigee_core::accounts::license::License;
use perigee_core::devices::device::DeviceRef;
use perigee_core::id::DeviceId;
use perigee_core::time::Timestamp;

/// Number of devices, or of identifiers, at which all of them are removed from the cache.
const ENTRIES_MAX: usize = 100_000;

/// A cached device that a scope can see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedDevice {
    pub(crate) license: License,
    /// The latest instant at which a licence of its account was decided.
    pub(crate) decided_at: Timestamp,
}

/// Devices by the scope that sees them, and their ids by identifier.
#[derive(Debug, Default)]
pub(crate) struct DeviceCache {
    devices: HashMap<(Scope, DeviceId), CachedDevice>,
    ids: HashMap<Scope, HashMap<String, DeviceId>>,
    /// Identifiers in `ids`, summed over all scopes.
    id_count: usize,
    epoch: u64,
}

impl DeviceCache {
    /// Rises with every invalidation. A reader notes it before its snapshot begins and passes it to [`Self::put`].
    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn get(&self, scope: Scope, device: DeviceId) -> Option<CachedDevice> {
        self.devices.get(&(scope, device)).copied()
    }

    /// Adds what was read since this epoch; does nothing if the cache was invalidated meanwhile.
    pub(crate) fn put(&mut self, epoch: u64, scope: Scope, device: DeviceId, cached: CachedDevice) {
        if epoch != self.epoch {
            return;
        }
        if self.devices.len() >= ENTRIES_MAX {
            self.devices.clear();
        }
        self.devices.insert((scope, device), cached);
    }

    /// The id of a device that the scope can see, given its id or its identifier.
    pub(crate) fn find_id(&self, scope: Scope, device: &DeviceRef) -> Option<DeviceId> {
        match device {
            DeviceRef::Id(id) => self.get(scope, *id).map(|_| *id),
            DeviceRef::Identifier(identifier) => self.ids.get(&scope)?.get(identifier).copied(),
        }
    }

    /// Adds the id found for an identifier since this epoch.
    pub(crate) fn put_id(&mut self, epoch: u64, scope: Scope, device: &DeviceRef, id: DeviceId) {
        let DeviceRef::Identifier(identifier) = device else { return };
        if epoch != self.epoch {
            return;
        }
        if self.id_count >= ENTRIES_MAX {
            self.ids.clear();
            self.id_count = 0;
        }
        self.id_count +=
            usize::from(self.ids.entry(scope).or_default().insert(identifier.clone(), id).is_none());
    }

    pub(crate) fn invalidate(&mut self) {
        self.devices.clear();
        self.ids.clear();
        self.id_count = 0;
        self.epoch += 1;
    }
}
