//! A cache of the devices of identifiers, as last looked up.
//!
//! An entry may be outdated: another node may have changed the identifier since. The commit that uses it checks under the
//! lock of the account that the device still has the identifier.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perigee_core::id::{AccountId, DeviceId};

/// Identifiers of a generation. Two generations of them take about 40 MB.
const GENERATION_MAX: usize = 250_000;

/// Devices by account and identifier. When the recent generation is full, it replaces the older one, so that the
/// identifiers in use stay.
#[derive(Debug, Default)]
pub(crate) struct DeviceNames(Mutex<Generations>);

#[derive(Debug, Default)]
struct Generations {
    recent: Generation,
    older: Generation,
}

#[derive(Debug, Default)]
struct Generation {
    accounts: HashMap<AccountId, HashMap<Box<str>, DeviceId>>,
    count: usize,
}

impl DeviceNames {
    fn generations(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, account: AccountId, identifier: &str) -> Option<DeviceId> {
        let mut generations = self.generations();
        if let Some(device) = generations.recent.get(account, identifier) {
            return Some(device);
        }
        let device = generations.older.get(account, identifier)?;
        generations.put(account, identifier, device);
        Some(device)
    }

    pub(crate) fn put(&self, account: AccountId, identifier: &str, device: DeviceId) {
        self.generations().put(account, identifier, device);
    }
}

impl Generations {
    fn put(&mut self, account: AccountId, identifier: &str, device: DeviceId) {
        if self.recent.count >= GENERATION_MAX {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.put(account, identifier, device);
    }
}

impl Generation {
    fn get(&self, account: AccountId, identifier: &str) -> Option<DeviceId> {
        self.accounts.get(&account)?.get(identifier).copied()
    }

    fn put(&mut self, account: AccountId, identifier: &str, device: DeviceId) {
        let before = self.accounts.entry(account).or_default().insert(identifier.into(), device);
        self.count += usize::from(before.is_none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_in_use_stay_and_the_number_is_bounded() {
        let names = DeviceNames::default();
        let (account, other) = (AccountId::from_i64(1), AccountId::from_i64(2));
        names.put(account, "used", DeviceId::from_i64(7));
        for number in 0..3 * GENERATION_MAX {
            names.put(other, &number.to_string(), DeviceId::from_i64(1));
            if number % 100_000 == 0 {
                assert_eq!(names.get(account, "used"), Some(DeviceId::from_i64(7)), "{number}");
            }
        }
        assert_eq!(names.get(other, "0"), None);
        assert_eq!(names.get(other, "used"), None);
        let generations = names.generations();
        assert!(generations.recent.count <= GENERATION_MAX && generations.older.count <= GENERATION_MAX);
    }

    #[test]
    fn the_latest_device_replaces_the_one_before() {
        let (names, account) = (DeviceNames::default(), AccountId::from_i64(1));
        for device in [7, 8].map(DeviceId::from_i64) {
            names.put(account, "tracker", device);
            assert_eq!(names.get(account, "tracker"), Some(device));
        }
        assert_eq!(names.generations().recent.count, 1);
    }
}
