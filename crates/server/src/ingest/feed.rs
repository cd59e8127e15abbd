//! Requests of satellite networks and phones: stored unchanged, with their content for each device.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use perigee_core::alerts::sos_notice::SosNotice;
use perigee_core::error::StoreError;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::gateways::gateway::{MessageResult, NewMessage, Reporter};
use perigee_core::gateways::message_contents::{MessageDevices, RequestMessage};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::time::Timestamp;
use perigee_gateways::{DecodeError, Feed, FeedMessage};

use super::contents::message_error;
use super::decoding::SelfReport;
use super::error::IngestError;
use super::feed_body::{FeedBody, FeedSettings};
use super::heard::{UnknownDevice, is_plausible};
use super::path::{Arrival, Ingest};
use super::reading::{Reading, reports};
use super::sos::{SosSign, step_of};
use super::stored::raw_quota::RawSender;
use super::texts::text_of;

/// Maximum number of unknown devices of one request whose SOS is announced.
const SOS_MAX: usize = 20;

/// A request to a gateway after its secret was checked; for a polled feed, the answer of the provider.
#[derive(Clone, Copy, Debug)]
pub struct FeedArrival<'a> {
    /// The gateway that received it.
    pub gateway: &'a Gateway,
    /// The request of the provider or the phone.
    pub request: &'a FeedBody,
    /// Its decoding context, and the time of receipt.
    pub settings: &'a FeedSettings,
    /// The client's address, as given by a trusted proxy if there is one.
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

    /// The notice to people if no device has the identifier of this message; `None` if it is not an SOS.
    fn sos_of(&self, message: &FeedMessage) -> Option<SosNotice> {
        let identifier = message.identifiers.first().filter(|name| is_plausible(name))?;
        let sign = SosSign::of_message(message, self.at())?;
        Some(sign.of_unknown(identifier, self.feed().name, &self.peer.to_string()))
    }

    /// The same for all unknown devices of a request, without duplicates. At most as many as notices are sent in a day,
    /// because one request may contain thousands of devices.
    pub(super) fn unknown_sos(&self, reading: &Reading) -> Vec<SosNotice> {
        let unknown = reading.messages().filter(|(_, reporter)| reporter.is_none());
        let signs = unknown.filter_map(|(message, _)| self.sos_of(message));
        let mut newest: BTreeMap<String, SosNotice> = BTreeMap::new();
        for notice in signs {
            let known = newest.get(&notice.identifier);
            if known.is_none_or(|known| known.time < notice.time) {
                newest.insert(notice.identifier.clone(), notice);
            }
        }
        newest.into_values().take(SOS_MAX).collect()
    }
}

impl Ingest {
    /// Stores a request with its content. After this returns it may be acknowledged.
    pub async fn take_request(&self, arrival: FeedArrival<'_>) -> Result<(), IngestError> {
        let reading = self.reader.read(arrival.gateway, arrival.request, arrival.settings).await?;
        match (reading.decoded.messages.as_slice(), reading.reporters.as_slice()) {
            ([], _) => {
                let raw = arrival.message(None, reading.error());
                let result =
                    if raw.error.is_some() { MessageResult::Unparsable } else { MessageResult::Decoded };
                self.store_alone(arrival, unknown(raw, result, Vec::new())).await?;
            }
            ([message], [reporter]) => self.take_one(arrival, message, reporter.as_deref()).await?,
            _ => self.take_several(arrival, &reading).await?,
        }
        self.feeds.note_message(arrival.gateway, arrival.at(), reading.error());
        let is_encrypted = |message: &FeedMessage| message.error == Some(DecodeError::Encrypted);
        if reading.decoded.messages.iter().any(is_encrypted) {
            self.feeds.note_refused(arrival.gateway, DecodeError::Encrypted.to_string());
        }
        Ok(())
    }

    async fn store_alone(&self, arrival: FeedArrival<'_>, message: RequestMessage) -> Result<(), StoreError> {
        let result = message.result;
        if let Some(message) = self.within_quota(arrival, message) {
            self.store.store_gateway_message(arrival.gateway, message).await?;
        }
        count(arrival.feed(), result);
        Ok(())
    }

    /// Decides by the quota whether the raw message is kept, and counts it. `None` if there is nothing to store.
    pub(super) fn within_quota(
        &self,
        arrival: FeedArrival<'_>,
        mut request: RequestMessage,
    ) -> Option<RequestMessage> {
        let gateway = arrival.gateway;
        let sender = RawSender { account: gateway.account, gateway: Some(gateway.id), device: None };
        let (bytes, result) = (request.message.bytes.len(), request.result);
        let keep = self.raw.keep(sender, bytes);
        self.raw.note(sender, bytes, keep, result);
        let is_kept = keep == Keep::Always || keep == Keep::IfUsed && result.is_used();
        request.message.keep = if is_kept { Keep::Always } else { Keep::Never };
        (is_kept || !request.sos.is_empty()).then_some(request)
    }

    /// The ordinary case: one device, whose message is stored with its content in one commit.
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
            let devices = MessageDevices::One(reporter.device);
            let message =
                RequestMessage { message: raw, result: MessageResult::Test, devices, sos: Vec::new() };
            return self.store_alone(arrival, message).await;
        }
        let reports = reports(message);
        let stored = Arrival {
            message: raw,
            reports: &reports,
            files: &[],
            text: text_of(arrival.feed().name, message, arrival.at()),
            steps: step_of(arrival.feed(), message, arrival.at()).into_iter().collect(),
            sos: SosSign::of_message(message, arrival.at()),
            self_report: SelfReport::default(),
            at: arrival.at(),
        };
        match self.store(reporter, stored).await {
            // The device was deleted meanwhile; the message is stored.
            Err(StoreError::NotFound(_)) => {
                self.remember_unknown_sender(arrival, message, &arrival.request.stored());
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
        self.remember_unknown_sender(arrival, message, &arrival.request.stored());
        let result = match (message.test, message.identifiers.is_empty() && error.is_some()) {
            (true, _) => MessageResult::Test,
            // A message that has no identifier and cannot be decoded does not count as an unknown device.
            (false, true) => MessageResult::Unparsable,
            (false, false) => MessageResult::UnknownDevice,
        };
        let raw = arrival.message(message.identifiers.first().cloned(), error);
        let sos = arrival.sos_of(message).into_iter().collect();
        self.store_alone(arrival, unknown(raw, result, sos)).await
    }

    /// Several devices in one request: it is stored once, in the commit of its content.
    async fn take_several(&self, arrival: FeedArrival<'_>, reading: &Reading) -> Result<(), StoreError> {
        let raw = arrival.message(None, reading.error());
        let all_tests = reading.decoded.messages.iter().all(|message| message.test);
        let result = match (&raw.error, all_tests) {
            (Some(_), _) => MessageResult::Unparsable,
            (None, true) => MessageResult::Test,
            (None, false) => MessageResult::Decoded,
        };
        self.remember_unknown_devices(arrival, reading);
        let (devices, sos) = (reading.devices(), arrival.unknown_sos(reading));
        let message = self.within_quota(arrival, RequestMessage { message: raw, result, devices, sos });
        self.store_contents(arrival.gateway.account, arrival.settings, reading, message).await?;
        count(arrival.feed(), result);
        Ok(())
    }

    /// Remembers the unknown devices of a request.
    pub(super) fn remember_unknown_devices(&self, arrival: FeedArrival<'_>, reading: &Reading) {
        if reading.reporters.iter().all(Option::is_some) {
            return;
        }
        // Created once for all devices, because a body may have megabytes.
        let stored = arrival.request.stored();
        for (message, _) in reading.messages().filter(|(_, reporter)| reporter.is_none()) {
            self.remember_unknown_sender(arrival, message, &stored);
        }
    }

    fn remember_unknown_sender(&self, arrival: FeedArrival<'_>, message: &FeedMessage, stored: &[u8]) {
        let Some(identifier) = message.identifiers.first() else { return };
        self.strangers.remember(UnknownDevice {
            account: Some(arrival.gateway.account),
            identifier,
            source: arrival.feed().name,
            peer: SocketAddr::new(arrival.peer, 0),
            datagram: false,
            bytes: stored,
        });
    }
}

/// The raw message of a request without a known device.
const fn unknown(message: NewMessage, result: MessageResult, sos: Vec<SosNotice>) -> RequestMessage {
    RequestMessage { message, result, devices: MessageDevices::Unknown, sos }
}

/// Counts a message in the metrics.
pub(super) fn count(feed: &Feed, result: MessageResult) {
    metrics::counter!("perigee_gateway_messages_total", "source" => feed.name, "result" => result.name())
        .increment(1);
}
