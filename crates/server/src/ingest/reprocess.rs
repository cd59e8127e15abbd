//! Decoding a stored message again, after its device was created or a decoder was corrected.

use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::gateways::account_gateway::{Gateway, NewGateway};
use perigee_core::gateways::feed_health::GatewayState;
use perigee_core::gateways::gateway::{MessageResult, RawMessage, Reporter};
use perigee_core::gateways::message_contents::NewRequest;
use perigee_core::id::GatewayId;
use perigee_core::locations::location::DuplicateRule;
use perigee_core::revision::Revision;
use perigee_core::time::Timestamp;
use perigee_gateways::{Context, Decoded, Feed, Protocol, Report, find_feed, find_protocol};

use super::contents::{contents_of, frame_error, valid_reports};
use super::error::IngestError;
use super::feed_body::{FeedBody, FeedSettings};
use super::path::Ingest;
use super::reading::options_of;

impl Ingest {
    /// Decodes a message again and stores what it says. What was stored before stays as it is, and is not stored twice.
    /// Gives the message with its new result. `None` if it was deleted meanwhile.
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
        // It is known because of this message.
        if was == MessageResult::Decoded && changed.result == MessageResult::Duplicate {
            changed.result = was;
        }
        let is_there = self.store.set_message_result(&changed).await?;
        self.announce(changed.account);
        Ok(is_there.then_some(changed))
    }

    async fn reprocess_frame(
        &self,
        protocol: &'static Protocol,
        message: RawMessage,
    ) -> Result<Option<RawMessage>, StoreError> {
        let Some(reporter) = self.store.find_message_device(&message).await? else {
            return Ok(Some(message));
        };
        let decoded = self.decode_again(protocol, &reporter, &message);
        let (reports, error) = (valid_reports(&decoded), frame_error(&decoded));
        let result = match &error {
            Some(_) if reports.is_empty() => MessageResult::Unparsable,
            _ => self.store_again(&reporter, reports, message.received_at).await?,
        };
        Ok(Some(RawMessage { device: Some(reporter.device), result, error, ..message }))
    }

    /// Decodes a stored frame with the present settings of its device.
    pub(super) fn decode_again(
        &self,
        protocol: &'static Protocol,
        reporter: &Reporter,
        message: &RawMessage,
    ) -> Decoded {
        // Its password was checked when it came.
        let settings = self.decoding(protocol, Some(reporter), None);
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
        reports: &[Report],
        at: Timestamp,
    ) -> Result<MessageResult, StoreError> {
        let request = NewRequest {
            account: reporter.scope.account,
            message: None,
            duplicate_rule: DuplicateRule::Content,
            devices: vec![(reporter.clone(), contents_of(reports, at))],
            is_past: false,
        };
        match self.store.store_request(request).await?.pop() {
            Some(Ok(stored)) => Ok(stored.result()),
            Some(Err(StoreError::DeviceExpired(_))) => Ok(MessageResult::ExpiredDevice),
            Some(Err(error)) => Err(error),
            None => Ok(MessageResult::UnknownDevice),
        }
    }

    /// A request is read with the present settings of its gateway, of a deleted one with its last.
    async fn reprocess_request(
        &self,
        feed: &'static Feed,
        message: RawMessage,
    ) -> Result<Option<RawMessage>, IngestError> {
        let Some(request) = FeedBody::of_stored(&self.budget, message.account, &message.bytes)? else {
            let error = Some("the stored request is incomplete".to_owned());
            return Ok(Some(RawMessage { result: MessageResult::Unparsable, error, ..message }));
        };
        let gateway = match message.gateway {
            Some(id) => self.store.find_message_gateway(message.account, id).await?,
            None => None,
        };
        let mut gateway = gateway.unwrap_or_else(|| unknown_gateway(feed, &message));
        // A gateway that was given to another device since does not give it the messages of the one before.
        gateway.settings.device = gateway.settings.device.map(|device| message.device.unwrap_or(device));
        let options = options_of(&gateway);
        let settings = FeedSettings { feed, options: Arc::new(options), at: message.received_at };
        let reading = self.read(&gateway, &request, &settings).await?;
        let error = reading.error();
        let messages = &reading.decoded.messages;
        let result = if messages.is_empty() || messages.iter().all(|each| each.test) {
            match (&error, messages.is_empty()) {
                (Some(_), _) => MessageResult::Unparsable,
                (None, true) => MessageResult::Decoded,
                (None, false) => MessageResult::Test,
            }
        } else {
            let stored = self.store_contents(message.account, &settings, &reading, None).await?;
            if error.is_some() && !stored.has_contents { MessageResult::Unparsable } else { stored.result() }
        };
        let device = match reading.reporters.as_slice() {
            [Some(reporter)] => Some(reporter.device),
            _ => message.device,
        };
        Ok(Some(RawMessage { device, result, error, ..message }))
    }
}

/// Stands for a gateway whose settings are not kept, or that an older version did not note: no settings, and the device that
/// the message was stored for.
pub(super) fn unknown_gateway(feed: &Feed, message: &RawMessage) -> Gateway {
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
