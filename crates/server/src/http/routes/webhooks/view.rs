//! The JSON of webhooks and deliveries.

use perigee_core::events::event::EventKind;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::webhooks::webhook::{DeliveryState, Gap, Webhook, WebhookDelivery};

use crate::http::prelude::*;
use crate::http::routes::events::body::event_id;

/// A webhook: a URL that events are sent to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub struct WebhookView {
    /// Unique identifier of the webhook, assigned by the server. It never changes.
    #[schema(example = "whk_01jc2m8k4n5p6")]
    id: String,
    /// Name of the webhook, shown in lists. Null if it has none.
    #[schema(example = "Dispatch")]
    name: Option<String>,
    /// URL that events are sent to.
    #[schema(example = "https://example.com/perigee")]
    url: String,
    /// Types of the events that are sent. If empty, events of all types are sent.
    #[schema(example = json!(["alert.created"]))]
    types: Vec<&'static str>,
    /// IDs of the devices whose events are sent, in addition to those of `groups`. If both lists are empty, events of
    /// all devices and groups are sent.
    #[schema(example = json!([]))]
    devices: Vec<String>,
    /// IDs of the groups whose events, and whose devices' events, are sent, in addition to those of `devices`.
    #[schema(example = json!([]))]
    groups: Vec<String>,
    /// Whether new alerts are sent only if a routing or a rule names the webhook.
    #[schema(example = false)]
    alerts_by_routing: bool,
    /// Whether events are sent.
    #[schema(example = true)]
    enabled: bool,
    /// Time at which the server disabled the webhook, because the receiver answered 410. Null if it did not, or if
    /// the webhook was enabled again.
    #[schema(example = json!(null), format = DateTime)]
    disabled_at: Option<String>,
    /// Reason why the server disabled the webhook. Null if `disabledAt` is null.
    #[schema(example = json!(null))]
    disabled_reason: Option<String>,
    /// Time until which nothing is sent, because the receiver answered with `Retry-After`. Null if nothing is held
    /// back.
    #[schema(example = json!(null), format = DateTime)]
    held_until: Option<String>,
    /// Time until which messages are also signed with the previous secret. Null if the secret was never rotated.
    #[schema(example = json!(null), format = DateTime)]
    previous_secret_until: Option<String>,
    /// Latest events that were not sent, because they were deleted from the event log first. Null if there are none.
    #[schema(value_type = Option<GapView>, example = json!(null))]
    gap: Option<GapView>,
    /// ID of the user who created the webhook. Null if the user was deleted.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// Time at which the webhook was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the webhook.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// Range of events that were not sent to a webhook.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookGap)]
pub struct GapView {
    /// Time at which the gap was found.
    #[schema(example = "2026-05-04T12:00:00Z", format = DateTime)]
    at: String,
    /// ID of the last event before the gap.
    #[schema(example = "AAAAAAAAACoAAAAAAAAAAKh8Z1E")]
    from: String,
    /// ID of the last event in the gap.
    #[schema(example = "AAAAAAAAACsAAAAAAAAAAFn1b9o")]
    to: String,
}

list! {
    /// A list of webhooks.
    pub struct WebhookList;
    /// The webhooks, sorted by ID.
    webhooks: WebhookView,
}

/// A webhook with its secret, which is returned only once.
#[derive(Serialize, ToSchema)]
pub struct WebhookWithSecret {
    /// The members of the webhook.
    #[serde(flatten)]
    pub(super) webhook: WebhookView,
    /// Secret with which messages are signed (HMAC-SHA256). Store it: it is not returned again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    pub(super) secret: String,
}

/// A delivery: one message to a webhook, with its state.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookDelivery)]
pub struct DeliveryView {
    /// Unique identifier of the delivery, assigned by the server. It never changes.
    #[schema(example = "dlv_01jc2m8k4n5p6")]
    id: String,
    /// Identifier of the message: the header `webhook-id`, and the `id` of the event. It is the same on every
    /// attempt.
    #[schema(example = "AAAAAAAAACsAAAAAAAAAAFn1b9o")]
    message_id: String,
    /// Type of the event. `webhook.test` for a test message.
    #[schema(example = "alert.created")]
    r#type: String,
    /// ID of the device that the event is about. Null if it is about none.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device: Option<String>,
    /// State of the delivery: `waiting`, `delivered` or `failed`.
    #[schema(value_type = DeliveryStateName, example = "delivered")]
    state: &'static str,
    /// Number of attempts so far.
    #[schema(example = 1, minimum = 0)]
    attempts: u32,
    /// Time of the next attempt. Null unless the state is `waiting`.
    #[schema(example = json!(null), format = DateTime)]
    next_attempt: Option<String>,
    /// Time after which the delivery is not retried. Null unless the state is `waiting`.
    #[schema(example = json!(null), format = DateTime)]
    expires: Option<String>,
    /// Time of the last attempt. Null if there was none.
    #[schema(example = "2026-05-01T12:00:01Z", format = DateTime)]
    last_attempt: Option<String>,
    /// HTTP status that the receiver answered on the last attempt. Null if it gave no answer.
    #[schema(example = 200, minimum = 100, maximum = 999)]
    last_status: Option<u16>,
    /// Reason why the last attempt failed. Null if it did not fail.
    #[schema(example = json!(null))]
    last_error: Option<String>,
    /// Time at which the delivery was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// State of a delivery. `waiting`: it is sent now or later. `delivered`: the receiver answered with a 2xx status.
/// `failed`: it is not retried.
#[derive(ToSchema)]
#[schema(as = WebhookDeliveryState, rename_all = "lowercase")]
pub enum DeliveryStateName {
    /// To be sent, now or later.
    Waiting,
    /// The receiver answered with a 2xx status.
    Delivered,
    /// Not retried; it can be sent again on request.
    Failed,
}

list! {
    /// A list of deliveries.
    pub struct DeliveryList;
    /// The deliveries, newest first.
    deliveries: DeliveryView,
}

impl From<Webhook> for WebhookView {
    fn from(webhook: Webhook) -> Self {
        let settings = webhook.settings;
        let (disabled_at, disabled_reason) = webhook.disabled.unzip();
        Self {
            id: webhook.id.to_string(),
            name: settings.name,
            url: settings.url,
            types: settings.filter.kinds.iter().copied().map(EventKind::name).collect(),
            devices: settings.filter.devices.iter().map(DeviceId::to_string).collect(),
            groups: settings.filter.groups.iter().map(GroupId::to_string).collect(),
            alerts_by_routing: settings.filter.alerts_by_routing,
            enabled: settings.enabled,
            disabled_at: disabled_at.map(|at| at.to_string()),
            disabled_reason,
            held_until: webhook.held_until.map(|until| until.to_string()),
            previous_secret_until: webhook.previous.map(|(_, until)| until.to_string()),
            gap: webhook.gap.map(GapView::from),
            created_by: webhook.created_by.map(|user| user.to_string()),
            creation: webhook.creation.to_string(),
            last_modified: webhook.last_modified.to_string(),
        }
    }
}

impl From<Gap> for GapView {
    fn from(gap: Gap) -> Self {
        Self { at: gap.at.to_string(), from: event_id(gap.from), to: event_id(gap.to) }
    }
}

impl From<WebhookDelivery> for DeliveryView {
    fn from(delivery: WebhookDelivery) -> Self {
        let waits = delivery.state == DeliveryState::Waiting;
        Self {
            id: delivery.id.to_string(),
            message_id: delivery.content.message,
            r#type: delivery.content.kind,
            device: delivery.content.device.map(|device| device.to_string()),
            state: delivery.state.name(),
            attempts: delivery.attempts,
            next_attempt: waits.then(|| delivery.next_at.to_string()),
            expires: waits.then(|| delivery.expires.to_string()),
            last_attempt: delivery.last_at.map(|at| at.to_string()),
            last_status: delivery.last_status,
            last_error: delivery.last_error,
            creation: delivery.creation.to_string(),
        }
    }
}
