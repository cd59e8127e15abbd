//! The JSON of devices.

use std::collections::BTreeMap;

use perigee_core::accounts::limits::{Counters, Limits};
use perigee_core::devices::device::Device;
use perigee_core::gateways::decoding::Decoding;
use perigee_core::gateways::gateway::DeviceIdentifier;
use perigee_core::id::GroupId;
use perigee_core::notifications::notification::Channel;
use perigee_core::time::Timestamp;
use utoipa::openapi::{RefOr, Schema};

use super::decoding::decoding_schema;
use crate::http::prelude::*;

/// A device: a tracker with its settings and its state.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Device)]
pub struct DeviceView {
    /// Unique identifier of the device, assigned by the server. It never changes.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    id: String,
    /// Identifier under which the device reports, for example its IMEI, ESN or serial number. Unique among all
    /// identifiers of the account's devices. Null if not set.
    #[schema(example = "300234010753370")]
    identifier: Option<String>,
    /// Further identifiers under which the device reports, sorted by priority.
    #[schema(value_type = Vec<IdentifierView>, max_items = 20)]
    identifiers: Vec<IdentifierView>,
    /// Name of the device, shown in lists, on the map and in notifications. Need not be unique.
    #[schema(example = "Northern Star")]
    name: String,
    /// Free text about the device. Null if not set.
    #[schema(example = "Longliner, 24 m")]
    description: Option<String>,
    /// Mobile number of the device's SIM card. Null if not set.
    #[schema(example = "+34600111222")]
    min: Option<String>,
    /// Labels of the device, as keys and values.
    #[schema(example = json!({"colour": "red"}))]
    tags: BTreeMap<String, String>,
    /// Name of the icon that represents the device on the map. Null for the default icon.
    #[schema(example = "boat")]
    icon: Option<String>,
    /// ID of the photo that a user set, null if there is none. The image is at `/api/devices/{id}/files/{photo}`. A new
    /// photo has a new ID.
    #[schema(example = "fil_01jc2m8k4n5p6")]
    photo: Option<String>,
    /// Model of the hardware, as set by a client. Null if not set.
    #[schema(example = "SmartOne C")]
    model: Option<String>,
    /// Model that the device reported in its messages, null if it reported none. It is used for decoding unless `model`
    /// is a known model.
    #[schema(example = json!(null))]
    reported_model: Option<String>,
    /// Decoding settings. `decoding_schema` has the description, because `schema_with` drops this comment.
    #[schema(schema_with = decoding_view_schema)]
    decoding: Decoding,
    /// Proposed time zone of the device's clock, in minutes ahead of UTC. It is set if the times of the newest fixes
    /// all differ from their arrival by the same multiple of half an hour, null otherwise. To accept it, set
    /// `timeZoneMinutes` in `decoding` to this value.
    #[schema(example = json!(null), minimum = -840, maximum = 840)]
    proposed_time_zone_minutes: Option<i32>,
    /// Protocol of the device's last message to a listener. Null if there was none.
    #[schema(example = json!(null))]
    protocol: Option<String>,
    /// IDs of the groups that the device belongs to, in ascending order.
    #[schema(example = json!(["grp_01jc2m8k4n5p6"]))]
    groups: Vec<String>,
    /// Licence state: `active` if the device uses a licence, `expired` otherwise.
    #[schema(value_type = DeviceStateName, example = "active")]
    state: &'static str,
    /// Time at which the device expires or expired. Null if it does not expire.
    #[schema(example = "2027-01-01T00:00:00Z", format = DateTime)]
    expires: Option<String>,
    /// Expiration date of the device, and limits of the notifications it may cause in a day.
    #[schema(value_type = LimitsView)]
    limits: LimitsView,
    /// Notifications that the device caused on the current day of the account.
    #[schema(value_type = CountersView)]
    counters: CountersView,
    /// Reporting status: whether the device reports as often as expected from its reporting interval.
    #[schema(value_type = DeviceStatusName, example = "online")]
    status: &'static str,
    /// Time at which the last message of the device was received. Null if none was received yet.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_seen: Option<String>,
    /// Expected reporting interval, in seconds, as set by a client. Null to use `learnedIntervalSeconds`.
    #[schema(example = 600)]
    expected_interval_seconds: Option<u32>,
    /// Reporting interval, in seconds, learned by the server from the times of the device's messages. Null until there
    /// are enough messages.
    #[schema(example = 600, minimum = 5, maximum = 172_800)]
    learned_interval_seconds: Option<u32>,
    /// Retention of the device's locations, in days. Null to use the retention of the account.
    #[schema(example = json!(null))]
    retention_days: Option<u32>,
    /// Time at which the device was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the device.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
    /// Place of the device's last location, in words. Present only with `place=true`, and if the device has a last
    /// location that can be described.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "22 km SW of Vigo, Spain")]
    place: Option<String>,
}

fn decoding_view_schema() -> RefOr<Schema> {
    decoding_schema(false)
}

/// Further identifier under which a device reports.
#[derive(Serialize, ToSchema)]
#[schema(as = DeviceIdentifier)]
pub struct IdentifierView {
    /// Identifier as the network or the hardware writes it. Unique among all identifiers of the account's devices.
    #[schema(example = "300234063904190")]
    identifier: String,
    /// Network over which the device reports under this identifier, as free text. Null if not set.
    #[schema(example = "iridium")]
    link: Option<String>,
    /// Order among the device's identifiers: the list is sorted by it, lowest first.
    #[schema(example = 1, maximum = 100)]
    priority: u8,
}

/// Expiration date of a device, and limits of the notifications that it may cause in a day.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Limits)]
pub struct LimitsView {
    /// Whether the device has an expiration date.
    #[schema(example = true)]
    expires: bool,
    /// Last day on which the device is active, in the time zone of the account. Null if the device does not expire.
    #[schema(example = "2026-12-31", format = Date)]
    expiration_date: Option<String>,
    /// Maximum number of e-mails about the device in a day. Null for no limit, 0 if none are sent.
    #[schema(example = 50)]
    daily_email_limit: Option<u32>,
    /// Maximum number of SMS about the device in a day. Null for no limit, 0 if none are sent.
    #[schema(example = 10)]
    daily_sms_limit: Option<u32>,
    /// Part of each daily limit that is reserved for critical alerts: as many e-mails, and as many SMS.
    #[schema(example = 2)]
    critical_reserve: u32,
}

/// Notifications that a device caused on the current day of the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Counters)]
pub struct CountersView {
    /// Day that is counted, in `timeZone`.
    #[schema(example = "2026-05-01", format = Date)]
    date: String,
    /// Time zone of the account, in which days begin and end (IANA name).
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Number of e-mails sent or being sent.
    #[schema(example = 3, minimum = 0)]
    emails_sent: u32,
    /// Number of SMS sent or being sent.
    #[schema(example = 1, minimum = 0)]
    sms_sent: u32,
    /// Number of segments of those SMS, as networks bill them.
    #[schema(example = 2, minimum = 0)]
    sms_segments: u32,
    /// Time at which the next day begins and the counts are reset to 0.
    #[schema(example = "2026-05-01T22:00:00Z", format = DateTime)]
    resets_at: String,
}

/// Licence state of a device. `active`: the device uses a licence, and its locations and alerts are stored. `expired`: the
/// device uses no licence, and its locations and alerts are not stored.
#[derive(ToSchema)]
#[schema(as = DeviceState, rename_all = "lowercase")]
pub enum DeviceStateName {
    /// The device uses a licence. Its locations and alerts are stored.
    Active,
    /// The device uses no licence. Its locations and alerts are not stored.
    Expired,
}

/// Reporting status of a device, by the age of its last message and its reporting interval, which is one hour if none is
/// known. `online`: at most two intervals old, or one interval and 2 minutes if that is longer. `late`: older, but not
/// offline. `offline`: more than six intervals old, or one interval and 10 minutes if that is longer. `never`: no message
/// has been received yet.
#[derive(ToSchema)]
#[schema(as = DeviceStatus, rename_all = "lowercase")]
pub enum DeviceStatusName {
    /// The last message is recent enough.
    Online,
    /// The next message is overdue: the device is no longer online, but not offline yet.
    Late,
    /// The device has not reported for a long time.
    Offline,
    /// No message of the device has been received yet.
    Never,
}

/// Answer with one device.
#[derive(Serialize, ToSchema)]
pub struct OneDevice {
    /// The requested device.
    #[schema(value_type = DeviceView)]
    pub(super) device: DeviceView,
}

list! {
    /// A list of devices.
    pub struct DeviceList;
    /// Devices that the caller may see, sorted by ID.
    devices: DeviceView,
}

impl DeviceView {
    /// The device with its state and status at `now`.
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
    /// The same view with the place of the last location.
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
            daily_email_limit: limits.daily_limit(Channel::EMAIL),
            daily_sms_limit: limits.daily_limit(Channel::SMS),
            critical_reserve: limits.critical_reserve,
        }
    }
}

impl From<Counters> for CountersView {
    fn from(counters: Counters) -> Self {
        Self {
            date: counters.date.to_string(),
            time_zone: counters.time_zone.id().to_owned(),
            emails_sent: counters.by(Channel::EMAIL).messages,
            sms_sent: counters.by(Channel::SMS).messages,
            sms_segments: counters.by(Channel::SMS).segments,
            resets_at: counters.resets_at.to_string(),
        }
    }
}
