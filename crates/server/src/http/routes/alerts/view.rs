//! The JSON of alerts, and the schemas of submitted ones.

use perigee_core::alert::StoredAlert;
use perigee_core::location::Degrees;
use perigee_core::notification::Channel;
use perigee_core::place::Reader;
use perigee_core::severity::Severity;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::http::input::{FULL_LINE, LINES, Word, words};
use crate::http::place::place_of;
use crate::http::submission::{AttributeValue, open_schema, write_attributes};

/// What receiving an alert adds to it.
pub(super) const ADDED: &[&str] = &[
    "id",
    "deviceId",
    "alerts",
    "severity",
    "notifications",
    "acknowledgedAt",
    "acknowledgedBy",
    "acknowledgedName",
    "endedAt",
    "receivedAt",
    "placeIsLastKnown",
    "placeIsFromLaterFix",
    "placeDateTime",
    "place",
];

/// Something that happened to a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Alert)]
pub struct AlertView {
    /// The alert's id; never changes.
    #[schema(example = "alr_01jc2m8k4n5p9")]
    id: String,
    /// The device it happened to.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// When it happened, as told by the device or the rule.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// What happened: any name; some have a meaning of their own, such as `SOSButton`.
    #[schema(example = "SpeedLimit", min_length = 1, max_length = 100)]
    alert_name: String,
    /// The names of what happened.
    #[schema(example = json!(["SpeedLimit"]))]
    alerts: [String; 1],
    /// Free text from the device, the client or the rule.
    #[schema(example = "Faster than 20 km/h", max_length = 1000)]
    text: Option<String>,
    /// Degrees north (WGS 84); there together with `longitude` or not at all. An alert that was sent without a position
    /// has that of the first later fix of the same emergency, marked `placeIsFromLaterFix`, or else the last known position of
    /// the device when it was received, marked `placeIsLastKnown`.
    #[schema(value_type = Option<f64>, example = 42.2406, minimum = -90, maximum = 90)]
    latitude: Option<Degrees>,
    /// Degrees east (WGS 84).
    #[schema(value_type = Option<f64>, example = -8.7207, minimum = -180, maximum = 180)]
    longitude: Option<Degrees>,
    /// Whether the place is not the alert's own but the device's last known one; absent when not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = true)]
    place_is_last_known: Option<bool>,
    /// Whether the position is that of a later fix of the same emergency; absent when not. An event `alert.updated` tells
    /// when it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = true)]
    place_is_from_later_fix: Option<bool>,
    /// Time of that later fix; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "2026-05-01T12:00:40Z", format = DateTime)]
    place_date_time: Option<String>,
    /// Where the place is, in words; only with `place=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "22 km SW of Vigo, Spain")]
    place: Option<String>,
    /// Whether it cannot wait; `SOSButton` never can.
    #[schema(example = false)]
    critical: bool,
    /// How much it matters: `critical` when it cannot wait, else by its name.
    #[schema(value_type = SeverityName, example = "warning")]
    severity: &'static str,
    /// Whatever else was sent: strings, numbers and booleans, at most 200.
    #[schema(value_type = BTreeMap<String, AttributeValue>, example = json!({"driver": "Ana"}))]
    attributes: Map<String, Value>,
    /// The channels it was really sent by.
    #[schema(value_type = Vec<ChannelName>, example = json!(["email"]))]
    notifications: Vec<&'static str>,
    /// When somebody took note of it.
    #[schema(example = json!(null), format = DateTime)]
    acknowledged_at: Option<String>,
    /// The id of who took note of it.
    #[schema(example = json!(null))]
    acknowledged_by: Option<String>,
    /// The name of who took note of it by the link in a message, without an account.
    #[schema(example = json!(null))]
    acknowledged_name: Option<String>,
    /// When it was over.
    #[schema(example = json!(null), format = DateTime)]
    ended_at: Option<String>,
    /// When it was received.
    #[schema(example = "2026-05-01T12:00:03Z", format = DateTime)]
    received_at: String,
}

words! {
    "Severity", "How much an alert matters." => Severity;
    "Channel", "A way to reach people." => Channel;
}

/// How much an alert matters, as the document names it.
pub type SeverityName = Word<Severity>;
/// A way to reach people, as the document names it.
pub type ChannelName = Word<Channel>;

/// One alert, as it is answered.
#[derive(Serialize, ToSchema)]
#[schema(as = OneAlert)]
pub struct AlertAnswer {
    /// The alert.
    pub(super) alert: AlertView,
}

/// A list of alerts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertList {
    /// The alerts, in the order of their `dateTime`.
    #[schema(value_type = Vec<AlertView>)]
    alerts: Vec<AlertView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// An alert as it is sent: as it is answered, without what receiving it adds.
#[derive(Debug)]
pub struct AlertInput;

impl PartialSchema for AlertInput {
    fn schema() -> RefOr<Schema> {
        open_schema(
            AlertView::schema(),
            "Something that happened to a device. A member not listed here is kept in `attributes` when it is a \
             string, a number or a boolean; an array or object nobody knows rejects the alert.",
            ADDED,
            &["dateTime", "alertName"],
            &[("alertName", FULL_LINE), ("text", LINES)],
        )
    }
}

impl ToSchema for AlertInput {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        AlertView::schemas(schemas);
    }
}

impl AlertView {
    /// The alert with its place in words, if somebody reads them.
    pub(super) fn told(stored: StoredAlert, reader: Option<Reader>) -> Self {
        let position = stored.best_position();
        let place = position.and_then(|(latitude, longitude)| place_of(reader, latitude, longitude));
        Self { place, ..stored.into() }
    }
}

impl From<StoredAlert> for AlertView {
    fn from(stored: StoredAlert) -> Self {
        let (latitude, longitude) = stored.best_position().unzip();
        let alert = stored.alert;
        let later_fix = stored.later_fix.filter(|_| alert.position.is_none());
        let (acknowledged_at, acknowledged_by) = stored.acknowledged.unzip();
        Self {
            id: stored.id.to_string(),
            device_id: stored.device.to_string(),
            severity: stored.severity.name(),
            notifications: stored.sent_by.iter().map(|channel| channel.name()).collect(),
            date_time: alert.time.to_string(),
            alerts: [alert.name.clone()],
            alert_name: alert.name,
            text: alert.text,
            latitude: latitude.map(Degrees::from),
            longitude: longitude.map(Degrees::from),
            place_is_last_known: (alert.position.is_none() && later_fix.is_none() && latitude.is_some())
                .then_some(true),
            place_is_from_later_fix: later_fix.map(|_| true),
            place_date_time: later_fix.map(|fix| fix.time.to_string()),
            place: None,
            critical: alert.critical,
            attributes: write_attributes(alert.attributes),
            acknowledged_at: acknowledged_at.map(|at| at.to_string()),
            acknowledged_by: acknowledged_by.flatten().map(|user| user.to_string()),
            acknowledged_name: stored.acknowledged_name,
            ended_at: stored.ended_at.map(|at| at.to_string()),
            received_at: stored.received_at.to_string(),
        }
    }
}
