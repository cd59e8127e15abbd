//! The JSON of devices.

use std::collections::BTreeMap;

use perigee_core::decoding::Decoding;
use perigee_core::device::Device;
use perigee_core::gateway::DeviceIdentifier;
use perigee_core::id::GroupId;
use perigee_core::limits::{Counters, Limits};
use perigee_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::decoding::decoding_schema;

/// A device: a tracker with its settings and its state.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Device)]
pub struct DeviceView {
    /// Its id, made by us.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    id: String,
    /// What the hardware says of itself: IMEI, ESN, serial; unique in the account.
    #[schema(example = "300234010753370")]
    identifier: Option<String>,
    /// Further names under which it reports, by priority.
    #[schema(value_type = Vec<IdentifierView>, max_items = 20)]
    identifiers: Vec<IdentifierView>,
    /// Its name.
    #[schema(example = "Northern Star")]
    name: String,
    /// A note about it.
    #[schema(example = "Longliner, 24 m")]
    description: Option<String>,
    /// Its mobile number.
    #[schema(example = "+34600111222")]
    min: Option<String>,
    /// Free labels, key to value.
    #[schema(example = json!({"colour": "red"}))]
    tags: BTreeMap<String, String>,
    /// The icon it is drawn with.
    #[schema(example = "boat")]
    icon: Option<String>,
    /// The photo that users set, whose bytes are at `/api/devices/{id}/files/{photo}`; another one has another id.
    #[schema(example = "fil_01jc2m8k4n5p6")]
    photo: Option<String>,
    /// What kind of hardware it is.
    #[schema(example = "SmartOne C")]
    model: Option<String>,
    /// The model that its own messages told; it counts for decoding while `model` is none that is known.
    #[schema(example = json!(null))]
    reported_model: Option<String>,
    /// How its messages are read and its commands written, where that differs from other devices of its protocol.
    #[schema(schema_with = decoding_view_schema)]
    decoding: Decoding,
    /// Time zone of its clock, in minutes ahead of UTC, that is proposed because all its newest fixes are off by the same whole
    /// half hours; null if none is. To accept it, set it as `timeZoneMinutes` of `decoding`.
    #[schema(example = json!(null), minimum = -840, maximum = 840)]
    proposed_time_zone_minutes: Option<i32>,
    /// The protocol it last spoke.
    #[schema(example = json!(null))]
    protocol: Option<String>,
    /// The ids of the groups it is in, ascending.
    #[schema(example = json!(["grp_01jc2m8k4n5p6"]))]
    groups: Vec<String>,
    /// Whether it uses a licence.
    #[schema(value_type = DeviceStateName, example = "active")]
    state: &'static str,
    /// The instant from which it is expired, if it expires.
    #[schema(example = "2027-01-01T00:00:00Z", format = DateTime)]
    expires: Option<String>,
    /// Its expiry and daily limits.
    #[schema(value_type = LimitsView)]
    limits: LimitsView,
    /// What it sent on the account's present day.
    #[schema(value_type = CountersView)]
    counters: CountersView,
    /// Whether it reports as it should.
    #[schema(value_type = DeviceStatusName, example = "online")]
    status: &'static str,
    /// When it was last heard.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_seen: Option<String>,
    /// How often it is expected to report, in seconds, as a client set it; null when `learnedIntervalSeconds` counts.
    #[schema(example = 600)]
    expected_interval_seconds: Option<u32>,
    /// How often it reports, in seconds, as learned from when it was heard; null while too little is known.
    #[schema(example = 600, minimum = 5, maximum = 172_800)]
    learned_interval_seconds: Option<u32>,
    /// Days that its locations are kept; null for as long as the account's settings say.
    #[schema(example = json!(null))]
    retention_days: Option<u32>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When a client last changed it.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
    /// Where its last location is, in words; only with `place=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "22 km SW of Vigo, Spain")]
    place: Option<String>,
}

fn decoding_view_schema() -> RefOr<Schema> {
    decoding_schema(false)
}

/// A further name under which a device reports.
#[derive(Serialize, ToSchema)]
#[schema(as = DeviceIdentifier)]
pub struct IdentifierView {
    /// As the network or the hardware writes it; unique among all identifiers of the account's devices.
    #[schema(example = "300234063904190")]
    identifier: String,
    /// The way by which it reports under this name.
    #[schema(example = "iridium")]
    link: Option<String>,
    /// Order among the device's identifiers; the lowest is preferred.
    #[schema(example = 1, maximum = 100)]
    priority: u8,
}

/// A device's expiry and daily limits.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Limits)]
pub struct LimitsView {
    /// Whether the device expires at `expirationDate`.
    #[schema(example = true)]
    expires: bool,
    /// The last date it is active on, in the account's time zone.
    #[schema(example = "2026-12-31", format = Date)]
    expiration_date: Option<String>,
    /// E-mails a day; null is no limit, 0 is none at all.
    #[schema(example = 50)]
    daily_email_limit: Option<u32>,
    /// SMS a day; null is no limit, 0 is none at all.
    #[schema(example = 10)]
    daily_sms_limit: Option<u32>,
    /// How many of the day's e-mails, and of its SMS, are kept for critical alerts.
    #[schema(example = 2)]
    critical_reserve: u32,
}

/// What a device sent on the account's present day.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Counters)]
pub struct CountersView {
    /// The day that is counted, in the account's time zone.
    #[schema(example = "2026-05-01", format = Date)]
    date: String,
    /// The time zone it is counted in.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// E-mails sent or under way.
    #[schema(example = 3, minimum = 0)]
    emails_sent: u32,
    /// SMS sent or under way.
    #[schema(example = 1, minimum = 0)]
    sms_sent: u32,
    /// The segments of those SMS.
    #[schema(example = 2, minimum = 0)]
    sms_segments: u32,
    /// When the next day begins.
    #[schema(example = "2026-05-01T22:00:00Z", format = DateTime)]
    resets_at: String,
}

/// Whether a device uses a licence.
#[derive(ToSchema)]
#[schema(as = DeviceState, rename_all = "lowercase")]
pub enum DeviceStateName {
    /// The device takes a licence and stores data.
    Active,
    /// It does no longer.
    Expired,
}

/// Whether a device reports as it should.
#[derive(ToSchema)]
#[schema(as = DeviceStatus, rename_all = "lowercase")]
pub enum DeviceStatusName {
    /// Heard within two of its intervals.
    Online,
    /// Overdue, but not for long.
    Late,
    /// Not heard for six of its intervals.
    Offline,
    /// The device has not reported yet.
    Never,
}

/// One device.
#[derive(Serialize, ToSchema)]
pub struct OneDevice {
    /// The device.
    #[schema(value_type = DeviceView)]
    pub(super) device: DeviceView,
}

/// A list of devices.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceList {
    /// The devices, by id.
    #[schema(value_type = Vec<DeviceView>)]
    devices: Vec<DeviceView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl DeviceView {
    /// The device as it stands at this instant.
    pub(crate) fn at(device: Device, now: Timestamp) -> Self {
        let (state, status) = (device.state(now).name(), device.status(now).name());
        let settings = device.settings;
        Self {
            id: device.id.to_string(),
            identifier: settings.identifier,
            identifiers: settings.identifiers.into_iter().map(IdentifierView::from).collect(),
            name: settings.name,
            description: settings.description,
            min: settings.min,
            tags: settings.tags,
            icon: settings.icon,
            photo: device.photo.map(|photo| photo.to_string()),
            model: settings.model,
            reported_model: device.reported_model,
            decoding: settings.decoding,
            proposed_time_zone_minutes: device.proposed_zone_minutes,
            protocol: device.protocol,
            groups: settings.groups.iter().map(GroupId::to_string).collect(),
            state,
            expires: device.expires.map(|expires| expires.to_string()),
            limits: settings.limits.into(),
            counters: device.counters.into(),
            status,
            last_seen: device.last_seen.map(|seen| seen.to_string()),
            expected_interval_seconds: settings.expected_interval_s,
            learned_interval_seconds: device.learned_interval_s,
            retention_days: settings.retention_days,
            creation: device.creation.to_string(),
            last_modified: device.last_modified.to_string(),
            place: None,
        }
    }
}

impl DeviceView {
    /// The same with its last location in words.
    pub(super) fn at_place(self, place: Option<String>) -> Self {
        Self { place, ..self }
    }
}

impl From<DeviceIdentifier> for IdentifierView {
    fn from(DeviceIdentifier { identifier, link, priority }: DeviceIdentifier) -> Self {
        Self { identifier, link, priority }
    }
}

impl From<Limits> for LimitsView {
    fn from(limits: Limits) -> Self {
        Self {
            expires: limits.expiration_date.is_some(),
            expiration_date: limits.expiration_date.map(|date| date.to_string()),
            daily_email_limit: limits.daily_emails,
            daily_sms_limit: limits.daily_sms,
            critical_reserve: limits.critical_reserve,
        }
    }
}

impl From<Counters> for CountersView {
    fn from(counters: Counters) -> Self {
        Self {
            date: counters.date.to_string(),
            time_zone: counters.time_zone.id().to_owned(),
            emails_sent: counters.emails_sent,
            sms_sent: counters.sms_sent,
            sms_segments: counters.sms_segments,
            resets_at: counters.resets_at.to_string(),
        }
    }
}
