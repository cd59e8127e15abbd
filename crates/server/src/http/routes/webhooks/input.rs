//! Reading webhooks from a request.

use std::collections::BTreeSet;

use perigee_core::events::event::{EventFilter, EventKind};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::text::{Line, OptionalName};
use perigee_core::webhooks::webhook::{Webhook, WebhookSettings};
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{List, Member, array, one_of, text};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;
use crate::http::routes::events::query::{kind_names, kinds_named};
use crate::webhook::Guard;

/// Members of answers that are ignored in requests.
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
/// Maximum number of types that a webhook may name.
const TYPES_MAX: usize = 100;

input! {
    /// Settings of a webhook.
    pub(super) struct WebhookInput {
        /// Name of the webhook, shown in lists. Default: none.
        name: OptionalName, nullable, example "Dispatch";
        /// URL that events are sent to. It must begin with `https://`, and its host must be on the public Internet.
        url: WebhookUrl, required, example "https://example.com/perigee";
        /// Types of the events that are sent. `device.*` means all types that begin with `device.`. Default: all
        /// types.
        types: EventTypes, nullable, example ["alert.created"];
        /// IDs of the devices whose events are sent, in addition to those of `groups`. If both lists are empty,
        /// events of all devices and groups are sent. Names and identifiers are accepted too. Default: empty.
        devices: List<DeviceId, 0, { Webhook::NAMED_MAX }>, nullable, example [];
        /// IDs of the groups whose events, and whose devices' events, are sent, in addition to those of `devices`.
        /// Names are accepted too. Default: empty.
        groups: List<GroupId, 0, { Webhook::NAMED_MAX }>, nullable, example [];
        /// Whether new alerts are sent only if a routing or a rule names the webhook. A webhook that is named gets
        /// the alert in any case, once. Default: false.
        alerts_by_routing as "alertsByRouting": bool, or(false), example false;
        /// Whether events are sent. A webhook that is enabled again continues where it stopped, as far as the event
        /// log still has the events. Default: true.
        enabled: bool, or(true), example true;
    }
}

/// Types of events, or families of types.
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

/// A URL that events are sent to.
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

/// Reads the settings of a webhook.
pub(super) fn read_webhook(body: &Value, guard: &Guard) -> ApiResult<WebhookSettings> {
    read_body(body, &[ENVELOPE, READ_ONLY], |input: WebhookInput, fields| {
        if let Some(url) = &input.url
            && let Err(refused) = guard.parse(url)
        {
            fields.refuse("url", &refused.to_string());
        }
        let mut kinds: BTreeSet<EventKind> = BTreeSet::new();
        for name in &input.types.unwrap_or_default() {
            let named = kinds_named(name);
            if named.is_empty() {
                fields.refuse(
                    "types",
                    "must have only types of events such as \"alert.created\" or \"device.*\"",
                );
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
