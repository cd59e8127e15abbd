//! Devices, groups, locations and alerts to test with.

use perigee_core::access::actor::{Actor, Reach};
use perigee_core::accounts::limits::Limits;
use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::emergency::{EmergencyStep, StepKind};
use perigee_core::devices::device::{Device, DeviceRef, DeviceSettings};
use perigee_core::events::event::EventKind;
use perigee_core::gateways::gateway::{NewMessage, Reporter};
use perigee_core::gateways::message_contents::{MessageContents, NewRequest, StoredContents};
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::groups::group::{Group, GroupSettings};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::locations::location::{
    DuplicateRule, HistoryRequest, Latitude, Location, Longitude, Order, Readings, TimeRange,
};
use perigee_core::store::{Devices as _, Groups as _, RawMessages as _};
use perigee_core::time::Timestamp;

use crate::fixture::{Fixture, Tenant};

/// A device with this name and nothing else set.
pub(crate) fn named(name: &str) -> DeviceSettings {
    DeviceSettings { name: name.into(), ..DeviceSettings::default() }
}

/// A device with this name that is active through this date.
pub(crate) fn until(name: &str, date: &str) -> DeviceSettings {
    let expiration_date = Some(date.parse().expect("a date"));
    DeviceSettings { limits: Limits { expiration_date, ..Limits::default() }, ..named(name) }
}

/// A group with this name and these devices.
pub(crate) fn group_of(name: &str, devices: &[DeviceId]) -> GroupSettings {
    GroupSettings { name: name.into(), description: None, devices: devices.to_vec() }
}

/// A location at this time and position, with nothing else.
pub(crate) fn fix(time: Timestamp, degrees: f64) -> Location {
    Location {
        time,
        latitude: Latitude::from_degrees(degrees).expect("a latitude"),
        longitude: Longitude::from_degrees(degrees).expect("a longitude"),
        readings: Readings::default(),
    }
}

/// An alert of this name and time, with nothing else.
pub(crate) fn alert(time: Timestamp, name: &str) -> Alert {
    Alert {
        time,
        name: name.into(),
        text: None,
        position: None,
        critical: false,
        attributes: std::collections::BTreeMap::new(),
    }
}

/// A message without contents, as a gateway hands it over.
pub(crate) fn message(bytes: &[u8]) -> NewMessage {
    NewMessage {
        source: "gt06",
        peer: "192.0.2.9:40000".into(),
        identifier: Some("imei".into()),
        bytes: bytes.to_vec(),
        error: None,
        gateway: None,
        duplicate_rule: DuplicateRule::Content,
        keep: Keep::Always,
    }
}

/// The whole history, oldest first.
pub(crate) const EVERYTHING: HistoryRequest =
    HistoryRequest { range: TimeRange::ALL, order: Order::Ascending, after: None, limit: 20_000 };

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

impl Tenant {
    /// A device of the account, found by a gateway.
    pub(crate) fn reporter(&self, device: DeviceId) -> Reporter {
        Reporter {
            scope: self.scope(),
            device,
            identifier: "imei".into(),
            model: None,
            reported_model: None,
            decoding: perigee_core::gateways::decoding::Decoding::new(),
            proposed_zone_minutes: None,
            proof: None,
        }
    }

    /// The owner, limited to this reach.
    pub(crate) fn within(&self, reach: Reach) -> Actor {
        self.actor().limited_to(reach)
    }
}

impl Fixture {
    /// Stores a request that reports one step of an emergency.
    pub(crate) async fn step(
        &self,
        tenant: &Tenant,
        device: DeviceId,
        kind: StepKind,
        alert: Alert,
    ) -> perigee_core::store::Result<StoredContents> {
        let steps = vec![EmergencyStep { kind, alert }];
        let contents = MessageContents { steps, ..MessageContents::default() };
        let request = NewRequest {
            account: tenant.account.id,
            message: None,
            duplicate_rule: DuplicateRule::Content,
            devices: vec![(tenant.reporter(device), contents)],
            is_past: false,
        };
        self.store.store_request(request).await?.pop().expect("one result for each device")
    }

    /// A device with these settings.
    pub(crate) async fn add(&self, tenant: &Tenant, settings: DeviceSettings) -> Device {
        let made = self.store.create_device(&tenant.actor(), settings, None).await;
        made.expect("the device is made").into_inner()
    }

    /// A group with these settings.
    pub(crate) async fn add_group(&self, tenant: &Tenant, settings: GroupSettings) -> Group {
        let made = self.store.create_group(&tenant.actor(), settings, None).await;
        made.expect("the group is made").into_inner()
    }

    /// The device as it is now.
    pub(crate) async fn look(&self, tenant: &Tenant, device: DeviceId) -> Device {
        let found = self.store.find_device(tenant.scope(), &DeviceRef::Id(device)).await;
        found.expect("devices are read").expect("the device exists")
    }

    /// The group as it is now.
    pub(crate) async fn look_group(&self, tenant: &Tenant, group: GroupId) -> Group {
        let found = self.store.find_group(tenant.scope(), group).await;
        found.expect("groups are read").expect("the group exists")
    }

    /// Replaces the settings of a device at its current revision.
    pub(crate) async fn set(
        &self,
        tenant: &Tenant,
        device: DeviceId,
        settings: DeviceSettings,
    ) -> perigee_core::store::Result<Device> {
        let seen = self.look(tenant, device).await.revision;
        self.store.replace_device(&tenant.actor(), device, seen, settings).await
    }

    /// The kinds of the account's events about this subject, in order.
    pub(crate) async fn event_kinds(&self, tenant: &Tenant, subject: impl ToString) -> Vec<EventKind> {
        let subject = subject.to_string();
        let events = self.events(tenant).await;
        events.iter().filter(|event| event.subject == subject).map(|event| event.kind).collect()
    }
}
