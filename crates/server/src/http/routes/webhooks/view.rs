//! The JSON of webhooks and deliveries.

use perigee_core::event::EventKind;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::webhook::{DeliveryState, Gap, Webhook, WebhookDelivery};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::routes::events::body::event_id;

/// An address that is told of events.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub struct WebhookView {
    /// The id; never changes.
    #[schema(example = "whk_01jc2m8k4n5p6")]
    id: String,
    /// What it is for.
    #[schema(example = "Dispatch")]
    name: Option<String>,
    /// Where events are sent.
    #[schema(example = "https://example.com/perigee")]
    url: String,
    /// The types of events that are sent; none for all.
    #[schema(example = json!(["alert.created"]))]
    types: Vec<&'static str>,
    /// Only events about these devices, and those of `groups`; none in both for all.
    #[schema(example = json!([]))]
    devices: Vec<String>,
    /// Only events about these groups and the devices in them, and those of `devices`.
    #[schema(example = json!([]))]
    groups: Vec<String>,
    /// Whether new alerts are sent only where a routing names this webhook.
    #[schema(example = false)]
    alerts_by_routing: bool,
    /// Whether anything is sent.
    #[schema(example = true)]
    enabled: bool,
    /// When the service switched it off.
    #[schema(example = json!(null), format = DateTime)]
    disabled_at: Option<String>,
    /// Why the service switched it off.
    #[schema(example = json!(null))]
    disabled_reason: Option<String>,
    /// Until when its receiver asked for rest.
    #[schema(example = json!(null), format = DateTime)]
    held_until: Option<String>,
    /// Until when messages are signed with the previous secret too.
    #[schema(example = json!(null), format = DateTime)]
    previous_secret_until: Option<String>,
    /// The latest events it was not told of, because they were gone from the log before they were sent.
    #[schema(value_type = Option<GapView>, example = json!(null))]
    gap: Option<GapView>,
    /// The id of the user who made it.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When a client last changed it.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// Events that were not sent.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookGap)]
pub struct GapView {
    /// When it was found.
    #[schema(example = "2026-05-04T12:00:00Z", format = DateTime)]
    at: String,
    /// The id of the last event before it.
    #[schema(example = "AAAAAAAAACoAAAAAAAAAAKh8Z1E")]
    from: String,
    /// The id of the last event in it.
    #[schema(example = "AAAAAAAAACsAAAAAAAAAAFn1b9o")]
    to: String,
}

/// A list of webhooks.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookList {
    /// The webhooks, by id.
    #[schema(value_type = Vec<WebhookView>)]
    webhooks: Vec<WebhookView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A webhook with its secret, which is shown this once.
#[derive(Serialize, ToSchema)]
pub struct WebhookWithSecret {
    /// The webhook without its secret.
    #[serde(flatten)]
    pub(super) webhook: WebhookView,
    /// What messages are signed with. Keep it: it is not shown again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    pub(super) secret: String,
}

/// A message to a webhook, and what became of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookDelivery)]
pub struct DeliveryView {
    /// The id; never changes.
    #[schema(example = "dlv_01jc2m8k4n5p6")]
    id: String,
    /// The name of the message, the same on every attempt: `webhook-id`, and the `id` of the event.
    #[schema(example = "AAAAAAAAACsAAAAAAAAAAFn1b9o")]
    message_id: String,
    /// The type of the event; `webhook.test` for a test.
    #[schema(example = "alert.created")]
    r#type: String,
    /// The id of the device it concerns, if one.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device: Option<String>,
    /// How far it has come.
    #[schema(value_type = DeliveryStateName, example = "delivered")]
    state: &'static str,
    /// How often it was tried.
    #[schema(example = 1, minimum = 0)]
    attempts: u32,
    /// When it is tried next, while it waits.
    #[schema(example = json!(null), format = DateTime)]
    next_attempt: Option<String>,
    /// When it is given up, while it waits.
    #[schema(example = json!(null), format = DateTime)]
    expires: Option<String>,
    /// When it was last tried.
    #[schema(example = "2026-05-01T12:00:01Z", format = DateTime)]
    last_attempt: Option<String>,
    /// The status that came back.
    #[schema(example = 200, minimum = 100, maximum = 999)]
    last_status: Option<u16>,
    /// Why the last attempt failed.
    #[schema(example = json!(null))]
    last_error: Option<String>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// How far a delivery has come.
#[derive(ToSchema)]
#[schema(as = WebhookDeliveryState, rename_all = "lowercase")]
pub enum DeliveryStateName {
    /// It is tried, now or later.
    Waiting,
    /// The receiver answered with 2xx.
    Delivered,
    /// It is not tried any more.
    Failed,
}

/// A list of deliveries, newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryList {
    /// The deliveries, newest first.
    #[schema(value_type = Vec<DeliveryView>)]
    deliveries: Vec<DeliveryView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
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
