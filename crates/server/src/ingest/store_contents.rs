//! Stores the locations, alerts and emergency steps of a decoded request, which may come from several devices. The raw
//! message is stored by the caller.

use std::collections::BTreeMap;

use perigee_core::actor::Actor;
use perigee_core::error::StoreError;
use perigee_core::gateway::{MessageResult, Reporter};
use perigee_core::id::DeviceId;
use perigee_core::location::{Location, Outcome};
use perigee_core::time::Timestamp;
use perigee_gateways::Feed;

use super::contents::Contents;
use super::path::Ingest;
use super::reading::{Reading, reports};
use super::sos;

/// Locations of one transaction at most, so that others of the account do not wait long.
const LOCATIONS_PER_JOB: usize = 5_000;

/// What became of the contents of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stored {
    /// Whether a location or an alert is new.
    pub(super) is_new: bool,
    /// Devices that are not expired; what they sent is stored, now or before.
    pub(super) devices: usize,
    /// Devices that are expired.
    pub(super) expired: usize,
    /// Whether there was a location or an alert at all.
    pub(super) has_contents: bool,
}

impl Stored {
    /// The result of the message.
    pub(super) fn result(self) -> MessageResult {
        match self {
            Self { devices: 0, expired: 1.., .. } => MessageResult::ExpiredDevice,
            Self { devices: 0, .. } => MessageResult::UnknownDevice,
            Self { is_new: false, has_contents: true, .. } => MessageResult::Duplicate,
            _ => MessageResult::Decoded,
        }
    }
}

impl Ingest {
    /// Stores what a request says, device by device, and then the steps of emergencies in their order. It may be called
    /// again for the same request: what is stored already is not stored twice.
    pub(super) async fn store_contents(
        &self,
        feed: &'static Feed,
        reading: &Reading,
        at: Timestamp,
    ) -> Result<Stored, StoreError> {
        let mut by_device: BTreeMap<DeviceId, (&Reporter, Contents)> = BTreeMap::new();
        for (message, reporter) in reading.messages() {
            let Some(reporter) = reporter else { continue };
            let (_, contents) =
                by_device.entry(reporter.device).or_insert_with(|| (reporter, Contents::default()));
            contents.append(Contents::of(&reports(message), at));
        }
        let mut stored = Stored::default();
        let mut missing = Vec::new();
        for (device, (reporter, contents)) in by_device {
            stored.has_contents |= !contents.locations.is_empty() || !contents.alerts.is_empty();
            match self.store_device(feed, reporter, contents).await {
                Ok(is_new) => {
                    stored.is_new |= is_new;
                    stored.devices += 1;
                }
                Err(StoreError::DeviceExpired(_)) => {
                    stored.expired += 1;
                    missing.push(device);
                }
                // Deleted meanwhile.
                Err(StoreError::NotFound(_)) => missing.push(device),
                Err(error) => return Err(error),
            }
        }
        for (message, reporter) in reading.messages() {
            if let Some(reporter) = reporter.filter(|reporter| !missing.contains(&reporter.device)) {
                sos::follow(&*self.store, reporter, feed, message, at).await?;
            }
        }
        if let Some(reporter) = reading.reporters.iter().flatten().next() {
            self.announce(reporter.scope.account);
        }
        Ok(stored)
    }

    /// Stores what one device said; gives whether something is new.
    async fn store_device(
        &self,
        feed: &'static Feed,
        reporter: &Reporter,
        contents: Contents,
    ) -> Result<bool, StoreError> {
        let Contents { mut locations, alerts } = contents;
        let mut is_new = false;
        // At least once, so that the device counts as heard even if it sent no location.
        loop {
            let rest: Vec<Location> = locations.split_off(locations.len().min(LOCATIONS_PER_JOB));
            let outcomes = self.store.store_fixes(reporter, locations, feed.duplicate_rule()).await?;
            is_new |= outcomes.contains(&Outcome::Accepted);
            if rest.is_empty() {
                break;
            }
            locations = rest;
        }
        if !alerts.is_empty() {
            let submitted =
                self.store.store_alerts(&Actor::for_gateway(reporter), reporter.device, alerts).await?;
            is_new |= submitted.iter().any(|(outcome, _)| *outcome == Outcome::Accepted);
        }
        self.note_protocol(reporter, feed.name).await;
        Ok(is_new)
    }
}
