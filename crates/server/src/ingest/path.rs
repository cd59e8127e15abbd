//! The path of a message: its device is found, it is stored with its content, and waiting streams and jobs are woken.

use std::collections::BTreeMap;
use std::sync::Arc;

use perigee_core::alerts::emergency::EmergencyStep;
use perigee_core::devices::conversation::NewText;
use perigee_core::error::StoreError;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::{MessageResult, NewMessage, Reporter};
use perigee_core::gateways::message_contents::{MessageContents, StoredMessage};
use perigee_core::locations::location::Outcome;
use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic, Timestamp};
use perigee_gateways::{Report, UploadedFile};
use serde_json::{Map, Value};

use super::admission::Admission;
use super::commands::DeviceCommands;
use super::contents::{contents_of, new_files};
use super::decoding::{Decodings, SelfReport};
use super::feed_reports::FeedReports;
use super::lookup::DeviceLookup;
use super::networks::ReportNetworks;
use super::reading::Reader;
use super::sos::SosSign;
use super::stored::raw_quota::{RawLimits, RawQuota, RawSender};
use super::strangers::Strangers;
use super::uploads::Uploads;
use crate::access::RateLimits;
use crate::budget::Budget;

/// Settings for all devices of a protocol, by its name.
pub type ProtocolOptions = BTreeMap<String, Map<String, Value>>;

/// Stores messages of gateways and listeners.
pub struct Ingest {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) budget: Budget,
    /// The devices of identifiers on shared listeners.
    pub devices: Arc<DeviceLookup>,
    /// Rate limits and turns of devices.
    pub admission: Admission,
    /// Quotas of raw messages.
    pub raw: RawQuota,
    /// With which settings messages are decoded, and what devices report about themselves.
    pub decodings: Decodings,
    /// Decodes requests without storing them.
    pub reader: Reader,
    /// Commands to devices that are connected to this node.
    pub commands: Arc<DeviceCommands>,
    /// Devices that no account has.
    pub strangers: Strangers,
    /// From which networks devices report.
    pub networks: ReportNetworks,
    /// Counts of gateways that are not saved yet.
    pub feeds: FeedReports,
    /// Memory for files whose parts have not all arrived.
    pub uploads: Uploads,
}

/// Settings of the operator for received messages.
#[derive(Clone, Debug)]
pub struct IngestSettings {
    /// Which claims decide the device of a report on a shared listener.
    pub counted_claims: CountedClaims,
    /// Maximum speed at which engines may be stopped, in km/h.
    pub engine_stop_max_kmh: f64,
    /// Settings for all devices of a protocol, by its name.
    pub protocol_options: ProtocolOptions,
    /// The quotas of raw messages.
    pub raw_limits: RawLimits,
}

/// A message of a known device, with its decoded content.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// The message as it was received, stored with its locations.
    pub message: NewMessage,
    /// The decoded reports, in the order of the message.
    pub reports: &'a [Report],
    /// Files that it completed.
    pub files: &'a [UploadedFile],
    /// A text that a person wrote.
    pub text: Option<NewText>,
    /// Steps of emergencies that it reports.
    pub steps: Vec<EmergencyStep>,
    /// Time and position of its SOS, if it is one.
    pub sos: Option<SosSign>,
    /// The facts about the device.
    pub self_report: SelfReport,
    /// When this service received it.
    pub at: Timestamp,
}

impl Ingest {
    /// An ingest path with empty caches.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        budget: Budget,
        rates: Arc<RateLimits>,
        settings: IngestSettings,
    ) -> Self {
        let IngestSettings { counted_claims, engine_stop_max_kmh, protocol_options, raw_limits } = settings;
        let devices = Arc::new(DeviceLookup::new(Arc::clone(&store), Arc::clone(&clock), counted_claims));
        Self {
            admission: Admission::new(Arc::clone(&rates)),
            raw: RawQuota::new(Arc::clone(&clock), raw_limits),
            decodings: Decodings::new(Arc::clone(&store), Arc::clone(&devices), protocol_options),
            reader: Reader::new(Arc::clone(&store), budget.clone()),
            commands: Arc::new(DeviceCommands::new(
                Arc::clone(&store),
                Arc::clone(&clock),
                engine_stop_max_kmh,
            )),
            strangers: Strangers::new(Arc::clone(&store), Arc::clone(&clock), Arc::clone(&rates)),
            networks: ReportNetworks::new(Arc::clone(&clock), rates),
            feeds: FeedReports::default(),
            uploads: Uploads::default(),
            store,
            clock,
            budget,
            devices,
        }
    }

    /// The current time of the service's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The monotonic time of the service's clock.
    pub fn monotonic(&self) -> Monotonic {
        self.clock.monotonic()
    }

    /// Stores a message with its content, in one commit. After this returns a result the message may be acknowledged.
    pub async fn store(
        &self,
        reporter: &Reporter,
        arrival: Arrival<'_>,
    ) -> Result<MessageResult, StoreError> {
        let Arrival { mut message, reports, files, text, steps, sos, self_report, at } = arrival;
        let source = message.source;
        // For a gateway, the quota of the gateway applies, because it may have devices that no user created.
        let gateway = message.gateway;
        let device = Some(reporter.device).filter(|_| gateway.is_none());
        let sender = RawSender { account: reporter.scope.account, gateway, device };
        let (bytes, keep) = (message.bytes.len(), self.raw.keep(sender, message.bytes.len()));
        message.keep = keep;
        let contents = MessageContents {
            steps,
            files: new_files(files, source),
            texts: text.into_iter().collect(),
            sos: sos.map(|sos| sos.of_expired(reporter, source, &message.peer)),
            ..contents_of(reports, at)
        };
        let stored = self.store.store_message(reporter, message, contents).await;
        let StoredMessage { result, contents } = stored?;
        self.raw.note(sender, bytes, keep, result);
        for outcome in contents.files {
            let result = if outcome == Outcome::Accepted { "stored" } else { "duplicate" };
            metrics::counter!("perigee_gateway_files_total", "source" => source, "result" => result)
                .increment(1);
        }
        metrics::counter!("perigee_gateway_messages_total", "source" => source, "result" => result.name())
            .increment(1);
        self.decodings.note_protocol(reporter, source).await;
        self.decodings.note_self_report(reporter, &self_report, at).await;
        Ok(result)
    }
}
