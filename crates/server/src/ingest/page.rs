//! Answers of providers that a poller fetched. Their locations and alerts are stored first; then the answer itself, together
//! with the poller's cursor.

use perigee_core::gateways::gateway::MessageResult;
use perigee_core::gateways::message_contents::RequestMessage;
use perigee_core::time::Timestamp;
use perigee_gateways::FeedDecoded;

use super::error::IngestError;
use super::feed::{FeedArrival, count};
use super::path::Ingest;

/// The result of an answer whose locations and alerts are stored. The answer itself is stored later, in the transaction that
/// moves the cursor: a poller that is killed in between fetches the same answer again, and duplicates are recognised.
#[derive(Debug)]
pub struct Page {
    /// What the answer contains.
    pub decoded: FeedDecoded,
    /// The answer as a raw message, if it had new content.
    pub raw: Option<RequestMessage>,
    /// The number of new messages, roughly: those after `known`, or 1 if there are none and a location or alert is new.
    pub messages: u64,
}

impl Ingest {
    /// Stores the locations and alerts of an answer. Messages after `known` count as new even without position and alarm.
    pub async fn take_page(
        &self,
        arrival: FeedArrival<'_>,
        known: Option<Timestamp>,
    ) -> Result<Page, IngestError> {
        let reading = self.reader.read(arrival.gateway, arrival.request, arrival.settings).await?;
        let account = arrival.gateway.account;
        let stored = self.store_contents(account, arrival.settings, &reading, None).await?;
        self.remember_unknown_devices(arrival, &reading);
        let error = reading.error();
        let times = reading.decoded.messages.iter().filter_map(|message| message.reports.first()?.time);
        let later = times.filter(|time| known.is_none_or(|known| *time > known)).count();
        let is_new = stored.is_new || later > 0 || reading.decoded.error.is_some();
        let result = match &error {
            Some(_) => MessageResult::Unparsable,
            None if stored.devices == 0 => MessageResult::UnknownDevice,
            None => MessageResult::Decoded,
        };
        let raw = is_new.then(|| RequestMessage {
            message: arrival.message(None, error),
            result,
            devices: reading.devices(),
            sos: arrival.unknown_sos(&reading),
        });
        let raw = raw.and_then(|raw| self.within_quota(arrival, raw));
        if is_new {
            count(arrival.feed(), result);
        }
        let messages = u64::try_from(later.max(usize::from(stored.is_new))).unwrap_or(u64::MAX);
        Ok(Page { decoded: reading.decoded, raw, messages })
    }
}
