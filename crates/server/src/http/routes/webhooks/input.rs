//! Reading webhooks from a request.

use std::collections::BTreeSet;

use perigee_core::event::{EventFilter, EventKind};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::text::NAME_MAX;
use perigee_core::webhook::{Webhook, WebhookSettings};
use serde_json::Value;
use url::Url;
use utoipa::ToSchema;

use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::json::Fields;
use crate::http::routes::events::query::kinds_named;
use crate::webhook::Guard;

/// What answers have and clients do not set.
const READ_ONLY: &[&str] = &[
    "id",
    "disabledAt",
    "disabledReason",
    "heldUntil",
    "previousSecretUntil",
    "gap",
    "createdBy",
    "creation",
    "lastModified",
    "secret",
];
/// Types one webhook may name.
const TYPES_MAX: usize = 100;

/// What a client sets of a webhook.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct WebhookInput {
    /// What it is for.
    #[schema(example = "Dispatch", max_length = 200)]
    name: Option<String>,
    /// Where events are sent: an address that begins with https:// and lies on the public Internet.
    #[schema(example = "https://example.com/perigee", max_length = 2000)]
    url: String,
    /// The types of events to send; `device.*` stands for all that begin so; none for all.
    #[schema(example = json!(["alert.created"]), max_items = 100)]
    types: Option<Vec<String>>,
    /// Only events about these devices, and those of `groups`; none in both for all.
    #[schema(example = json!([]), max_items = 1000)]
    devices: Option<Vec<String>>,
    /// Only events about these groups and the devices in them, and those of `devices`.
    #[schema(example = json!([]), max_items = 1000)]
    groups: Option<Vec<String>>,
    /// Whether new alerts are sent only where `alertRouting` of the device, group or account names this webhook. One
    /// that is named is told in any case, once.
    #[schema(value_type = bool, required = false, default = false, example = false)]
    alerts_by_routing: bool,
    /// Whether anything is sent. Switched on again, it goes on where it stopped, as far as the log still has it.
    #[schema(value_type = bool, required = false, default = true, example = true)]
    enabled: bool,
}

/// Reads a webhook.
pub(super) fn read_webhook(body: &Value, guard: &Guard) -> ApiResult<WebhookSettings> {
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    fields.ignore(ENVELOPE);
    fields.ignore(READ_ONLY);
    let name = fields.text("name").chars(0..=NAME_MAX).nullable();
    let url = fields.text("url").chars(1..=Webhook::URL_MAX).required();
    let types = fields.array::<String>("types", 0..=TYPES_MAX).nullable().unwrap_or_default();
    let devices = fields.array::<DeviceId>("devices", 0..=Webhook::NAMED_MAX).nullable().unwrap_or_default();
    let groups = fields.array::<GroupId>("groups", 0..=Webhook::NAMED_MAX).nullable().unwrap_or_default();
    let alerts_by_routing = fields.boolean("alertsByRouting").or(false);
    let enabled = fields.boolean("enabled").or(true);
    if let Some(url) = &url {
        let checked = Url::parse(url).ok().map(|url| guard.check_url(&url));
        match checked {
            Some(Ok(())) => {}
            Some(Err(refused)) => fields.refuse("url", &refused.to_string()),
            None => fields.refuse("url", "must be an address such as https://example.com/perigee"),
        }
    }
    let mut kinds: BTreeSet<EventKind> = BTreeSet::new();
    for name in &types {
        let named = kinds_named(name);
        if named.is_empty() {
            fields.refuse("types", "must be types of events such as \"alert.created\" or \"device.*\"");
            break;
        }
        kinds.extend(named);
    }
    let settings = fields.finish(|| {
        let filter = EventFilter {
            kinds,
            devices: devices.into_iter().collect(),
            groups: groups.into_iter().collect(),
            alerts_by_routing,
            reader: None,
        };
        Some(WebhookSettings { name, url: url?, filter, enabled })
    });
    settings.map_err(invalid_body)
}
