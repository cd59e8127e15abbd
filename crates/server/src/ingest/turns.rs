//! Turns of devices and accounts: one batch of a device is stored at a time, and a limited number of messages of an
//! account, however many connections send them. Others then wait only for a commit of limited size.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::id::{AccountId, DeviceId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Messages of one account that are stored at the same time. A commit of as many takes some milliseconds.
const MESSAGES_PER_ACCOUNT: u32 = 512;
/// Number of entries above which unused ones are removed.
const SWEEP_ABOVE: usize = 1_024;

/// The devices and accounts that are storing at present.
#[derive(Debug, Default)]
pub(super) struct Turns {
    devices: Lanes<DeviceId>,
    accounts: Lanes<AccountId>,
}

/// The right to store a batch, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _device: Option<OwnedSemaphorePermit>,
    _account: Option<OwnedSemaphorePermit>,
}

#[derive(Debug)]
struct Lanes<K>(Mutex<HashMap<K, Weak<Semaphore>>>);

impl<K> Default for Lanes<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash> Lanes<K> {
    fn of(&self, key: K, size: u32) -> Arc<Semaphore> {
        let mut lanes = self.0.lock();
        if let Some(lane) = lanes.get(&key).and_then(Weak::upgrade) {
            return lane;
        }
        if lanes.len() >= SWEEP_ABOVE {
            lanes.retain(|_, lane| lane.strong_count() > 0);
        }
        let lane = Arc::new(Semaphore::new(usize::try_from(size).unwrap_or(1)));
        lanes.insert(key, Arc::downgrade(&lane));
        lane
    }
}

impl Turns {
    /// Waits until no other batch of the device is being stored and the account has room for this many messages. First
    /// come, first served.
    pub(super) async fn take(&self, reporter: &Reporter, messages: usize) -> Turn {
        let device = self.devices.of(reporter.device, 1).acquire_owned().await.ok();
        let account = self.accounts.of(reporter.scope.account, MESSAGES_PER_ACCOUNT);
        let messages = u32::try_from(messages).unwrap_or(u32::MAX).clamp(1, MESSAGES_PER_ACCOUNT);
        Turn { _device: device, _account: account.acquire_many_owned(messages).await.ok() }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt as _;
    use perigee_core::access::actor::Scope;
    use perigee_core::gateways::decoding::Decoding;

    use super::*;

    fn reporter(account: i64, device: i64) -> Reporter {
        Reporter {
            scope: Scope::for_gateway(AccountId::from_i64(account)),
            device: DeviceId::from_i64(device),
            identifier: String::new(),
            model: None,
            reported_model: None,
            decoding: Decoding::default(),
            proposed_zone_minutes: None,
            proof: None,
        }
    }

    #[tokio::test]
    async fn a_device_waits_for_itself_and_an_account_for_its_messages() {
        let turns = Turns::default();
        let (first, second, stranger) = (reporter(1, 1), reporter(1, 2), reporter(2, 3));
        let turn = turns.take(&first, 500).await;
        let mut same_device = pin!(turns.take(&first, 1));
        assert!(same_device.as_mut().now_or_never().is_none());
        let mut same_account = pin!(turns.take(&second, 50));
        assert!(same_account.as_mut().now_or_never().is_none());
        assert!(turns.take(&stranger, 10_000).now_or_never().is_some(), "another account does not wait");
        drop(turn);
        same_device.await;
        same_account.await;
    }

    #[test]
    fn lanes_that_nobody_uses_are_removed() {
        let lanes = Lanes::default();
        for key in 0..10 * SWEEP_ABOVE {
            drop(lanes.of(key, 1));
        }
        assert!(lanes.0.lock().len() <= SWEEP_ABOVE);
    }
}
