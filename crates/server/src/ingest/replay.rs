//! Saving which unknown devices were heard, and storing what was kept of those that were claimed since.

use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::gateways::gateway::{HeardMessage, NewMessage, Reporter};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::locations::location::DuplicateRule;
use perigee_core::page::PageRequest;
use perigee_gateways::{Context, Decoder, Protocol, find_feed, find_protocol};

use super::contents::{frame_error, message_error, valid_files, valid_reports};
use super::decoding::Told;
use super::error::IngestError;
use super::feed_body::{FeedBody, FeedSettings};
use super::path::{Arrival, Ingest};
use super::reading::{options_of, reports};
use super::sos::{SosSign, step_of};

/// Claimed devices that one run takes.
const DEVICES_PER_RUN: u32 = 20;

impl Ingest {
    /// Saves which unknown devices were heard.
    pub async fn save_heard(&self) -> Result<(), StoreError> {
        let mut reports = self.heard.take();
        if reports.is_empty() {
            return Ok(());
        }
        let signs: Vec<_> =
            reports.iter_mut().filter_map(|report| Some((report.account, report.sos.take()?))).collect();
        self.store.save_heard(reports).await?;
        for (account, notice) in signs {
            // The people of the account whose gateway heard it, and the operators of the server.
            if account.is_some() {
                self.store.announce_sos(account, notice.clone()).await?;
            }
            self.tell_operators(notice).await;
        }
        Ok(())
    }

    /// Lets the job that stores what was kept of claimed devices run soon: identifiers of a device have changed.
    pub fn look_for_claims(&self) {
        self.claims.notify_one();
    }

    /// Waits until identifiers of a device have changed.
    pub async fn wait_for_claims(&self) {
        self.claims.notified().await;
    }

    /// Stores what was kept of devices that were claimed since they were heard. Gives how many messages.
    pub async fn replay_claimed(&self) -> Result<usize, IngestError> {
        self.save_heard().await?;
        let mut messages = 0;
        for (reporter, kept) in self.store.take_claimed(DEVICES_PER_RUN, self.counted_claims).await? {
            self.forget(std::slice::from_ref(&reporter.identifier));
            messages += kept.len();
            self.replay(&reporter, &kept).await?;
        }
        Ok(messages)
    }

    /// Decodes messages again and stores what they say.
    async fn replay(&self, reporter: &Reporter, kept: &[HeardMessage]) -> Result<(), IngestError> {
        let mut speaker: Option<(&'static Protocol, Box<dyn Decoder>)> = None;
        let mut told: Option<String> = None;
        for message in kept {
            let Some(protocol) = find_protocol(&message.source) else {
                self.replay_request(reporter, message).await?;
                continue;
            };
            let (_, decoder) = match &mut speaker {
                Some(same) if same.0.name == protocol.name => same,
                other => other.insert((protocol, (protocol.decoder)())),
            };
            let settings = self.decoding(protocol, Some(reporter), told.as_deref());
            let context = Context {
                known: true,
                identifier: Some(&reporter.identifier),
                model: settings.model.as_deref(),
                options: &settings.options,
                datagram: message.datagram,
                now: message.received_at,
            };
            let said = decoder.decode(&message.bytes, &context);
            told = said.model.clone().or(told);
            let new = NewMessage {
                source: protocol.name,
                peer: message.peer.clone(),
                identifier: Some(reporter.identifier.clone()),
                bytes: message.bytes.clone(),
                error: frame_error(&said),
                gateway: None,
                duplicate_rule: DuplicateRule::Content,
                keep: Keep::Always,
            };
            let (reports, files, told) = (valid_reports(&said), valid_files(&said), Told::by(&said));
            let at = message.received_at;
            let (steps, sos) = (Vec::new(), SosSign::of(reports, at));
            let arrival = Arrival { message: new, reports, files, steps, sos, told, at };
            self.store(reporter, arrival).await?;
        }
        Ok(())
    }

    /// The same for a request of a satellite network or a phone, with the settings of the gateway that it came by.
    async fn replay_request(&self, reporter: &Reporter, message: &HeardMessage) -> Result<(), IngestError> {
        let Some(feed) = find_feed(&message.source) else { return Ok(()) };
        let account = reporter.scope.account;
        let Some(request) = FeedBody::of_stored(&self.budget, account, &message.bytes)? else {
            return Ok(());
        };
        let all = self.store.list_gateways(reporter.scope, PageRequest::first(Gateway::COUNT_MAX)).await?;
        let gateways = all.items.iter().filter(|gateway| gateway.settings.feed == feed.name);
        for (gateway, options) in gateways.map(|gateway| (gateway, options_of(gateway))) {
            let settings = FeedSettings { feed, options: Arc::new(options), at: message.received_at };
            let reading = self.read(gateway, &request, &settings).await?;
            let theirs = reading
                .messages()
                .filter(|(_, found)| found.is_some_and(|found| found.device == reporter.device));
            let theirs: Vec<_> = theirs.map(|(each, _)| each).collect();
            for each in &theirs {
                let new = NewMessage {
                    source: feed.name,
                    peer: message.peer.clone(),
                    identifier: Some(reporter.identifier.clone()),
                    bytes: message.bytes.clone(),
                    error: message_error(each).map(|error| error.to_string()),
                    gateway: Some(gateway.id),
                    duplicate_rule: feed.duplicate_rule(),
                    keep: Keep::Always,
                };
                let (reports, at) = (reports(each), message.received_at);
                let steps = step_of(feed, each, at).into_iter().collect();
                let told = Told::default();
                let sos = SosSign::of_message(each, at);
                let arrival = Arrival { message: new, reports: &reports, files: &[], steps, sos, told, at };
                self.store(reporter, arrival).await?;
            }
            if !theirs.is_empty() {
                break;
            }
        }
        Ok(())
    }
}
