//! Connections of one device: a tracker has one, and some more that it lost and the server does not know of yet. A further one
//! displaces the oldest.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perigee_core::id::DeviceId;
use tokio_util::sync::CancellationToken;

/// Connections that a device may have.
const MOST: usize = 8;

/// The connections of all known devices.
#[derive(Debug, Default)]
pub(super) struct DevicePlaces(Mutex<HashMap<DeviceId, VecDeque<CancellationToken>>>);

/// The place of one connection, given back when it is dropped.
#[derive(Debug)]
pub(super) struct DevicePlace {
    all: Arc<DevicePlaces>,
    /// The device that the connection named.
    pub(super) device: DeviceId,
    /// Cancelled when the device has too many newer connections.
    pub(super) displaced: CancellationToken,
}

impl DevicePlaces {
    /// A place for one more connection of a device.
    pub(super) fn take(self: &Arc<Self>, device: DeviceId) -> DevicePlace {
        let displaced = CancellationToken::new();
        let mut all = self.lock();
        let held = all.entry(device).or_default();
        held.push_back(displaced.clone());
        if held.len() > MOST
            && let Some(oldest) = held.pop_front()
        {
            oldest.cancel();
        }
        DevicePlace { all: Arc::clone(self), device, displaced }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<DeviceId, VecDeque<CancellationToken>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DevicePlace {
    fn drop(&mut self) {
        // What was displaced is not in the list, and what is dropped is not cancelled by anybody else.
        self.displaced.cancel();
        let mut all = self.all.lock();
        if let Some(held) = all.get_mut(&self.device) {
            held.retain(|place| !place.is_cancelled());
            if held.is_empty() {
                all.remove(&self.device);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_connection_of_a_device_is_displaced() {
        let all = Arc::new(DevicePlaces::default());
        let (device, other) = (DeviceId::from_i64(1), DeviceId::from_i64(2));
        let alone = all.take(other);
        let mut places: Vec<DevicePlace> = (0..MOST + 2).map(|_| all.take(device)).collect();
        let displaced = places.iter().map(|place| place.displaced.is_cancelled());
        assert_eq!(displaced.take_while(|is_displaced| *is_displaced).count(), 2);
        assert!(!alone.displaced.is_cancelled());
        drop(places.pop());
        let _new = all.take(device);
        assert!(!places[2].displaced.is_cancelled(), "there was room again");
        drop(places);
        assert_eq!(all.lock().len(), 2);
    }
}
