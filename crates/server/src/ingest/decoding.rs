//! Decoding settings of a device: its model and options, those of its protocol, and the facts that it reported.

use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::error::StoreError;
use perigee_core::gateways::decoding::{Decoding, ZoneWatch};
use perigee_core::gateways::gateway::Reporter;
use perigee_core::id::DeviceId;
use perigee_core::store::Store;
use perigee_core::time::Timestamp;
use perigee_gateways::{Decoded, Options, Protocol, Report, find_model};

use super::lookup::DeviceLookup;
use super::path::ProtocolOptions;
use crate::cache::BoundedMap;

/// Maximum number of devices whose protocol is cached.
const PROTOCOLS_MAX: usize = 20_000;
/// Maximum number of devices whose fixes are compared with their arrival.
const ZONES_MAX: usize = 20_000;
/// Maximum characters of a reported model.
const MODEL_MAX: usize = 100;

/// Model and options with which messages of a device are decoded and its commands are encoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceDecoding {
    /// The name that decoders use.
    pub model: Option<String>,
    /// Options of the protocol, of the model and of the device itself.
    pub options: Options,
}

/// Facts about the device in a frame, besides its reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfReport {
    /// Model that the device reported.
    model: Option<String>,
    /// The newest fix, and the offset from UTC, in minutes, with which its time was read.
    fix: Option<(Timestamp, i64)>,
}

impl SelfReport {
    /// The facts in a frame. Fixes that the device had buffered are not used to check its clock.
    pub fn of(decoded: &Decoded) -> Self {
        if decoded.is_damaged() {
            return Self::default();
        }
        let is_live = |report: &&Report| report.position.is_some() && report.get("archive").is_none();
        let newest = decoded.reports.iter().filter(is_live).filter_map(|report| report.time).max();
        let model = decoded.model.as_ref().filter(|model| {
            !model.is_empty() && model.chars().count() <= MODEL_MAX && !model.chars().any(char::is_control)
        });
        Self { model: model.cloned(), fix: newest.zip(decoded.zone_minutes) }
    }
}

/// The decoding settings of devices, and what they report about themselves.
pub struct Decodings {
    store: Arc<dyn Store>,
    devices: Arc<DeviceLookup>,
    protocol_options: ProtocolOptions,
    protocols: Mutex<BoundedMap<DeviceId, &'static str>>,
    zones: Mutex<BoundedMap<DeviceId, ZoneWatch>>,
}

impl Decodings {
    pub(super) fn new(
        store: Arc<dyn Store>,
        devices: Arc<DeviceLookup>,
        protocol_options: ProtocolOptions,
    ) -> Self {
        Self {
            store,
            devices,
            protocol_options,
            protocols: Mutex::new(BoundedMap::new(PROTOCOLS_MAX)),
            zones: Mutex::new(BoundedMap::new(ZONES_MAX)),
        }
    }

    /// The decoding settings of a protocol, and of this device if it is known. The model that a connection reported is
    /// used if the device has no known model.
    pub fn of_reporter(
        &self,
        protocol: &Protocol,
        reporter: Option<&Reporter>,
        reported_model: Option<&str>,
    ) -> DeviceDecoding {
        let set = reporter.and_then(|reporter| reporter.model.as_deref());
        let reported_model =
            reported_model.or_else(|| reporter.and_then(|reporter| reporter.reported_model.as_deref()));
        self.of_device(protocol, set, reported_model, reporter.map(|reporter| &reporter.decoding))
    }

    /// The same for a device with this model, reported model and options.
    pub fn of_device(
        &self,
        protocol: &Protocol,
        model: Option<&str>,
        reported: Option<&str>,
        own: Option<&Decoding>,
    ) -> DeviceDecoding {
        let known = model.and_then(find_model).or_else(|| reported.and_then(find_model));
        // A model that no decoder knows must not hide the reported one.
        let name = known.map(|model| model.read_as).or(reported).or(model);
        let of_protocol = self.protocol_options.get(protocol.name);
        let nothing = Decoding::default();
        DeviceDecoding {
            model: name.map(str::to_owned),
            options: Options::for_device(of_protocol, protocol, known, own.unwrap_or(&nothing)),
        }
    }

    /// Records the protocol of a device if it has changed.
    pub(super) async fn note_protocol(&self, reporter: &Reporter, protocol: &'static str) {
        let protocols = || self.protocols.lock();
        if protocols().get(&reporter.device) == Some(&protocol) {
            return;
        }
        match self.store.set_protocol(reporter, protocol).await {
            Ok(()) => protocols().insert(reporter.device, protocol, |_| true),
            // It is written with the next message.
            Err(error) => tracing::debug!(%error, "could not record a device's protocol"),
        }
    }

    /// Records facts that a device reported, if they are new: its model, and a proposed time zone.
    pub(super) async fn note_self_report(
        &self,
        reporter: &Reporter,
        self_report: &SelfReport,
        at: Timestamp,
    ) {
        if let Some(model) = &self_report.model
            && reporter.reported_model.as_ref() != Some(model)
        {
            self.after_noting(reporter, self.store.set_reported_model(reporter, model).await);
        }
        let Some((fix, zone)) = self_report.fix else { return };
        let Some(fitting) = self.fitting_zone(reporter.device, fix, at, zone) else { return };
        let proposed = i32::try_from(fitting).ok().filter(|_| fitting != zone);
        if proposed != reporter.proposed_zone_minutes {
            self.after_noting(reporter, self.store.set_proposed_zone(reporter, proposed).await);
        }
    }

    fn after_noting(&self, reporter: &Reporter, result: Result<(), StoreError>) {
        match result {
            Ok(()) => self.devices.invalidate_device(reporter.device),
            // It is written with a later message.
            Err(error) => tracing::debug!(%error, "could not record what a device reported about itself"),
        }
    }

    /// Compares the time of a fix with its arrival, and returns the time zone in which the newest fixes are current,
    /// once it is known.
    fn fitting_zone(&self, device: DeviceId, fix: Timestamp, at: Timestamp, zone: i64) -> Option<i64> {
        let mut zones = self.zones.lock();
        let watch = match zones.get(&device) {
            Some(before) => {
                let mut watch = *before;
                watch.note(fix, at, zone);
                watch
            }
            None => ZoneWatch::new(fix, at, zone),
        };
        zones.insert(device, watch, |_| true);
        watch.zone_minutes()
    }
}
