//! Decoding a stored message again, after its device was created or a decoder was corrected.

use perigee_core::actor::Actor;
use perigee_core::error::StoreError;
use perigee_core::gateway::{MessageResult, RawMessage, Reporter};
use perigee_core::time::Timestamp;
use perigee_gateways::{Context, FeedContext, FeedMessage, Options, Report, find_feed, find_protocol};

use super::contents::{Contents, believed};
use super::feed::{StoredRequest, reports};
use super::path::Ingest;

/// What a message says by the decoders of this version.
struct Reading {
    reports: Vec<Report>,
    error: Option<String>,
}

impl Ingest {
    /// Decodes a message again and stores what it says. What was stored before stays as it is, and is not stored twice.
    /// Gives the message with its new result. `None` if it was deleted meanwhile.
    pub async fn reprocess(&self, message: RawMessage) -> Result<Option<RawMessage>, StoreError> {
        let Some(reporter) = self.store.find_message_device(&message).await? else {
            return Ok(Some(message));
        };
        let reading = read(&message, &reporter);
        let result = match &reading.error {
            Some(_) if reading.reports.is_empty() => MessageResult::Unparsable,
            _ => self.store_again(&reporter, &reading.reports, message.received_at).await?,
        };
        // It is known because of this message.
        let is_own = message.result == MessageResult::Decoded && result == MessageResult::Duplicate;
        let result = if is_own { MessageResult::Decoded } else { result };
        let changed = RawMessage { device: Some(reporter.device), result, error: reading.error, ..message };
        let is_there = self.store.set_message_result(&changed).await?;
        self.announce(reporter.scope.account);
        Ok(is_there.then_some(changed))
    }

    async fn store_again(
        &self,
        reporter: &Reporter,
        reports: &[Report],
        at: Timestamp,
    ) -> Result<MessageResult, StoreError> {
        let Contents { locations, alerts } = Contents::of(reports, at);
        let actor = Actor::for_gateway(reporter);
        let outcomes = match self.store.store_locations(&actor, reporter.device, locations).await {
            Err(StoreError::DeviceExpired(_)) => return Ok(MessageResult::ExpiredDevice),
            outcomes => outcomes?,
        };
        if !alerts.is_empty() {
            self.store.store_alerts(&actor, reporter.device, alerts).await?;
        }
        Ok(MessageResult::of_outcomes(&outcomes))
    }
}

fn read(message: &RawMessage, reporter: &Reporter) -> Reading {
    let options = Options::default();
    if let Some(protocol) = find_protocol(&message.source) {
        let context = Context {
            known: true,
            identifier: message.identifier.as_deref(),
            model: reporter.model.as_deref(),
            options: &options,
            datagram: false,
            now: message.received_at,
        };
        let decoded = (protocol.decoder)().decode(&message.bytes, &context);
        let error = decoded.error.map(|error| error.to_string());
        return Reading { reports: believed(&decoded).to_vec(), error };
    }
    let unreadable = |error: &str| Reading { reports: Vec::new(), error: Some(error.to_owned()) };
    let Some(feed) = find_feed(&message.source) else {
        return unreadable("this version does not know the protocol or feed");
    };
    let Some(stored) = StoredRequest::parse(&message.bytes) else {
        return unreadable("the request is not stored in full");
    };
    let context = FeedContext { now: message.received_at, options: &options };
    let decoded = (feed.decode)(&stored.request(), &context);
    // A request with one message may be of a gateway with a device of its own, whatever name it gives.
    let is_alone = decoded.messages.len() == 1;
    let is_theirs = |each: &&FeedMessage| is_alone || each.identifiers.contains(&reporter.identifier);
    let theirs: Vec<&FeedMessage> = decoded.messages.iter().filter(is_theirs).collect();
    let error = decoded.error.or_else(|| theirs.iter().find_map(|each| each.error));
    Reading {
        reports: theirs.into_iter().flat_map(reports).collect(),
        error: error.map(|error| error.to_string()),
    }
}
