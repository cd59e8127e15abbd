//! The JSON of gateways.

use perigee_core::gateways::account_gateway::{Gateway, NewGateway};
use perigee_core::gateways::feed_health::GatewayState;
use perigee_core::time::Timestamp;
use serde_json::Map;

use crate::http::prelude::*;

/// Gateway: an address of this service to which a satellite network or a phone sends messages, or a feed that the
/// server fetches.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Gateway)]
pub struct GatewayView {
    /// Unique identifier of the gateway, assigned by the server. It never changes and is not secret.
    #[schema(example = "gtw_01jc2m8k4n5p6")]
    id: String,
    /// Name of the gateway, shown in lists. Null if not set.
    #[schema(example = "Ana's phone")]
    name: Option<String>,
    /// Feed of the gateway: the provider or app whose messages it receives.
    #[schema(example = "osmand")]
    feed: String,
    /// ID of the device of all messages of the gateway. Null if messages are assigned to devices by their identifiers.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// Options of the feed. `password`, `apiKey`, `token`, `sendKey`, `sendPassword` and `sendToken` are never returned: they are null if they are set, and
    /// keep their values if they are sent back as null.
    #[schema(value_type = Object, example = json!({}))]
    options: Map<String, Value>,
    /// URL to enter at the provider or in the app. It contains a secret and is returned only once, when the gateway is
    /// created or its address is renewed. Null in all other answers, and for feeds that the server fetches or that only
    /// send.
    #[schema(example = "https://track.example.com/gateways/osmand/q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    url: Option<String>,
    /// Time until which requests to the previous URL are accepted as well. Null if there is no previous URL.
    #[schema(example = json!(null), format = DateTime)]
    previous_url_until: Option<String>,
    /// ID of the user who created the gateway. Null if no user did.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// Time at which the gateway was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which name, device or options of the gateway were last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
    /// Health of the gateway: arrival and errors of its messages.
    health: GatewayHealthView,
}

/// Health of a gateway: arrival and errors of its messages. The values may be some seconds old.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GatewayHealth)]
pub struct GatewayHealthView {
    /// Time at which the last message was received, whether or not it could be decoded. Null if there was none.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_message: Option<String>,
    /// Number of messages received in about the last 24 hours.
    #[schema(example = 144, minimum = 0)]
    messages_last_day: u64,
    /// Usual interval between messages, in seconds, learned by the server. Null until there are enough messages.
    #[schema(example = 600, minimum = 0)]
    interval_seconds: Option<u32>,
    /// Time since which the gateway is late: no message was received for about two intervals. Null if it is not late.
    #[schema(example = json!(null), format = DateTime)]
    late_since: Option<String>,
    /// Number of messages that could not be decoded, and of requests to the provider that failed, since the gateway was
    /// created.
    #[schema(example = 0, minimum = 0)]
    errors: u64,
    /// Number of requests that were refused because of a wrong signature, token or password; for a feed that the server
    /// fetches, number of requests that the provider refused.
    #[schema(example = 0, minimum = 0)]
    refused: u64,
    /// Last error or refusal, as a text. Null if there was none.
    #[schema(example = json!(null))]
    last_error: Option<String>,
    /// Time of the last error or refusal. Null if there was none.
    #[schema(example = json!(null), format = DateTime)]
    last_error_at: Option<String>,
    /// Lag of a fetched feed, in seconds: all messages of the provider that are older than this are stored. Null before
    /// the first complete answer of the provider, and for feeds that the server does not fetch.
    #[schema(example = json!(null), minimum = 0)]
    backlog_seconds: Option<i64>,
    /// Time of the next request to the provider. Null for feeds that the server does not fetch.
    #[schema(example = json!(null), format = DateTime)]
    next_poll: Option<String>,
}

list! {
    /// A list of gateways.
    pub struct GatewayList;
    /// Gateways of the account, sorted by ID.
    gateways: GatewayView,
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
