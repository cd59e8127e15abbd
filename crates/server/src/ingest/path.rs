//! The way of a message: its device is found, it is stored with what it says, and everybody who waits is told.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perigee_core::alerts::emergency::EmergencyStep;
use perigee_core::alerts::sos_notice::SosNotice;
use perigee_core::error::StoreError;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::decoding::ZoneWatch;
use perigee_core::gateways::gateway::{MessageResult, NewMessage, Reporter};
use perigee_core::gateways::message_contents::{MessageContents, StoredMessage};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::Outcome;
use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic, Timestamp};
use perigee_gateways::{Report, UploadedFile};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::contents::{contents_of, new_files};
use super::decoding::Told;
use super::feed_reports::FeedReports;
use super::heard::{HeardDevices, UnknownDevice};
use super::raw_quota::{RawLimits, RawQuota, RawSender};
use super::sos::SosSign;
use super::turns::{Turn, Turns};
use super::uploads::Uploads;
use crate::access::RateLimits;
use crate::budget::Budget;
use crate::cache::BoundedMap;
use crate::signals::Signals;

/// How long it is remembered whose an identifier is. A device that is claimed or moved is noticed after this time.
pub(super) const REMEMBERED: Duration = Duration::from_secs(5);
/// Identifiers that are remembered.
const IDENTIFIERS_MAX: usize = 20_000;
/// Devices whose protocol is remembered.
const PROTOCOLS_MAX: usize = 20_000;
/// Devices whose fixes are compared with their arrival.
const ZONES_MAX: usize = 20_000;

/// Devices whose address is remembered.
const ADDRESSES_MAX: usize = 20_000;

/// Settings for all devices of a protocol, by its name.
pub(super) type ProtocolOptions = BTreeMap<String, Map<String, Value>>;

/// Stores what gateways receive.
pub struct Ingest {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) budget: Budget,
    rates: Arc<RateLimits>,
    turns: Turns,
    pub(super) raw: RawQuota,
    signals: Arc<Signals>,
    found: Mutex<BoundedMap<Vec<String>, Found>>,
    spoken: Mutex<BoundedMap<DeviceId, &'static str>>,
    pub(super) heard: HeardDevices,
    pub(super) claims: Notify,
    pub(super) connected: Mutex<HashMap<DeviceId, Vec<Arc<Notify>>>>,
    /// Which claims decide whose a report on a shared listener is.
    pub(super) counted_claims: CountedClaims,
    /// Engines of devices that move faster, in kilometres an hour, are not stopped.
    pub(super) engine_stop_max_kmh: f64,
    pub(super) feeds: FeedReports,
    pub(super) protocol_options: ProtocolOptions,
    pub(super) zones: Mutex<BoundedMap<DeviceId, ZoneWatch>>,
    /// Where the latest datagram of each device came from.
    pub(super) addresses: Mutex<BoundedMap<DeviceId, SocketAddr>>,
    /// Memory for files whose parts have not all arrived.
    pub(super) uploads: Uploads,
    /// When settings of devices were changed on this node.
    pub(super) changed: Mutex<BoundedMap<DeviceId, Monotonic>>,
}

/// Settings of the operator for what gateways receive.
#[derive(Clone, Debug)]
pub struct IngestSettings {
    /// Which claims decide whose a report on a shared listener is.
    pub counted_claims: CountedClaims,
    /// Engines of devices that move faster, in kilometres an hour, are not stopped.
    pub engine_stop_max_kmh: f64,
    /// Settings for all devices of a protocol, by its name.
    pub protocol_options: BTreeMap<String, Map<String, Value>>,
    /// How much of raw messages is kept.
    pub raw_limits: RawLimits,
}

/// A device that was looked for; `None` if there was none.
#[derive(Clone, Debug)]
struct Found {
    reporter: Option<Arc<Reporter>>,
    at: Monotonic,
}

/// A message of a known device, with what was read of it.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// The message as it was received, stored with its locations.
    pub message: NewMessage,
    /// The decoded reports, in the order of the message.
    pub reports: &'a [Report],
    /// Files that it completed.
    pub files: &'a [UploadedFile],
    /// Steps of emergencies that it reports.
    pub steps: Vec<EmergencyStep>,
    /// When and where it asks for help, if it does.
    pub sos: Option<SosSign>,
    /// What it told of the device itself.
    pub told: Told,
    /// When this service received it.
    pub at: Timestamp,
}

impl Ingest {
    /// An ingest path that has seen nothing.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        budget: Budget,
        rates: Arc<RateLimits>,
        signals: Arc<Signals>,
        settings: IngestSettings,
    ) -> Self {
        let IngestSettings { counted_claims, engine_stop_max_kmh, protocol_options, raw_limits } = settings;
        Self {
            raw: RawQuota::new(Arc::clone(&clock), raw_limits),
            store,
            clock,
            budget,
            rates,
            turns: Turns::default(),
            signals,
            found: Mutex::new(BoundedMap::new(IDENTIFIERS_MAX)),
            spoken: Mutex::new(BoundedMap::new(PROTOCOLS_MAX)),
            heard: HeardDevices::default(),
            claims: Notify::new(),
            connected: Mutex::default(),
            counted_claims,
            engine_stop_max_kmh,
            feeds: FeedReports::default(),
            protocol_options,
            zones: Mutex::new(BoundedMap::new(ZONES_MAX)),
            addresses: Mutex::new(BoundedMap::new(ADDRESSES_MAX)),
            uploads: Uploads::default(),
            changed: Mutex::new(BoundedMap::new(IDENTIFIERS_MAX)),
        }
    }

    /// The present by the service's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn found(&self) -> MutexGuard<'_, BoundedMap<Vec<String>, Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what was found still holds: it is not old, and its device was not changed since.
    fn is_current(&self, found: &Found, now: Monotonic) -> bool {
        let device = found.reporter.as_ref().map(|reporter| reporter.device);
        let changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = device.and_then(|device| changed.get(&device).copied());
        found.at.plus(REMEMBERED) > now && changed.is_none_or(|changed| changed < found.at)
    }

    /// Finds the device of one of these identifiers on a listener that all accounts share.
    pub async fn find(&self, identifiers: &[String]) -> Result<Option<Arc<Reporter>>, StoreError> {
        let now = self.clock.monotonic();
        if let Some(known) = self.found().get(&identifiers.to_vec())
            && self.is_current(known, now)
        {
            return Ok(known.reporter.clone());
        }
        let reporter = self.store.find_claimed_device(identifiers, self.counted_claims).await?.map(Arc::new);
        let entry = Found { reporter: reporter.clone(), at: now };
        self.found().insert(identifiers.to_vec(), entry, |found| found.at.plus(REMEMBERED) > now);
        Ok(reporter)
    }

    /// Forgets whose these identifiers are, after the store knew better.
    pub fn forget(&self, identifiers: &[String]) {
        self.found().remove(&identifiers.to_vec());
    }

    /// Forgets whose an identifier is and looks for what was kept of it, after an operator gave it to a device.
    pub fn claims_changed(&self, identifier: &str) {
        self.forget(&[identifier.to_owned()]);
        self.claims.notify_one();
    }

    /// How long a device has to wait after so many messages before its next one is taken; `None` if it need not. They are
    /// counted for the device on all its connections, and for its account.
    pub fn pause(&self, reporter: &Reporter, messages: usize) -> Option<Duration> {
        let of_device = self.rates.device_messages(reporter.device, messages);
        let of_account = self.rates.submission(reporter.scope.account).and_then(|rated| {
            let wait_s = u64::try_from(rated.allowance.wait_s).unwrap_or(0).max(1);
            (!rated.allowance.allowed).then(|| Duration::from_secs(wait_s))
        });
        of_device.max(of_account)
    }

    /// Waits until a batch of a device may be stored.
    pub async fn turn(&self, reporter: &Reporter, messages: usize) -> Turn {
        self.turns.take(reporter, messages).await
    }

    /// Whether a datagram of this address is looked at.
    pub fn admits_datagram(&self, address: IpAddr) -> bool {
        self.rates.datagram(address)
    }

    /// Stores a message with all it says, in one commit. Once this returns a result the message may be acknowledged.
    pub async fn store(
        &self,
        reporter: &Reporter,
        arrival: Arrival<'_>,
    ) -> Result<MessageResult, StoreError> {
        let Arrival { mut message, reports, files, steps, sos, told, at } = arrival;
        let source = message.source;
        // Of a gateway, the gateway's quota counts; it may have devices that nobody has chosen.
        let gateway = message.gateway;
        let device = Some(reporter.device).filter(|_| gateway.is_none());
        let sender = RawSender { account: reporter.scope.account, gateway, device };
        let (bytes, keep) = (message.bytes.len(), self.raw.keep(sender, message.bytes.len()));
        message.keep = keep;
        let notice = sos.map(|sos| sos.of_expired(reporter, source, &message.peer));
        let contents = MessageContents {
            steps,
            files: new_files(files, source),
            sos: notice.clone(),
            ..contents_of(reports, at)
        };
        let StoredMessage { result, contents } =
            self.store.store_message(reporter, message, contents).await?;
        self.raw.note(sender, bytes, keep, result);
        if let Some(notice) = notice.filter(|_| result == MessageResult::ExpiredDevice) {
            self.tell_operators(notice).await;
        }
        for outcome in contents.files {
            let result = if outcome == Outcome::Accepted { "stored" } else { "duplicate" };
            metrics::counter!("perigee_gateway_files_total", "source" => source, "result" => result)
                .increment(1);
        }
        self.signals.announce(reporter.scope.account);
        metrics::counter!("perigee_gateway_messages_total", "source" => source, "result" => result.name())
            .increment(1);
        self.note_protocol(reporter, source).await;
        self.note_told(reporter, &told, at).await;
        Ok(result)
    }

    /// Notifies the operators of an SOS that is no alert. The people of its account were notified with the message.
    pub(super) async fn tell_operators(&self, notice: SosNotice) {
        if let Err(error) = self.store.announce_sos(None, notice).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "operators could not be notified of an SOS"
            );
        }
    }

    /// Memory for files whose parts have not all arrived.
    pub fn uploads(&self) -> &Uploads {
        &self.uploads
    }

    /// Wakes everybody who waits for a commit in this account.
    pub(super) fn announce(&self, account: AccountId) {
        self.signals.announce(account);
    }

    /// Records the protocol of a device when it is another than before.
    pub(super) async fn note_protocol(&self, reporter: &Reporter, protocol: &'static str) {
        let spoken = || self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        if spoken().get(&reporter.device) == Some(&protocol) {
            return;
        }
        match self.store.set_protocol(reporter, protocol).await {
            Ok(()) => spoken().insert(reporter.device, protocol, |_| true),
            // It is written with the next message.
            Err(error) => tracing::debug!(%error, "could not record a device's protocol"),
        }
    }

    /// Remembers an unknown device, unless its address names too many.
    pub fn note_unknown_device(&self, unknown: UnknownDevice<'_>) {
        if self.heard.knows(unknown.account, unknown.identifier)
            || self.rates.unknown_device(unknown.peer.ip())
        {
            self.heard.note(unknown, self.clock.now());
        }
    }
}
