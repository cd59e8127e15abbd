//! Requests of satellite networks and phones: stored as they came, with what they say of each device.

use std::net::{IpAddr, SocketAddr};

use perigee_core::error::StoreError;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::gateways::gateway::{MessageResult, NewMessage, Reporter};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::id::DeviceId;
use perigee_core::time::Timestamp;
use perigee_gateways::{DecodeError, Feed, FeedMessage};

use super::contents::message_error;
use super::decoding::Told;
use super::error::IngestError;
use super::feed_body::{FeedBody, FeedSettings};
use super::heard::UnknownDevice;
use super::path::{Arrival, Ingest};
use super::raw_quota::RawSender;
use super::reading::{Reading, reports};
use super::sos::{SosSign, step_of};

/// A request of a gateway, once its secret was checked; of a polled feed the provider's answer.
#[derive(Clone, Copy, Debug)]
pub struct FeedArrival<'a> {
    /// The gateway that it came by.
    pub gateway: &'a Gateway,
    /// The request of the provider or the phone.
    pub request: &'a FeedBody,
    /// How it is read, and when this service received it.
    pub settings: &'a FeedSettings,
    /// The client's address, as told by a trusted proxy if there is one.
    pub peer: IpAddr,
}

impl FeedArrival<'_> {
    pub(super) const fn feed(&self) -> &'static Feed {
        self.settings.feed
    }

    pub(super) const fn at(&self) -> Timestamp {
        self.settings.at
    }

    /// The raw message of the request.
    pub(super) fn message(&self, identifier: Option<String>, error: Option<String>) -> NewMessage {
        NewMessage {
            source: self.feed().name,
            peer: self.peer.to_string(),
            identifier,
            bytes: self.request.stored(),
            error,
            gateway: Some(self.gateway.id),
            duplicate_rule: self.feed().duplicate_rule(),
            keep: Keep::Always,
        }
    }
}

impl Ingest {
    /// Stores a request with everything it says. Once this returns it may be acknowledged.
    pub async fn take_request(&self, arrival: FeedArrival<'_>) -> Result<(), IngestError> {
        let reading = self.read(arrival.gateway, arrival.request, arrival.settings).await?;
        match (reading.decoded.messages.as_slice(), reading.reporters.as_slice()) {
            ([], _) => {
                let raw = arrival.message(None, reading.error());
                let result =
                    if raw.error.is_some() { MessageResult::Unparsable } else { MessageResult::Decoded };
                self.store_alone(arrival, None, raw, result).await?;
            }
            ([message], [reporter]) => self.take_one(arrival, message, reporter.as_deref()).await?,
            _ => self.take_several(arrival, &reading).await?,
        }
        self.feeds.note_message(arrival.gateway, arrival.at(), reading.error());
        let is_encrypted = |message: &FeedMessage| message.error == Some(DecodeError::Encrypted);
        if reading.decoded.messages.iter().any(is_encrypted) {
            self.note_refused(arrival.gateway, DecodeError::Encrypted.to_string());
        }
        Ok(())
    }

    async fn store_alone(
        &self,
        arrival: FeedArrival<'_>,
        device: Option<DeviceId>,
        message: NewMessage,
        result: MessageResult,
    ) -> Result<(), StoreError> {
        if self.keeps(arrival, message.bytes.len(), result) {
            self.store.store_gateway_message(arrival.gateway, device, message, result).await?;
        }
        count(arrival.feed(), result);
        Ok(())
    }

    /// Whether a message with this result is kept; counts it.
    pub(super) fn keeps(&self, arrival: FeedArrival<'_>, bytes: usize, result: MessageResult) -> bool {
        let gateway = arrival.gateway;
        let sender = RawSender { account: gateway.account, gateway: Some(gateway.id), device: None };
        let keep = self.raw.keep(sender, bytes);
        self.raw.note(sender, bytes, keep, result);
        keep == Keep::Always || keep == Keep::IfUsed && result.is_used()
    }

    /// The ordinary case: one device, whose message is stored with all it says in one commit.
    async fn take_one(
        &self,
        arrival: FeedArrival<'_>,
        message: &FeedMessage,
        reporter: Option<&Reporter>,
    ) -> Result<(), StoreError> {
        let error = message_error(message).map(|error| error.to_string());
        let Some(reporter) = reporter else {
            return self.take_unknown(arrival, message, error).await;
        };
        let named = Some(reporter.identifier.clone()).filter(|name| !name.is_empty());
        let raw = arrival.message(named, error);
        if message.test {
            return self.store_alone(arrival, Some(reporter.device), raw, MessageResult::Test).await;
        }
        let reports = reports(message);
        let stored = Arrival {
            message: raw,
            reports: &reports,
            files: &[],
            steps: step_of(arrival.feed(), message, arrival.at()).into_iter().collect(),
            sos: SosSign::of_message(message, arrival.at()),
            told: Told::default(),
            at: arrival.at(),
        };
        match self.store(reporter, stored).await {
            // The device was deleted meanwhile; the message is stored.
            Err(StoreError::NotFound(_)) => {
                self.note_unknown_sender(arrival, message, &arrival.request.stored());
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A message of a device that the account does not have.
    async fn take_unknown(
        &self,
        arrival: FeedArrival<'_>,
        message: &FeedMessage,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        self.note_unknown_sender(arrival, message, &arrival.request.stored());
        let result = match (message.test, message.identifiers.is_empty() && error.is_some()) {
            (true, _) => MessageResult::Test,
            // What names no device and cannot be read is no unknown device.
            (false, true) => MessageResult::Unparsable,
            (false, false) => MessageResult::UnknownDevice,
        };
        let raw = arrival.message(message.identifiers.first().cloned(), error);
        self.store_alone(arrival, None, raw, result).await
    }

    /// Several devices in one request: it is stored once, in the commit of what it says.
    async fn take_several(&self, arrival: FeedArrival<'_>, reading: &Reading) -> Result<(), StoreError> {
        let raw = arrival.message(None, reading.error());
        let all_tests = reading.decoded.messages.iter().all(|message| message.test);
        let result = match (&raw.error, all_tests) {
            (Some(_), _) => MessageResult::Unparsable,
            (None, true) => MessageResult::Test,
            (None, false) => MessageResult::Decoded,
        };
        self.note_unknown_devices(arrival, reading);
        let is_kept = self.keeps(arrival, raw.bytes.len(), result);
        let message = is_kept.then_some((raw, result));
        self.store_contents(arrival.gateway.account, arrival.settings, reading, message).await?;
        count(arrival.feed(), result);
        Ok(())
    }

    /// Remembers the devices of a request that nobody has.
    pub(super) fn note_unknown_devices(&self, arrival: FeedArrival<'_>, reading: &Reading) {
        if reading.reporters.iter().all(Option::is_some) {
            return;
        }
        // Once for all of them: a body may have megabytes.
        let stored = arrival.request.stored();
        for (message, _) in reading.messages().filter(|(_, reporter)| reporter.is_none()) {
            self.note_unknown_sender(arrival, message, &stored);
        }
    }

    fn note_unknown_sender(&self, arrival: FeedArrival<'_>, message: &FeedMessage, stored: &[u8]) {
        let Some(identifier) = message.identifiers.first() else { return };
        self.note_unknown_device(UnknownDevice {
            account: Some(arrival.gateway.account),
            identifier,
            source: arrival.feed().name,
            peer: SocketAddr::new(arrival.peer, 0),
            datagram: false,
            bytes: stored,
            sos: SosSign::of_message(message, arrival.at()),
        });
    }
}

/// Counts a message in the metrics.
pub(super) fn count(feed: &Feed, result: MessageResult) {
    metrics::counter!("perigee_gateway_messages_total", "source" => feed.name, "result" => result.name())
        .increment(1);
}
