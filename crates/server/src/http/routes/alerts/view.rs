//! The JSON of alerts, and the schemas of submitted ones.

use perigee_core::alerts::alert::StoredAlert;
use perigee_core::alerts::severity::Severity;
use perigee_core::locations::location::Degrees;
use perigee_core::locations::place::Reader;
use perigee_core::notifications::notification::Channel;
use serde_json::Map;
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{FULL_LINE, LINES, Word, Words, words};
use crate::http::place::place_of;
use crate::http::prelude::*;
use crate::http::submission::{AttributeValue, open_schema, write_attributes};

/// Members of answers that are ignored in submitted alerts.
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

/// An alert: an incident of a device, such as an SOS, that the device reported, a client submitted or a rule raised.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Alert)]
pub struct AlertView {
    /// Unique identifier of the alert, assigned by the server. It never changes.
    #[schema(example = "alr_01jc2m8k4n5p9")]
    id: String,
    /// ID of the device that the alert is about.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Time of the alert, as reported by the device or determined by the rule.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// Name of the alert. Any name is accepted; some have a defined meaning, such as `SOSButton`.
    #[schema(example = "SpeedLimit", min_length = 1, max_length = 100)]
    alert_name: String,
    /// Names of the alert: always one, the same as `alertName`.
    #[schema(example = json!(["SpeedLimit"]))]
    alerts: [String; 1],
    /// Text of the alert, from the device, the client or the rule. Null if there is none.
    #[schema(example = "Faster than 20 km/h", max_length = 1000)]
    text: Option<String>,
    /// Latitude of the alert, in degrees north (WGS 84). Given together with `longitude`. If the alert was sent
    /// without a position, it is that of the first later fix of the same emergency (see `placeIsFromLaterFix`), or
    /// else the last known position of the device when the alert was received (see `placeIsLastKnown`). Null if no
    /// position is known.
    #[schema(value_type = Option<f64>, example = 42.2406, minimum = -90, maximum = 90)]
    latitude: Option<Degrees>,
    /// Longitude of the alert, in degrees east (WGS 84). Given together with `latitude`. Null if no position is
    /// known.
    #[schema(value_type = Option<f64>, example = -8.7207, minimum = -180, maximum = 180)]
    longitude: Option<Degrees>,
    /// Whether the position is the last known position of the device, because the alert was sent without one. Absent
    /// if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = true)]
    place_is_last_known: Option<bool>,
    /// Whether the position is that of a later fix of the same emergency. Absent if not. An event `alert.updated` is
    /// created when the position is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = true)]
    place_is_from_later_fix: Option<bool>,
    /// Time of that later fix. Absent if `placeIsFromLaterFix` is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "2026-05-01T12:00:40Z", format = DateTime)]
    place_date_time: Option<String>,
    /// Position in words. Present only with `place=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "22 km SW of Vigo, Spain")]
    place: Option<String>,
    /// Whether the alert is critical. Always true for `SOSButton`.
    #[schema(example = false)]
    critical: bool,
    /// Severity of the alert: `critical` if `critical` is true, otherwise `info` or `warning`, depending on
    /// `alertName`.
    #[schema(value_type = SeverityName, example = "warning")]
    severity: &'static str,
    /// Further values that were sent with the alert: up to 200 strings, numbers and booleans, by name.
    #[schema(value_type = BTreeMap<String, AttributeValue>, example = json!({"driver": "Ana"}))]
    attributes: Map<String, Value>,
    /// Channels by which at least one notification about the alert was sent.
    #[schema(value_type = Vec<ChannelName>, example = json!(["email"]))]
    notifications: Vec<&'static str>,
    /// Time at which somebody acknowledged the alert. Null if nobody did.
    #[schema(example = json!(null), format = DateTime)]
    acknowledged_at: Option<String>,
    /// ID of the user who acknowledged the alert. Null if nobody did, if the user was deleted, or if the alert was
    /// acknowledged with the link in a message.
    #[schema(example = json!(null))]
    acknowledged_by: Option<String>,
    /// Name of the person who acknowledged the alert with the link in a message, without an account. Null otherwise.
    #[schema(example = json!(null))]
    acknowledged_name: Option<String>,
    /// Time at which the alert ended. Null while it lasts.
    #[schema(example = json!(null), format = DateTime)]
    ended_at: Option<String>,
    /// Time at which the server received or raised the alert.
    #[schema(example = "2026-05-01T12:00:03Z", format = DateTime)]
    received_at: String,
}

words! {
    "Severity", "Severity of an alert, in ascending order. `info`: for information, no action is needed. `warning`: somebody should look at it \
     soon. `critical`: somebody must act at once." => Severity;
}

impl Words for Channel {
    const NAME: &'static str = "Channel";
    const ABOUT: &'static str = "Channel by which a recipient is notified. `email`: by e-mail. `sms`: by SMS. `push`: in the browsers that a user subscribed. `call`: by a \
                                 telephone call that reads the message. Others are services of that name. \
                                 `GET /api/console` lists the channels that the server is set up for.";

    fn words() -> Vec<(&'static str, Self)> {
        Self::all().iter().map(|channel| (channel.name(), *channel)).collect()
    }
}

/// A severity, as the API describes it.
pub type SeverityName = Word<Severity>;
/// A channel, as the API describes it.
pub type ChannelName = Word<Channel>;

/// Response with one alert.
#[derive(Serialize, ToSchema)]
#[schema(as = OneAlert)]
pub struct AlertAnswer {
    /// The requested alert.
    pub(super) alert: AlertView,
}

list! {
    /// A list of alerts.
    pub struct AlertList;
    /// The alerts, sorted by `dateTime`.
    alerts: AlertView,
}

/// An alert as it is submitted: the members of an answer without those that the server adds.
#[derive(Debug)]
pub struct AlertInput;

impl PartialSchema for AlertInput {
    fn schema() -> RefOr<Schema> {
        open_schema(
            AlertView::schema(),
            "An alert of a device. A member that is not listed here is stored in `attributes` if it is a string, a \
             number or a boolean; if it is an array or an object, the alert is rejected.",
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
    /// The alert, with its position in words if a reader is given.
    pub(super) fn described(stored: StoredAlert, reader: Option<Reader>) -> Self {
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
