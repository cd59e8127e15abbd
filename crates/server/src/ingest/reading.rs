//! Decodes requests of gateways, and finds the device of each message.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::gateways::message_contents::MessageDevices;
use perigee_core::store::Store;
use perigee_gateways::{FeedDecoded, FeedMessage, Options, Report};

use super::contents::message_error;
use super::error::IngestError;
use super::feed_body::{DecodedBody, FeedBody, FeedSettings};
use crate::budget::{Budget, Permit};

/// A decoded request, and the device of each of its messages; `None` if no device of the account has its identifiers.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) decoded: FeedDecoded,
    pub(super) reporters: Vec<Option<Arc<Reporter>>>,
    /// Holds the memory of the decoded content.
    _permit: Permit,
}

impl Reading {
    /// The messages with their devices.
    pub(super) fn messages(&self) -> impl Iterator<Item = (&FeedMessage, Option<&Reporter>)> {
        let reporters = self.reporters.iter().map(Option::as_deref);
        self.decoded.messages.iter().zip(reporters.chain(std::iter::repeat(None)))
    }

    /// The devices that report in the request.
    pub(super) fn devices(&self) -> MessageDevices {
        MessageDevices::of(self.messages().map(|(_, reporter)| Some(reporter?.device)))
    }

    /// Why it could not be decoded completely.
    pub(super) fn error(&self) -> Option<String> {
        let of_message = || self.decoded.messages.iter().find_map(message_error);
        self.decoded.error.or_else(of_message).map(|error| error.to_string())
    }
}

/// The settings of a gateway in the form that its feed uses.
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

/// The options of a gateway with the models and options of the devices of a request; `None` if no device has any.
pub(super) fn with_devices(
    gateway: &Gateway,
    options: &Options,
    messages: &[FeedMessage],
    reporters: &[Option<Arc<Reporter>>],
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

/// Decodes requests, charged to the memory of their account, and finds their devices.
pub struct Reader {
    store: Arc<dyn Store>,
    pub(super) budget: Budget,
}

impl Reader {
    pub(super) fn new(store: Arc<dyn Store>, budget: Budget) -> Self {
        Self { store, budget }
    }

    /// Decodes a request of a gateway. Some payloads depend on the model and the options of the device, which is only known
    /// after decoding: if they are set, the request is decoded a second time.
    pub(super) async fn read(
        &self,
        gateway: &Gateway,
        request: &FeedBody,
        settings: &FeedSettings,
    ) -> Result<Reading, IngestError> {
        let DecodedBody { decoded, permit } = request.decode(&self.budget, settings).await?;
        let reporters = self.reporters(gateway, &decoded.messages).await?;
        let Some(options) = with_devices(gateway, &settings.options, &decoded.messages, &reporters) else {
            return Ok(Reading { decoded, reporters, _permit: permit });
        };
        let count = decoded.messages.len();
        // Freed before the next allocation of the same size.
        drop((decoded, permit));
        let settings = FeedSettings { options: Arc::new(options), ..settings.clone() };
        let DecodedBody { decoded, permit } = request.decode(&self.budget, &settings).await?;
        let is_alike = decoded.messages.len() == count;
        let reporters = if is_alike { reporters } else { self.reporters(gateway, &decoded.messages).await? };
        Ok(Reading { decoded, reporters, _permit: permit })
    }

    /// The device of each message.
    pub(super) async fn reporters(
        &self,
        gateway: &Gateway,
        messages: &[FeedMessage],
    ) -> Result<Vec<Option<Arc<Reporter>>>, StoreError> {
        // Each device is looked up once; most requests concern one or a few devices.
        let mut numbers: HashMap<&[String], usize> = HashMap::new();
        let mut names: Vec<Vec<String>> = Vec::new();
        for message in messages {
            numbers.entry(message.identifiers.as_slice()).or_insert_with(|| {
                names.push(message.identifiers.clone());
                names.len() - 1
            });
        }
        let found = self.store.find_gateway_devices(gateway, names).await?;
        let found: Vec<Option<Arc<Reporter>>> = found.into_iter().map(|one| one.map(Arc::new)).collect();
        let of = |message: &FeedMessage| {
            let number = numbers.get(message.identifiers.as_slice())?;
            found.get(*number).cloned().flatten()
        };
        Ok(messages.iter().map(of).collect())
    }
}
