//! What was last read of devices that report: whether they are in sight of whoever submits, and their licence.
//!
//! It holds until anything else is written. The writer thread alone changes what it rests on, so it forgets after
//! every job that does not say it leaves this untouched, and when another process has written.

use std::collections::HashMap;

use perigee_core::actor::Scope;
use perigee_core::device::DeviceRef;
use perigee_core::id::DeviceId;
use perigee_core::license::License;
use perigee_core::time::Timestamp;

/// Devices remembered at the most.
const MOST: usize = 100_000;

/// A device that is in sight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    /// Its licence.
    pub(crate) license: License,
    /// The latest instant a licence of its account was decided at.
    pub(crate) decided_at: Timestamp,
}

/// The devices in sight of scopes.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    known: HashMap<(Scope, DeviceId), Fact>,
    named: HashMap<Scope, HashMap<String, DeviceId>>,
    names: usize,
    epoch: u64,
}

impl Facts {
    /// Changes whenever something was forgotten: what was read before may be out of date.
    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn get(&self, scope: Scope, device: DeviceId) -> Option<Fact> {
        self.known.get(&(scope, device)).copied()
    }

    /// Remembers what was read in this epoch.
    pub(crate) fn put(&mut self, epoch: u64, scope: Scope, device: DeviceId, fact: Fact) {
        if epoch != self.epoch {
            return;
        }
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert((scope, device), fact);
    }

    /// The device in sight that is called so by its own identifier.
    pub(crate) fn named(&self, scope: Scope, device: &DeviceRef) -> Option<DeviceId> {
        match device {
            DeviceRef::Id(id) => self.get(scope, *id).map(|_| *id),
            DeviceRef::Identifier(identifier) => self.named.get(&scope)?.get(identifier).copied(),
        }
    }

    /// Remembers what a device was found to be called in this epoch.
    pub(crate) fn put_name(&mut self, epoch: u64, scope: Scope, device: &DeviceRef, id: DeviceId) {
        let DeviceRef::Identifier(identifier) = device else { return };
        if epoch != self.epoch {
            return;
        }
        if self.names >= MOST {
            self.named.clear();
            self.names = 0;
        }
        self.names +=
            usize::from(self.named.entry(scope).or_default().insert(identifier.clone(), id).is_none());
    }

    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.named.clear();
        self.names = 0;
        self.epoch += 1;
    }
}
