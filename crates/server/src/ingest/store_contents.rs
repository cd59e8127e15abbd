//! Stores the content of a decoded request, which may concern several devices, in one transaction.

use std::collections::BTreeMap;

use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::{MessageResult, Reporter};
use perigee_core::gateways::message_contents::{MessageContents, NewRequest, RequestMessage};
use perigee_core::id::{AccountId, DeviceId};
use perigee_gateways::Feed;

use super::contents::contents_of;
use super::feed_body::FeedSettings;
use super::path::Ingest;
use super::reading::{Reading, reports};
use super::sos::{SosSign, step_of};
use super::texts::text_of;

/// The result of storing the contents of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stored {
    /// Whether a location, an alert or a step of an emergency is new.
    pub(super) is_new: bool,
    /// Devices that are not expired; their content is stored, now or before.
    pub(super) devices: usize,
    /// Devices that are expired.
    pub(super) expired: usize,
    /// Whether there was anything to store.
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
    /// Stores the content of a request, and the request itself unless the caller does. It may be called again for the
    /// same request: nothing is stored twice.
    pub(super) async fn store_contents(
        &self,
        account: AccountId,
        settings: &FeedSettings,
        reading: &Reading,
        message: Option<RequestMessage>,
    ) -> Result<Stored, StoreError> {
        self.store_devices(account, settings.feed, contents_by_device(settings, reading), message).await
    }

    /// The same, given the content of the request for each device.
    pub(super) async fn store_devices(
        &self,
        account: AccountId,
        feed: &'static Feed,
        devices: Vec<(Reporter, MessageContents)>,
        message: Option<RequestMessage>,
    ) -> Result<Stored, StoreError> {
        let mut stored = Stored {
            has_contents: devices.iter().any(|(_, contents)| !contents.is_empty()),
            ..Stored::default()
        };
        let reporters: Vec<Reporter> = devices.iter().map(|(reporter, _)| reporter.clone()).collect();
        let duplicate_rule = feed.duplicate_rule();
        let request = NewRequest { account, message, duplicate_rule, devices, is_past: false };
        let results = self.store.store_request(request).await?;
        for (reporter, result) in reporters.into_iter().zip(results) {
            match result {
                Ok(contents) => {
                    stored.is_new |= contents.is_new();
                    stored.devices += 1;
                    self.decodings.note_protocol(&reporter, feed.name).await;
                }
                Err(StoreError::DeviceExpired(_)) => stored.expired += 1,
                // Deleted meanwhile.
                Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(stored)
    }
}

/// The content of a request for each device that was found.
pub(super) fn contents_by_device(
    settings: &FeedSettings,
    reading: &Reading,
) -> Vec<(Reporter, MessageContents)> {
    let mut by_device: BTreeMap<DeviceId, (&Reporter, MessageContents)> = BTreeMap::new();
    for (message, reporter) in reading.messages() {
        let Some(reporter) = reporter else { continue };
        let (_, contents) =
            by_device.entry(reporter.device).or_insert_with(|| (reporter, MessageContents::default()));
        contents.append(contents_of(&reports(message), settings.at));
        if let Some(sign) = SosSign::of_message(message, settings.at) {
            contents.sos = Some(sign.of_expired(reporter, settings.feed.name, ""));
        }
        contents.texts.extend(text_of(settings.feed.name, message, settings.at));
        contents.steps.extend(step_of(settings.feed, message, settings.at));
    }
    by_device.into_values().map(|(reporter, contents)| (reporter.clone(), contents)).collect()
}
