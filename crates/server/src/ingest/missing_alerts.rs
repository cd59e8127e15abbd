//! Alerts that earlier versions lost: they stored them after the message they came in, so that a crash could come between.
//! Once, messages of before are decoded again, and alerts that are missing are stored.

use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::{RawMessage, Reporter};
use perigee_core::gateways::message_contents::{MessageContents, NewRequest};
use perigee_core::locations::location::{DuplicateRule, TimeRange};
use perigee_gateways::{find_feed, find_protocol};

use super::contents::{contents_of, valid_reports};
use super::error::IngestError;
use super::feed_body::{FeedBody, FeedSettings};
use super::path::Ingest;
use super::reading::options_of;
use super::reprocess::unknown_gateway;
use super::store_contents::contents_by_device;

/// Messages that came longer ago, in milliseconds, notify nobody: their alerts are stored as ended.
const NOTIFIED_MS: i64 = 24 * 60 * 60 * 1000;
/// Messages that came longer ago, in milliseconds, are not searched: steps of emergencies are kept for a month.
const SEARCHED_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// The alert of a report without a time has that of its arrival, which differs a little from that of its message.
const ARRIVAL_MS: i64 = 10_000;

impl Ingest {
    /// Searches some messages of before for missing alerts and stores those. Gives how many there were; `None` once all
    /// messages were searched. It may be called on several nodes: what is stored is not stored twice.
    pub async fn store_missing_alerts(&self) -> Result<Option<usize>, IngestError> {
        let Some(searched) = self.store.next_searched_messages().await? else { return Ok(None) };
        let mut stored = 0;
        for message in &searched.messages {
            if message.received_at.plus_millis(SEARCHED_MS) > self.clock.now() {
                stored += self.store_missing_of(message).await?;
            }
        }
        self.store.finish_searched_messages(&searched).await?;
        Ok(Some(stored))
    }

    async fn store_missing_of(&self, message: &RawMessage) -> Result<usize, IngestError> {
        let mut devices = Vec::new();
        for (reporter, contents) in self.alerts_of(message).await? {
            let missing = self.missing_of(message, &reporter, contents).await?;
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
            is_past: message.received_at.plus_millis(NOTIFIED_MS) <= self.clock.now(),
        };
        let stored = self.store.store_request(request).await?;
        let new = stored.iter().flatten().filter(|contents| contents.is_new()).count();
        if new > 0 {
            self.announce(message.account);
        }
        Ok(new)
    }

    /// The alerts and emergency steps of a stored message, by device. Of a device that was deleted there are none.
    async fn alerts_of(&self, message: &RawMessage) -> Result<Vec<(Reporter, MessageContents)>, IngestError> {
        let mut devices = if let Some(protocol) = find_protocol(&message.source) {
            let Some(reporter) = self.store.find_message_device(message).await? else {
                return Ok(Vec::new());
            };
            let decoded = self.decode_again(protocol, &reporter, message);
            let contents = contents_of(valid_reports(&decoded), message.received_at);
            vec![(reporter, contents)]
        } else if let Some(feed) = find_feed(&message.source) {
            let Some(request) = FeedBody::of_stored(&self.budget, message.account, &message.bytes)? else {
                return Ok(Vec::new());
            };
            let gateway = match message.gateway {
                Some(id) => self.store.find_message_gateway(message.account, id).await?,
                None => None,
            };
            let gateway = gateway.unwrap_or_else(|| unknown_gateway(feed, message));
            let options = options_of(&gateway);
            let settings = FeedSettings { feed, options: Arc::new(options), at: message.received_at };
            contents_by_device(&settings, &self.read(&gateway, &request, &settings).await?)
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

    /// What of this is not stored. The store recognises alerts and steps by their time, except those that have none of their
    /// own.
    async fn missing_of(
        &self,
        message: &RawMessage,
        reporter: &Reporter,
        mut contents: MessageContents,
    ) -> Result<MessageContents, StoreError> {
        let arrived = message.received_at;
        let range = TimeRange { from: arrived.plus_millis(-ARRIVAL_MS), to: arrived.plus_millis(ARRIVAL_MS) };
        let alerts = contents.alerts.iter().chain(contents.steps.iter().map(|step| &step.alert));
        let mut known = Vec::new();
        for alert in alerts.filter(|alert| alert.time == arrived) {
            if self.store.has_alert_within(reporter, &alert.name, range).await? {
                known.push(alert.name.clone());
            }
        }
        let is_known =
            |alert: &perigee_core::alerts::alert::Alert| alert.time == arrived && known.contains(&alert.name);
        contents.alerts.retain(|alert| !is_known(alert));
        contents.steps.retain(|step| !is_known(&step.alert));
        Ok(contents)
    }
}
