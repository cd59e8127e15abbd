//! Decodes requests of gateways, and finds the device of each message.

use std::collections::{HashMap, HashSet};

use perigee_core::account_gateway::Gateway;
use perigee_core::error::StoreError;
use perigee_core::gateway::Reporter;
use perigee_core::time::Timestamp;
use perigee_gateways::{Feed, FeedContext, FeedDecoded, FeedMessage, FeedRequest, Options, Report};

use super::path::Ingest;

/// A decoded request, and the device of each of its messages; `None` if no device of the account has its identifiers.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) decoded: FeedDecoded,
    pub(super) reporters: Vec<Option<Reporter>>,
}

impl Reading {
    /// The messages with their devices.
    pub(super) fn messages(&self) -> impl Iterator<Item = (&FeedMessage, Option<&Reporter>)> {
        let reporters = self.reporters.iter().map(Option::as_ref);
        self.decoded.messages.iter().zip(reporters.chain(std::iter::repeat(None)))
    }

    /// Why it could not be read, or not in full.
    pub(super) fn error(&self) -> Option<String> {
        let of_message = || self.decoded.messages.iter().find_map(|message| message.error);
        self.decoded.error.or_else(of_message).map(|error| error.to_string())
    }
}

/// A request that came by a gateway.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent<'a> {
    pub(super) feed: &'static Feed,
    pub(super) request: FeedRequest<'a>,
    pub(super) options: &'a Options,
    pub(super) at: Timestamp,
}

impl Sent<'_> {
    fn decode(&self, options: &Options) -> FeedDecoded {
        (self.feed.decode)(&self.request, &FeedContext { now: self.at, options })
    }
}

/// The settings of a gateway as its feed reads them.
pub(super) fn options_of(gateway: &Gateway) -> Options {
    Options::new(serde_json::from_str(&gateway.settings.options).unwrap_or_default())
}

/// The reports that become locations. Test messages have none. The alarms of an emergency are left out, because its steps
/// are stored as one alert.
pub(super) fn reports(message: &FeedMessage) -> Vec<Report> {
    if message.test {
        return Vec::new();
    }
    let mut reports = message.reports.clone();
    for report in &mut reports {
        if message.sos.is_some() {
            report.alarms.retain(|word| !["sos", "sosCancel"].contains(word));
        }
    }
    if let (Some(report), Some(text)) = (reports.first_mut(), &message.text) {
        report.set_text("message", text);
    }
    reports
}

/// The options of a gateway with the models and options of the devices that a request names; `None` if none has any.
pub(super) fn with_devices(
    gateway: &Gateway,
    options: &Options,
    messages: &[FeedMessage],
    reporters: &[Option<Reporter>],
) -> Option<Options> {
    let mut changed: Option<Options> = None;
    let mut done = HashSet::new();
    for (message, reporter) in messages.iter().zip(reporters) {
        let Some(reporter) = reporter.as_ref() else { continue };
        let name = message.identifiers.first().map(String::as_str);
        let name = if gateway.settings.device.is_some() { None } else { name };
        let is_plain = reporter.model.is_none() && reporter.decoding.is_empty();
        if !is_plain && done.insert(name) {
            let present = changed.unwrap_or_else(|| options.clone());
            changed = Some(present.with_device(name, reporter.model.as_deref(), &reporter.decoding));
        }
    }
    changed
}

impl Ingest {
    /// Decodes a request of a gateway. Some payloads depend on the model and the options of the device, which is only known
    /// after decoding: if they are set, the request is decoded a second time.
    pub(super) async fn read(&self, gateway: &Gateway, sent: Sent<'_>) -> Result<Reading, StoreError> {
        let decoded = sent.decode(sent.options);
        let reporters = self.reporters(gateway, &decoded.messages).await?;
        let Some(options) = with_devices(gateway, sent.options, &decoded.messages, &reporters) else {
            return Ok(Reading { decoded, reporters });
        };
        let again = sent.decode(&options);
        let is_alike = again.messages.len() == decoded.messages.len();
        let reporters = if is_alike { reporters } else { self.reporters(gateway, &again.messages).await? };
        Ok(Reading { decoded: again, reporters })
    }

    /// The device of each message.
    pub(super) async fn reporters(
        &self,
        gateway: &Gateway,
        messages: &[FeedMessage],
    ) -> Result<Vec<Option<Reporter>>, StoreError> {
        let mut known: HashMap<&[String], Option<Reporter>> = HashMap::new();
        let mut reporters = Vec::with_capacity(messages.len());
        for message in messages {
            let names = message.identifiers.as_slice();
            if !known.contains_key(names) {
                known.insert(names, self.store.find_gateway_device(gateway, names).await?);
            }
            reporters.push(known.get(names).cloned().flatten());
        }
        Ok(reporters)
    }
}
