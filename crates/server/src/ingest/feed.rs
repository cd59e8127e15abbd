//! Requests of satellite networks and phones: stored as they came, with what they say of each device.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use perigee_core::account_gateway::Gateway;
use perigee_core::actor::Actor;
use perigee_core::error::StoreError;
use perigee_core::gateway::{MessageResult, NewMessage, Reporter};
use perigee_core::time::Timestamp;
use perigee_gateways::{Feed, FeedContext, FeedMessage, FeedRequest, Options, Report};

use super::contents::Contents;
use super::heard::Stranger;
use super::path::{Arrival, Ingest};
use super::sos;

/// A request of a gateway, once its secret was checked.
#[derive(Clone, Copy, Debug)]
pub struct FeedArrival<'a> {
    /// The gateway that it came by.
    pub gateway: &'a Gateway,
    /// How it is read.
    pub feed: &'static Feed,
    /// The request of the provider or the phone.
    pub request: FeedRequest<'a>,
    /// Settings of the gateway.
    pub options: &'a Options,
    /// The client's address, as told by a trusted proxy if there is one.
    pub peer: IpAddr,
    /// When this service received it.
    pub at: Timestamp,
}

/// Headers that are part of a message. Others may hold secrets and are not stored.
const STORED_HEADERS: [&str; 4] = ["content-type", "user-agent", "x-limit-u", "x-limit-d"];

/// The request as it is stored: its first line, the headers that matter, an empty line, and the body.
fn stored_request(request: &FeedRequest<'_>) -> Vec<u8> {
    let mut text = format!("{} ?{}\n", request.method, request.query);
    for (name, value) in request.headers.iter().filter(|(name, _)| STORED_HEADERS.contains(name)) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    }
    text.push('\n');
    [text.as_bytes(), request.body].concat()
}

/// A request as it was stored, read back.
pub(super) struct StoredRequest<'a> {
    method: &'a str,
    query: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body: &'a [u8],
}

impl<'a> StoredRequest<'a> {
    /// Reads what [`stored_request`] wrote.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n")?;
        let mut lines = std::str::from_utf8(bytes.get(..end)?).ok()?.lines();
        let (method, query) = lines.next()?.split_once(" ?")?;
        let headers = lines.filter_map(|line| line.split_once(": ")).collect();
        Some(Self { method, query, headers, body: bytes.get(end + 2..)? })
    }

    /// The request as a feed reads it.
    pub(super) fn request(&self) -> FeedRequest<'_> {
        FeedRequest { method: self.method, query: self.query, headers: &self.headers, body: self.body }
    }
}

impl FeedArrival<'_> {
    fn message(&self, identifier: Option<String>, error: Option<String>) -> NewMessage {
        NewMessage {
            source: self.feed.name,
            peer: self.peer.to_string(),
            identifier,
            bytes: stored_request(&self.request),
            error,
        }
    }
}

/// The reports that become locations: a test of the provider or of the device says nothing about a place, and the steps
/// of an emergency are handled as one alert.
pub(super) fn reports(message: &FeedMessage) -> Vec<Report> {
    if message.test {
        return Vec::new();
    }
    let mut reports = message.reports.clone();
    for report in &mut reports {
        if message.sos.is_some() {
            report.alarms.retain(|word| *word != "sos");
        }
    }
    if let (Some(report), Some(text)) = (reports.first_mut(), &message.text) {
        report.set_text("message", text);
    }
    reports
}

impl Ingest {
    /// Stores a request with everything it says. Once this returns it may be acknowledged.
    pub async fn take_request(&self, arrival: FeedArrival<'_>) -> Result<(), StoreError> {
        let context = FeedContext { now: arrival.at, options: arrival.options };
        let decoded = (arrival.feed.decode)(&arrival.request, &context);
        let error = decoded.error.map(|error| error.to_string());
        match decoded.messages.as_slice() {
            [] => {
                let result = if error.is_some() { MessageResult::Unparsable } else { MessageResult::Decoded };
                self.store_alone(arrival, arrival.message(None, error), result).await
            }
            [message] => self.take_one(arrival, message).await,
            several => self.take_several(arrival, several, error).await,
        }
    }

    async fn store_alone(
        &self,
        arrival: FeedArrival<'_>,
        message: NewMessage,
        result: MessageResult,
    ) -> Result<(), StoreError> {
        self.store.store_gateway_message(arrival.gateway, message, result).await?;
        metrics::counter!("perigee_gateway_messages_total", "source" => arrival.feed.name, "result" => result.name())
            .increment(1);
        Ok(())
    }

    /// The ordinary case: one device, whose message is stored with its locations in one commit.
    async fn take_one(&self, arrival: FeedArrival<'_>, message: &FeedMessage) -> Result<(), StoreError> {
        let error = message.error.map(|error| error.to_string());
        let found = self.store.find_gateway_device(arrival.gateway, &message.identifiers).await?;
        let Some(reporter) = found else {
            self.note_feed_stranger(arrival, message);
            let raw = arrival.message(message.identifiers.first().cloned(), error);
            return self.store_alone(arrival, raw, MessageResult::UnknownDevice).await;
        };
        let named = Some(reporter.identifier.clone()).filter(|name| !name.is_empty());
        let raw = arrival.message(named, error);
        let reports = reports(message);
        let stored = Arrival { message: raw, reports: &reports, at: arrival.at };
        match self.store(&reporter, stored).await {
            // The device was deleted meanwhile; the message is stored.
            Ok(MessageResult::ExpiredDevice) | Err(StoreError::NotFound(_)) => Ok(()),
            Ok(_) => self.follow_emergency(&reporter, message, arrival.at).await,
            Err(error) => Err(error),
        }
    }

    /// Several devices in one request: it is stored once, before what it says.
    async fn take_several(
        &self,
        arrival: FeedArrival<'_>,
        messages: &[FeedMessage],
        error: Option<String>,
    ) -> Result<(), StoreError> {
        let result = if error.is_some() { MessageResult::Unparsable } else { MessageResult::Decoded };
        self.store_alone(arrival, arrival.message(None, error), result).await?;
        for message in messages {
            let found = self.store.find_gateway_device(arrival.gateway, &message.identifiers).await?;
            let Some(reporter) = found else {
                self.note_feed_stranger(arrival, message);
                continue;
            };
            let Contents { locations, alerts } = Contents::of(&reports(message), arrival.at);
            let actor = Actor::for_gateway(&reporter);
            match self.store.store_locations(&actor, reporter.device, locations).await {
                Ok(_) => {}
                Err(StoreError::DeviceExpired(_) | StoreError::NotFound(_)) => continue,
                Err(error) => return Err(error),
            }
            if !alerts.is_empty() {
                self.store.store_alerts(&actor, reporter.device, alerts).await?;
            }
            self.follow_emergency(&reporter, message, arrival.at).await?;
        }
        self.announce(arrival.gateway.account);
        Ok(())
    }

    pub(super) async fn follow_emergency(
        &self,
        reporter: &Reporter,
        message: &FeedMessage,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        match message.sos.filter(|_| !message.test) {
            Some(step) => sos::follow(&*self.store, reporter, step, message, at).await,
            None => Ok(()),
        }
    }

    fn note_feed_stranger(&self, arrival: FeedArrival<'_>, message: &FeedMessage) {
        let Some(identifier) = message.identifiers.first() else { return };
        self.note_stranger(Stranger {
            account: Some(arrival.gateway.account),
            identifier,
            source: arrival.feed.name,
            peer: SocketAddr::new(arrival.peer, 0),
            datagram: false,
            bytes: &stored_request(&arrival.request),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_request_is_read_back_without_its_secrets() {
        let headers =
            [("content-type", "text/plain"), ("authorization", "Bearer secret"), ("x-limit-u", "ana")];
        for body in [b"".as_slice(), b"\n\n\xff", b"a: b\n\nc"] {
            let request = FeedRequest { method: "POST", query: "id=1&lat=2", headers: &headers, body };
            let stored = stored_request(&request);
            assert!(!String::from_utf8_lossy(&stored).contains("secret"));
            let parsed = StoredRequest::parse(&stored).unwrap();
            let read = parsed.request();
            assert_eq!((read.method, read.query, read.body), ("POST", "id=1&lat=2", body));
            assert_eq!(
                (read.header("content-type"), read.header("x-limit-u")),
                (Some("text/plain"), Some("ana"))
            );
        }
        assert!(StoredRequest::parse(b"rubbish").is_none());
    }
}
