//! Stores the kept messages of devices that were claimed since they were heard.

use std::sync::Arc;

use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::gateways::gateway::{HeardMessage, NewMessage, Reporter};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::locations::location::DuplicateRule;
use perigee_core::page::PageRequest;
use perigee_gateways::{Context, Decoder, Protocol, find_feed, find_protocol};

use super::reprocess::Reprocessing;
use crate::ingest::contents::{frame_error, message_error, valid_files, valid_reports};
use crate::ingest::decoding::SelfReport;
use crate::ingest::error::IngestError;
use crate::ingest::feed_body::{FeedBody, FeedSettings};
use crate::ingest::path::Arrival;
use crate::ingest::reading::{options_of, reports};
use crate::ingest::sos::{SosSign, step_of};
use crate::ingest::texts::{text_of, text_of_frame};

/// Maximum number of claimed devices of one run.
const DEVICES_PER_RUN: u32 = 20;

impl Reprocessing {
    /// Stores the kept messages of devices that were claimed since they were heard. Returns the number of messages.
    pub async fn replay_claimed(&self) -> Result<usize, IngestError> {
        self.ingest.strangers.save().await?;
        let mut messages = 0;
        for (reporter, kept) in
            self.ingest.store.take_claimed(DEVICES_PER_RUN, self.ingest.devices.counted_claims()).await?
        {
            self.ingest.devices.invalidate(std::slice::from_ref(&reporter.identifier));
            messages += kept.len();
            self.replay(&reporter, &kept).await?;
        }
        Ok(messages)
    }

    /// Decodes messages again and stores their content.
    async fn replay(&self, reporter: &Reporter, kept: &[HeardMessage]) -> Result<(), IngestError> {
        let mut last_decoder: Option<(&'static Protocol, Box<dyn Decoder>)> = None;
        let mut reported_model: Option<String> = None;
        for message in kept {
            let Some(protocol) = find_protocol(&message.source) else {
                self.replay_request(reporter, message).await?;
                continue;
            };
            let (_, decoder) = match &mut last_decoder {
                Some(same) if same.0.name == protocol.name => same,
                other => other.insert((protocol, (protocol.decoder)())),
            };
            let settings =
                self.ingest.decodings.of_reporter(protocol, Some(reporter), reported_model.as_deref());
            let context = Context {
                known: true,
                identifier: Some(&reporter.identifier),
                model: settings.model.as_deref(),
                options: &settings.options,
                datagram: message.datagram,
                now: message.received_at,
            };
            let output = decoder.decode(&message.bytes, &context);
            reported_model = output.model.clone().or(reported_model);
            let new = NewMessage {
                source: protocol.name,
                peer: message.peer.clone(),
                identifier: Some(reporter.identifier.clone()),
                bytes: message.bytes.clone(),
                error: frame_error(&output),
                gateway: None,
                duplicate_rule: DuplicateRule::Content,
                keep: Keep::Always,
            };
            let (reports, files, self_report) =
                (valid_reports(&output), valid_files(&output), SelfReport::of(&output));
            let at = message.received_at;
            let (steps, sos) = (Vec::new(), SosSign::of(reports, at));
            let text = text_of_frame(protocol.name, &output, at);
            let arrival = Arrival { message: new, reports, files, text, steps, sos, self_report, at };
            self.ingest.store(reporter, arrival).await?;
        }
        Ok(())
    }

    /// The same for a request of a satellite network or a phone, with the settings of its gateway.
    async fn replay_request(&self, reporter: &Reporter, message: &HeardMessage) -> Result<(), IngestError> {
        let Some(feed) = find_feed(&message.source) else { return Ok(()) };
        let account = reporter.scope.account;
        let Some(request) = FeedBody::of_stored(&self.ingest.budget, account, &message.bytes)? else {
            return Ok(());
        };
        let all =
            self.ingest.store.list_gateways(reporter.scope, PageRequest::first(Gateway::COUNT_MAX)).await?;
        let gateways = all.items.iter().filter(|gateway| gateway.settings.feed == feed.name);
        for (gateway, options) in gateways.map(|gateway| (gateway, options_of(gateway))) {
            let settings = FeedSettings { feed, options: Arc::new(options), at: message.received_at };
            let reading = self.ingest.reader.read(gateway, &request, &settings).await?;
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
                let self_report = SelfReport::default();
                let sos = SosSign::of_message(each, at);
                let text = text_of(feed.name, each, at);
                let arrival = Arrival {
                    message: new,
                    reports: &reports,
                    files: &[],
                    text,
                    steps,
                    sos,
                    self_report,
                    at,
                };
                self.ingest.store(reporter, arrival).await?;
            }
            if !theirs.is_empty() {
                break;
            }
        }
        Ok(())
    }
}
