//! Gateways as answers show them.

use perigee_core::account_gateway::{Gateway, NewGateway};
use perigee_core::feed_health::GatewayState;
use perigee_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// An address to which a satellite network or a phone sends messages.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Gateway)]
pub struct GatewayView {
    /// The gateway's id; never changes, and is no secret.
    #[schema(example = "gtw_01jc2m8k4n5p6")]
    id: String,
    /// What it is for.
    #[schema(example = "Ana's phone")]
    name: Option<String>,
    /// The provider or the app whose messages it takes.
    #[schema(example = "osmand")]
    feed: String,
    /// The device of messages that name none.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// Settings of the feed. Passwords, keys and tokens in it are not shown: they are null. Sent back as null they stay.
    #[schema(value_type = Object, example = json!({}))]
    options: Map<String, Value>,
    /// The address to enter at the provider or in the app. It contains a secret and is shown once, when the gateway is
    /// created or its address is renewed; null otherwise. Null also for feeds that the service fetches.
    #[schema(example = "https://track.example.com/gateways/osmand/q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    url: Option<String>,
    /// Until when the address before the present one is answered too; null if there is none.
    #[schema(example = json!(null), format = DateTime)]
    previous_url_until: Option<String>,
    /// The id of the user who made it.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When its name, device or options were last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
    /// How its messages come.
    health: GatewayHealthView,
}

/// How the messages of a gateway come. It is up to date to some seconds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GatewayHealth)]
pub struct GatewayHealthView {
    /// When the last message came, readable or not.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_message: Option<String>,
    /// Messages of about the last 24 hours.
    #[schema(example = 144, minimum = 0)]
    messages_last_day: u64,
    /// How often messages come, in seconds; null until enough is known.
    #[schema(example = 600, minimum = 0)]
    interval_seconds: Option<u32>,
    /// Since when no message came for about two of its intervals; null while they come as usual.
    #[schema(example = json!(null), format = DateTime)]
    late_since: Option<String>,
    /// Messages that could not be read, and requests to the provider that failed, since the gateway was made.
    #[schema(example = 0, minimum = 0)]
    errors: u64,
    /// Requests that were refused because their signature or token was wrong, or by which the provider refused ours.
    #[schema(example = 0, minimum = 0)]
    refused: u64,
    /// The last error or refusal.
    #[schema(example = json!(null))]
    last_error: Option<String>,
    /// When that was.
    #[schema(example = json!(null), format = DateTime)]
    last_error_at: Option<String>,
    /// Of a feed that the service fetches: seconds since the instant up to which everything is stored; null before the first
    /// complete answer.
    #[schema(example = json!(null), minimum = 0)]
    backlog_seconds: Option<i64>,
    /// Of a feed that the service fetches: when it is fetched next.
    #[schema(example = json!(null), format = DateTime)]
    next_poll: Option<String>,
}

/// A list of gateways.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayList {
    /// The gateways, by id.
    gateways: Vec<GatewayView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl GatewayView {
    pub(super) fn of(gateway: Gateway, url: Option<String>, now: Timestamp) -> Self {
        let NewGateway { feed, name, device, options, .. } = gateway.settings;
        let mut options: Map<String, Value> = serde_json::from_str(&options).unwrap_or_default();
        for secret in Gateway::SECRET_OPTIONS {
            options.entry(secret).and_modify(|value| *value = Value::Null);
        }
        Self {
            id: gateway.id.to_string(),
            name,
            feed,
            device_id: device.map(|device| device.to_string()),
            options,
            url,
            previous_url_until: gateway
                .previous_until
                .filter(|until| *until > now)
                .map(|until| until.to_string()),
            created_by: gateway.created_by.map(|user| user.to_string()),
            creation: gateway.creation.to_string(),
            last_modified: gateway.last_modified.unwrap_or(gateway.creation).to_string(),
            health: GatewayHealthView::of(gateway.state, now),
        }
    }
}

impl GatewayHealthView {
    fn of(state: GatewayState, now: Timestamp) -> Self {
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let complete_to = state.poll.as_ref().and_then(|poll| poll.complete_to);
        let (last_error_at, last_error) = state.last_error.unzip();
        Self {
            last_message: text(state.last_message),
            messages_last_day: state.hours.last_day(now),
            interval_seconds: state.interval_s,
            late_since: text(state.late_since),
            errors: state.errors,
            refused: state.refused,
            last_error,
            last_error_at: text(last_error_at),
            backlog_seconds: complete_to.map(|at| (now.as_seconds() - at.as_seconds()).max(0)),
            next_poll: text(state.poll.map(|poll| poll.next)),
        }
    }
}
