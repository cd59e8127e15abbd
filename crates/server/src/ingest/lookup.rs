//! Finds the device of an identifier on listeners that all accounts share, with a cache of a few seconds.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::error::StoreError;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::id::DeviceId;
use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic};

use crate::cache::BoundedMap;

/// How long the device of an identifier is cached. A claimed or moved device is noticed after this time.
const REMEMBERED: Duration = Duration::from_secs(5);
/// Maximum number of cached identifiers.
const IDENTIFIERS_MAX: usize = 20_000;

/// The devices of identifiers on shared listeners.
pub struct DeviceLookup {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// Which claims decide the device of a report.
    counted_claims: CountedClaims,
    found: Mutex<BoundedMap<Vec<String>, Found>>,
    /// Times of changes of device settings on this node.
    changed: Mutex<BoundedMap<DeviceId, Monotonic>>,
}

/// A device that was looked up; `None` if there was none.
#[derive(Clone, Debug)]
struct Found {
    reporter: Option<Arc<Reporter>>,
    at: Monotonic,
}

impl DeviceLookup {
    /// A lookup with an empty cache.
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, counted_claims: CountedClaims) -> Self {
        Self {
            store,
            clock,
            counted_claims,
            found: Mutex::new(BoundedMap::new(IDENTIFIERS_MAX)),
            changed: Mutex::new(BoundedMap::new(IDENTIFIERS_MAX)),
        }
    }

    /// Which claims decide the device of a report.
    pub(super) const fn counted_claims(&self) -> CountedClaims {
        self.counted_claims
    }

    /// Whether a cached lookup is valid: it is recent, and its device was not changed since.
    fn is_current(&self, found: &Found, now: Monotonic) -> bool {
        let device = found.reporter.as_ref().map(|reporter| reporter.device);
        let changed = self.changed.lock();
        let changed = device.and_then(|device| changed.get(&device).copied());
        found.at.plus(REMEMBERED) > now && changed.is_none_or(|changed| changed < found.at)
    }

    /// Finds the device of one of these identifiers.
    pub async fn find(&self, identifiers: &[String]) -> Result<Option<Arc<Reporter>>, StoreError> {
        let now = self.clock.monotonic();
        if let Some(known) = self.found.lock().get(&identifiers.to_vec())
            && self.is_current(known, now)
        {
            return Ok(known.reporter.clone());
        }
        let reporter = self.store.find_claimed_device(identifiers, self.counted_claims).await?.map(Arc::new);
        let entry = Found { reporter: reporter.clone(), at: now };
        self.found.lock().insert(identifiers.to_vec(), entry, |found| found.at.plus(REMEMBERED) > now);
        Ok(reporter)
    }

    /// Invalidates these identifiers, because the store has newer data.
    pub fn invalidate(&self, identifiers: &[String]) {
        self.found.lock().remove(&identifiers.to_vec());
    }

    /// Invalidates a device whose settings have changed, so that its next message is decoded with the new ones. Other
    /// nodes notice after some seconds.
    pub fn invalidate_device(&self, device: DeviceId) {
        let now = self.clock.monotonic();
        let is_fresh = |changed: &Monotonic| changed.plus(REMEMBERED) > now;
        self.changed.lock().insert(device, now, is_fresh);
    }
}
