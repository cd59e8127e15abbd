//! How messages of a device are read: its model and options over those of its protocol, and what it told of itself.

use std::sync::PoisonError;

use perigee_core::gateways::decoding::{Decoding, ZoneWatch};
use perigee_core::gateways::gateway::Reporter;
use perigee_core::id::DeviceId;
use perigee_core::time::{Monotonic, Timestamp};
use perigee_gateways::{Decoded, Options, Protocol, Report, find_model};

use super::path::{Ingest, REMEMBERED};

/// Characters of a model that a device told.
const MODEL_MAX: usize = 100;

/// Model and options by which messages of a device are read and its commands are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceDecoding {
    /// As decoders know it.
    pub model: Option<String>,
    /// Those of the protocol, of the model and of the device itself.
    pub options: Options,
}

/// What a frame told of its device, beside its reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The model.
    model: Option<String>,
    /// The newest fix, and the zone of the clock by which it was read, in minutes ahead of UTC.
    fix: Option<(Timestamp, i64)>,
}

impl Told {
    /// What a frame told. Fixes from a device's memory tell nothing about its clock.
    pub fn by(decoded: &Decoded) -> Self {
        if decoded.is_damaged() {
            return Self::default();
        }
        let is_live = |report: &&Report| report.place.is_some() && report.get("archive").is_none();
        let newest = decoded.reports.iter().filter(is_live).filter_map(|report| report.time).max();
        let model = decoded.model.as_ref().filter(|model| {
            !model.is_empty() && model.chars().count() <= MODEL_MAX && !model.chars().any(char::is_control)
        });
        Self { model: model.cloned(), fix: newest.zip(decoded.zone_minutes) }
    }
}

impl Ingest {
    /// How messages in a protocol are read, of this device once it is known. The model that a connection told counts
    /// where the device has none that is known.
    pub fn decoding(
        &self,
        protocol: &Protocol,
        reporter: Option<&Reporter>,
        told: Option<&str>,
    ) -> DeviceDecoding {
        let set = reporter.and_then(|reporter| reporter.model.as_deref());
        let told = told.or_else(|| reporter.and_then(|reporter| reporter.reported_model.as_deref()));
        self.decoding_of(protocol, set, told, reporter.map(|reporter| &reporter.decoding))
    }

    /// The same for a device of which model, told model and options are given.
    pub fn decoding_of(
        &self,
        protocol: &Protocol,
        model: Option<&str>,
        told: Option<&str>,
        own: Option<&Decoding>,
    ) -> DeviceDecoding {
        let known = model.and_then(find_model).or_else(|| told.and_then(find_model));
        // A text that no decoder knows must not hide what the device tells.
        let name = known.map(|model| model.read_as).or(told).or(model);
        let of_protocol = self.protocol_options.get(protocol.name);
        let nothing = Decoding::default();
        DeviceDecoding {
            model: name.map(str::to_owned),
            options: Options::for_device(of_protocol, protocol, known, own.unwrap_or(&nothing)),
        }
    }

    /// Has a device looked for anew whose settings have changed, so that their next message is read by the new ones. Other
    /// nodes notice after some seconds.
    pub fn forget_device(&self, device: DeviceId) {
        let now = self.clock.monotonic();
        let is_fresh = |changed: &Monotonic| changed.plus(REMEMBERED) > now;
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).insert(device, now, is_fresh);
    }

    /// Records what a device told of itself, if it is not known yet: its model, and a time zone to propose.
    pub(super) async fn note_told(&self, reporter: &Reporter, told: &Told, at: Timestamp) {
        if let Some(model) = &told.model
            && reporter.reported_model.as_ref() != Some(model)
        {
            self.after_telling(reporter, self.store.set_reported_model(reporter, model).await);
        }
        let Some((fix, zone)) = told.fix else { return };
        let Some(fitting) = self.fitting_zone(reporter.device, fix, at, zone) else { return };
        let proposed = i32::try_from(fitting).ok().filter(|_| fitting != zone);
        if proposed != reporter.proposed_zone_minutes {
            self.after_telling(reporter, self.store.set_proposed_zone(reporter, proposed).await);
        }
    }

    fn after_telling(&self, reporter: &Reporter, result: Result<(), perigee_core::error::StoreError>) {
        match result {
            Ok(()) => {
                self.forget_device(reporter.device);
                self.announce(reporter.scope.account);
            }
            // It is written with a later message.
            Err(error) => tracing::debug!(%error, "could not record what a device reported about itself"),
        }
    }

    /// Compares a fix with its arrival, and gives the zone by which the newest fixes are of the present, once it is known.
    fn fitting_zone(&self, device: DeviceId, fix: Timestamp, at: Timestamp, zone: i64) -> Option<i64> {
        let mut zones = self.zones.lock().unwrap_or_else(PoisonError::into_inner);
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
