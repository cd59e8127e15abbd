//! Devices that no account has: remembered until the next save, with their SOS.

use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::store::Store;
use perigee_core::time::Clock;

use super::heard::{HeardDevices, UnknownDevice};
use super::sos::SosSign;
use crate::access::RateLimits;

/// The unknown devices of this node.
pub struct Strangers {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    rates: Arc<RateLimits>,
    heard: HeardDevices,
}

impl Strangers {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, rates: Arc<RateLimits>) -> Self {
        Self { store, clock, rates, heard: HeardDevices::default() }
    }

    /// Remembers an unknown device, unless its address reports too many. Its SOS on a shared listener is recorded
    /// before this returns; on a gateway it is recorded with its message.
    pub async fn note(&self, unknown: UnknownDevice<'_>, sos: Option<SosSign>) -> Result<(), StoreError> {
        let UnknownDevice { identifier, source, peer, .. } = unknown;
        self.remember(unknown);
        let Some(sos) = sos.filter(|_| self.heard.awaits_sos(identifier)) else { return Ok(()) };
        self.store.record_sos(sos.of_unknown(identifier, source, &peer.to_string())).await?;
        self.heard.sos_recorded(identifier);
        Ok(())
    }

    /// Remembers an unknown device, unless its address reports too many.
    pub(super) fn remember(&self, unknown: UnknownDevice<'_>) {
        if self.heard.knows(unknown.account, unknown.identifier)
            || self.rates.unknown_device(unknown.peer.ip())
        {
            self.heard.note(unknown, self.clock.now());
        }
    }

    /// Saves the unknown devices that were heard.
    pub async fn save(&self) -> Result<(), StoreError> {
        let reports = self.heard.take();
        if reports.is_empty() { Ok(()) } else { self.store.save_heard(reports).await }
    }
}
