//! Alerts that earlier versions lost: they were stored after their message, so that a crash in between could lose them.
//! Earlier messages are decoded once more, and missing alerts are stored.

use std::sync::Arc;

use perigee_core::gateways::gateway::{RawMessage, Reporter};
use perigee_core::gateways::message_contents::{MessageContents, NewRequest};
use perigee_core::locations::location::DuplicateRule;
use perigee_gateways::{find_feed, find_protocol};

use super::known_alerts::KnownAlerts;
use super::reprocess::{Reprocessing, unknown_gateway};
use crate::ingest::contents::{contents_of, valid_reports};
use crate::ingest::error::IngestError;
use crate::ingest::feed_body::{FeedBody, FeedSettings};
use crate::ingest::reading::options_of;
use crate::ingest::store_contents::contents_by_device;

/// Messages that are older than this, in milliseconds, notify nobody: their alerts are stored as ended.
const NOTIFIED_MS: i64 = 24 * 60 * 60 * 1000;
/// Messages that are older than this, in milliseconds, are not searched: steps of emergencies are kept for a month.
const SEARCHED_MS: i64 = 30 * 24 * 60 * 60 * 1000;

impl Reprocessing {
    /// Searches some earlier messages for missing alerts and stores those. Returns how many there were; `None` once all
    /// messages were searched. Several nodes may call it: nothing is stored twice.
    pub async fn store_missing_alerts(&self) -> Result<Option<usize>, IngestError> {
        let Some(searched) = self.ingest.store.next_searched_messages().await? else { return Ok(None) };
        let mut stored = 0;
        for message in &searched.messages {
            if message.received_at.plus_millis(SEARCHED_MS) > self.ingest.clock.now() {
                stored += self.store_missing_of(message).await?;
            }
        }
        self.ingest.store.finish_searched_messages(&searched).await?;
        Ok(Some(stored))
    }

    async fn store_missing_of(&self, message: &RawMessage) -> Result<usize, IngestError> {
        let mut devices = Vec::new();
        for (reporter, contents) in self.alerts_of(message).await? {
            let missing =
                KnownAlerts::of(&*self.ingest.store, message, &reporter).removed_from(contents).await?;
            if !missing.is_empty() {
                devices.push((reporter, missing));
            }
        }
        if devices.is_empty() {
            return Ok(0);
        }
        let request = NewRequest {
            account: message.account,
            message: None,
            duplicate_rule: DuplicateRule::Content,
            devices,
            is_past: message.received_at.plus_millis(NOTIFIED_MS) <= self.ingest.clock.now(),
        };
        let stored = self.ingest.store.store_request(request).await?;
        Ok(stored.iter().flatten().filter(|contents| contents.is_new()).count())
    }

    /// The alerts and emergency steps of a stored message, by device. None for a deleted device.
    async fn alerts_of(&self, message: &RawMessage) -> Result<Vec<(Reporter, MessageContents)>, IngestError> {
        let mut devices = if let Some(protocol) = find_protocol(&message.source) {
            let Some(reporter) = self.ingest.store.find_message_device(message).await? else {
                return Ok(Vec::new());
            };
            let decoded = self.decode_again(protocol, &reporter, message);
            let contents = contents_of(valid_reports(&decoded), message.received_at);
            vec![(reporter, contents)]
        } else if let Some(feed) = find_feed(&message.source) {
            let Some(request) = FeedBody::of_stored(&self.ingest.budget, message.account, &message.bytes)?
            else {
                return Ok(Vec::new());
            };
            let gateway = match message.gateway {
                Some(id) => self.ingest.store.find_message_gateway(message.account, id).await?,
                None => None,
            };
            let gateway = gateway.unwrap_or_else(|| unknown_gateway(feed, message));
            let options = options_of(&gateway);
            let settings = FeedSettings { feed, options: Arc::new(options), at: message.received_at };
            contents_by_device(&settings, &self.ingest.reader.read(&gateway, &request, &settings).await?)
        } else {
            Vec::new()
        };
        for (_, contents) in &mut devices {
            contents.locations.clear();
            contents.files.clear();
            contents.sos = None;
        }
        Ok(devices)
    }
}
