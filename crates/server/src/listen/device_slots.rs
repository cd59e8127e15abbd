//! Limits the connections of one device. A tracker has one connection, and possibly lost ones that the server has not
//! noticed yet. A connection beyond the limit displaces the oldest.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::id::DeviceId;
use tokio_util::sync::CancellationToken;

/// Maximum number of connections of a device.
const MOST: usize = 8;

/// The connections of all known devices.
#[derive(Debug, Default)]
pub(super) struct DeviceSlots(Mutex<HashMap<DeviceId, VecDeque<CancellationToken>>>);

/// The slot of one connection, returned when it is dropped.
#[derive(Debug)]
pub(super) struct DeviceSlot {
    all: Arc<DeviceSlots>,
    /// The device of the connection.
    pub(super) device: DeviceId,
    /// Cancelled when the device has too many newer connections.
    pub(super) displaced: CancellationToken,
}

impl DeviceSlots {
    /// A slot for one more connection of a device.
    pub(super) fn take(self: &Arc<Self>, device: DeviceId) -> DeviceSlot {
        let displaced = CancellationToken::new();
        let mut all = self.0.lock();
        let held = all.entry(device).or_default();
        held.push_back(displaced.clone());
        if held.len() > MOST
            && let Some(oldest) = held.pop_front()
        {
            oldest.cancel();
        }
        DeviceSlot { all: Arc::clone(self), device, displaced }
    }
}

impl Drop for DeviceSlot {
    fn drop(&mut self) {
        // Marks this slot, so that it is removed from the list below. A displaced slot was removed before.
        self.displaced.cancel();
        let mut all = self.all.0.lock();
        if let Some(held) = all.get_mut(&self.device) {
            held.retain(|slot| !slot.is_cancelled());
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
        let all = Arc::new(DeviceSlots::default());
        let (device, other) = (DeviceId::from_i64(1), DeviceId::from_i64(2));
        let alone = all.take(other);
        let mut slots: Vec<DeviceSlot> = (0..MOST + 2).map(|_| all.take(device)).collect();
        let displaced = slots.iter().map(|slot| slot.displaced.is_cancelled());
        assert_eq!(displaced.take_while(|is_displaced| *is_displaced).count(), 2);
        assert!(!alone.displaced.is_cancelled());
        drop(slots.pop());
        let _new = all.take(device);
        assert!(!slots[2].displaced.is_cancelled(), "there was room again");
        drop(slots);
        assert_eq!(all.0.lock().len(), 2);
    }
}
