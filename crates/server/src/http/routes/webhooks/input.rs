//! Reading webhooks from a request.

use std::collections::BTreeSet;

use perigee_core::event::{EventFilter, EventKind};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::text::{Line, OptionalName};
use perigee_core::webhook::{Webhook, WebhookSettings};
use serde_json::Value;
use url::Url;
use utoipa::openapi::{RefOr, Schema};

use crate::http::edit::ENVELOPE;
use crate::http::error::ApiResult;
use crate::http::input::{List, Member, array, input, one_of, read_body, text};
use crate::http::json::{Field, Fields};
use crate::http::routes::events::query::{kind_names, kinds_named};
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

input! {
    /// What a client sets of a webhook.
    pub(super) struct WebhookInput {
        /// What it is for.
        name: OptionalName, nullable, example "Dispatch";
        /// Where events are sent: an address that begins with https:// and lies on the public Internet.
        url: WebhookUrl, required, example "https://example.com/perigee";
        /// The types of events to send; `device.*` stands for all that begin so; none for all.
        types: EventTypes, nullable, example ["alert.created"];
        /// Only events about these devices, and those of `groups`; none in both for all.
        devices: List<DeviceId, 0, { Webhook::NAMED_MAX }>, nullable, example [];
        /// Only events about these groups and the devices in them, and those of `devices`.
        groups: List<GroupId, 0, { Webhook::NAMED_MAX }>, nullable, example [];
        /// Whether new alerts are sent only where `alertRouting` of the device, group or account names this webhook. One
        /// that is named is told in any case, once.
        alerts_by_routing as "alertsByRouting": bool, or(false), example false;
        /// Whether anything is sent. Switched on again, it goes on where it stopped, as far as the log still has it.
        enabled: bool, or(true), example true;
    }
}

/// The types of events, or families of them.
pub(super) enum EventTypes {}

impl Member for EventTypes {
    type Value = Vec<String>;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Vec<String>> {
        fields.array(name, 0..=TYPES_MAX)
    }

    fn schema() -> RefOr<Schema> {
        array(one_of(kind_names()), 0, TYPES_MAX, false)
    }
}

/// An address to which events are sent.
pub(super) enum WebhookUrl {}

impl Member for WebhookUrl {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        Line::<1, { Webhook::URL_MAX }>::read(fields, name)
    }

    fn schema() -> RefOr<Schema> {
        text(1, Webhook::URL_MAX, |text| text.pattern(Some(r"^https?://[^\x00-\x20\x7f-\x9f\s]+$")))
    }
}

/// Reads a webhook.
pub(super) fn read_webhook(body: &Value, guard: &Guard) -> ApiResult<WebhookSettings> {
    read_body(body, &[ENVELOPE, READ_ONLY], |input: WebhookInput, fields| {
        if let Some(url) = &input.url {
            let checked = Url::parse(url).ok().map(|url| guard.check_url(&url));
            match checked {
                Some(Ok(())) => {}
                Some(Err(refused)) => fields.refuse("url", &refused.to_string()),
                None => fields.refuse("url", "must be an address such as https://example.com/perigee"),
            }
        }
        let mut kinds: BTreeSet<EventKind> = BTreeSet::new();
        for name in &input.types.unwrap_or_default() {
            let named = kinds_named(name);
            if named.is_empty() {
                fields.refuse("types", "must be types of events such as \"alert.created\" or \"device.*\"");
                break;
            }
            kinds.extend(named);
        }
        let filter = EventFilter {
            kinds,
            devices: input.devices.unwrap_or_default().into_iter().collect(),
            groups: input.groups.unwrap_or_default().into_iter().collect(),
            alerts_by_routing: input.alerts_by_routing,
            reader: None,
        };
        Some(WebhookSettings { name: input.name, url: input.url?, filter, enabled: input.enabled })
    })
}
