//! Decodes a stored message again, after its device was created or a decoder was corrected.

use std::collections::BTreeSet;
use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::gateways::account_gateway::{Gateway, NewGateway};
use perigee_core::gateways::feed_health::GatewayState;
use perigee_core::gateways::gateway::{MessageResult, RawMessage, Reporter};
use perigee_core::gateways::message_contents::NewRequest;
use perigee_core::id::{DeviceId, GatewayId};
use perigee_core::locations::location::DuplicateRule;
use perigee_core::revision::Revision;
use perigee_gateways::{Context, Decoded, Feed, Protocol, find_feed, find_protocol};

use super::known_alerts::KnownAlerts;
use crate::ingest::contents::{contents_of, frame_error, valid_reports};
use crate::ingest::error::IngestError;
use crate::ingest::feed_body::{FeedBody, FeedSettings};
use crate::ingest::path::Ingest;
use crate::ingest::reading::options_of;
use crate::ingest::store_contents::{Stored, contents_by_device};
use crate::ingest::texts::text_of_frame;

/// Decodes stored messages again.
pub struct Reprocessing {
    pub(in crate::ingest) ingest: Arc<Ingest>,
}

impl Reprocessing {
    /// Stores by this path.
    pub const fn new(ingest: Arc<Ingest>) -> Self {
        Self { ingest }
    }

    /// Decodes a message again and stores its content. Content that was stored before is not changed or stored twice.
    /// Returns the message with its new result; `None` if it was deleted meanwhile.
    pub async fn reprocess(&self, message: RawMessage) -> Result<Option<RawMessage>, IngestError> {
        let was = message.result;
        let changed = if let Some(protocol) = find_protocol(&message.source) {
            self.reprocess_frame(protocol, message).await?
        } else if let Some(feed) = find_feed(&message.source) {
            self.reprocess_request(feed, message).await?
        } else {
            let error = Some("this version of the server does not support the protocol or feed".to_owned());
            Some(RawMessage { result: MessageResult::Unparsable, error, ..message })
        };
        let Some(mut changed) = changed else { return Ok(None) };
        // The content is a duplicate of what this message itself stored before.
        if was == MessageResult::Decoded && changed.result == MessageResult::Duplicate {
            changed.result = was;
        }
        let is_there = self.ingest.store.set_message_result(&changed).await?;
        Ok(is_there.then_some(changed))
    }

    async fn reprocess_frame(
        &self,
        protocol: &'static Protocol,
        message: RawMessage,
    ) -> Result<Option<RawMessage>, StoreError> {
        let Some(reporter) = self.ingest.store.find_message_device(&message).await? else {
            return Ok(Some(message));
        };
        let decoded = self.decode_again(protocol, &reporter, &message);
        let (reports, error) = (valid_reports(&decoded), frame_error(&decoded));
        let result = match &error {
            Some(_) if reports.is_empty() => MessageResult::Unparsable,
            _ => self.store_again(&reporter, &decoded, protocol, &message).await?,
        };
        Ok(Some(RawMessage { device: Some(reporter.device), result, error, ..message }))
    }

    /// Decodes a stored frame with the current settings of its device.
    pub(in crate::ingest) fn decode_again(
        &self,
        protocol: &'static Protocol,
        reporter: &Reporter,
        message: &RawMessage,
    ) -> Decoded {
        // Its password was checked on arrival.
        let settings = self.ingest.decodings.of_reporter(protocol, Some(reporter), None);
        let options = settings.options.without("password");
        let context = Context {
            known: true,
            identifier: message.identifier.as_deref(),
            model: settings.model.as_deref(),
            options: &options,
            datagram: false,
            now: message.received_at,
        };
        (protocol.decoder)().decode(&message.bytes, &context)
    }

    async fn store_again(
        &self,
        reporter: &Reporter,
        decoded: &Decoded,
        protocol: &'static Protocol,
        message: &RawMessage,
    ) -> Result<MessageResult, StoreError> {
        let mut contents = contents_of(valid_reports(decoded), message.received_at);
        contents.texts.extend(text_of_frame(protocol.name, decoded, message.received_at));
        let had_contents = !contents.is_empty();
        let contents = KnownAlerts::of(&*self.ingest.store, message, reporter).removed_from(contents).await?;
        let was_known = had_contents && contents.is_empty();
        let request = NewRequest {
            account: reporter.scope.account,
            message: None,
            duplicate_rule: DuplicateRule::Content,
            devices: vec![(reporter.clone(), contents)],
            is_past: false,
        };
        match self.ingest.store.store_request(request).await?.pop() {
            Some(Ok(_)) if was_known => Ok(MessageResult::Duplicate),
            Some(Ok(stored)) => Ok(stored.result()),
            Some(Err(StoreError::DeviceExpired(_))) => Ok(MessageResult::ExpiredDevice),
            Some(Err(error)) => Err(error),
            None => Ok(MessageResult::UnknownDevice),
        }
    }

    /// Decodes a request again with the current settings of its gateway, or with the last settings of a deleted
    /// gateway.
    async fn reprocess_request(
        &self,
        feed: &'static Feed,
        message: RawMessage,
    ) -> Result<Option<RawMessage>, IngestError> {
        let Some(request) = FeedBody::of_stored(&self.ingest.budget, message.account, &message.bytes)? else {
            let error = Some("the stored request is incomplete".to_owned());
            return Ok(Some(RawMessage { result: MessageResult::Unparsable, error, ..message }));
        };
        let gateway = match message.gateway {
            Some(id) => self.ingest.store.find_message_gateway(message.account, id).await?,
            None => None,
        };
        let mut gateway = gateway.unwrap_or_else(|| unknown_gateway(feed, &message));
        // A gateway that was assigned to another device since does not move earlier messages to it.
        gateway.settings.device = gateway.settings.device.map(|device| message.device.unwrap_or(device));
        let options = options_of(&gateway);
        let settings = FeedSettings { feed, options: Arc::new(options), at: message.received_at };
        let reading = self.ingest.reader.read(&gateway, &request, &settings).await?;
        let error = reading.error();
        let messages = &reading.decoded.messages;
        let result = if messages.is_empty() || messages.iter().all(|each| each.test) {
            match (&error, messages.is_empty()) {
                (Some(_), _) => MessageResult::Unparsable,
                (None, true) => MessageResult::Decoded,
                (None, false) => MessageResult::Test,
            }
        } else {
            let mut devices = Vec::new();
            let mut has_contents = false;
            for (reporter, contents) in contents_by_device(&settings, &reading) {
                has_contents |= !contents.is_empty();
                let contents =
                    KnownAlerts::of(&*self.ingest.store, &message, &reporter).removed_from(contents).await?;
                devices.push((reporter, contents));
            }
            let stored = self.ingest.store_devices(message.account, feed, devices, None).await?;
            let stored = Stored { has_contents, ..stored };
            if error.is_some() && !stored.has_contents { MessageResult::Unparsable } else { stored.result() }
        };
        let found = reading.devices();
        let device = found.only().or(message.device);
        let devices: BTreeSet<DeviceId> = message.devices.iter().chain(found.several()).copied().collect();
        let devices = devices.into_iter().collect();
        Ok(Some(RawMessage { device, devices, result, error, ..message }))
    }
}

/// A substitute for a gateway whose settings are not stored, or that an older version did not record. It has no
/// options, and the device of the message.
pub(in crate::ingest) fn unknown_gateway(feed: &Feed, message: &RawMessage) -> Gateway {
    Gateway {
        id: message.gateway.unwrap_or(GatewayId::from_i64(0)),
        account: message.account,
        settings: NewGateway {
            feed: feed.name.to_owned(),
            name: None,
            device: message.device,
            options: "{}".to_owned(),
            secret_hash: [0; 32],
            polled: false,
        },
        revision: Revision::FIRST,
        created_by: None,
        creation: message.received_at,
        last_modified: None,
        previous_until: None,
        state: GatewayState::default(),
    }
}
