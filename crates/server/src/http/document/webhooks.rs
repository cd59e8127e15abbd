//! The `webhooks` section: one entry for each type of event that is sent to webhooks, and one for the test message.

use perigee_core::event::{EventKind, Subject};
use perigee_core::id::{AccountId, AlertId, CommandId, DeviceId, GatewayId, GroupId, UserId, WebhookId};
use serde_json::{Map, Value, json};

use super::example::example;
use crate::http::routes::webhooks::deliveries::TEST;
use crate::webhook::HEADERS;

/// The entries, by the `type` of their messages. Examples are made from these schemas.
pub(super) fn webhooks(schemas: &Value) -> Value {
    let mut entries = Map::new();
    for kind in EventKind::ALL {
        let data = data_schema(*kind);
        entries.insert(kind.name().to_owned(), entry(kind.name(), kind.description(), &data, schemas));
    }
    let description = "A test message, sent by `POST /api/webhooks/{webhookId}/test`.";
    entries.insert(TEST.to_owned(), entry(TEST, description, &only_id(WebhookId::PREFIX), schemas));
    Value::Object(entries)
}

fn entry(name: &str, description: &str, data: &Value, schemas: &Value) -> Value {
    let message = json!({ "type": "object", "properties": {
        "type": { "type": "string", "const": name, "example": name },
        "data": data,
    } });
    let schema = json!({ "allOf": [{ "$ref": "#/components/schemas/Event" }, message] });
    let example = example(&schema, schemas);
    let parameters: Vec<Value> = HEADERS
        .iter()
        .map(|header| {
            json!({
                "name": header.name, "in": "header", "required": true, "description": header.description,
                "schema": { "type": "string", "pattern": header.pattern, "example": header.example },
            })
        })
        .collect();
    json!({ "post": {
        "tags": ["webhooks"],
        "operationId": format!("receive_{}", name.replace('.', "_")),
        "summary": description,
        "description": "Sent to every webhook that wants this type, until it is answered with 2xx or for 72 hours.",
        "security": [],
        "parameters": parameters,
        "requestBody": { "required": true, "content": { "application/json": { "schema": schema, "example": example } } },
        "responses": {
            "2XX": { "description": "The message was delivered." },
            "410": { "description": "The receiver is gone: the webhook is switched off." },
            "default": { "description": "The message is sent again later." },
        },
    } })
}

/// The schema of `data` in events of this kind: the thing, or its id when it is gone, and what was noted with the event.
fn data_schema(kind: EventKind) -> Value {
    let (thing, prefix) = match kind.subject() {
        Subject::Location => return json!({ "$ref": "#/components/schemas/Location" }),
        Subject::Alert => (Some("Alert"), AlertId::PREFIX),
        Subject::Command => (Some("Command"), CommandId::PREFIX),
        Subject::Device => (Some("Device"), DeviceId::PREFIX),
        Subject::Group => (Some("Group"), GroupId::PREFIX),
        Subject::User => (Some("User"), UserId::PREFIX),
        Subject::Account => (None, AccountId::PREFIX),
        Subject::Webhook => (None, WebhookId::PREFIX),
        Subject::Gateway => (None, GatewayId::PREFIX),
    };
    let gone = only_id(prefix);
    let is_deleted =
        matches!(kind, EventKind::DeviceDeleted | EventKind::GroupDeleted | EventKind::UserDeleted);
    let subject = match thing {
        Some(name) if !is_deleted => {
            json!({ "anyOf": [{ "$ref": format!("#/components/schemas/{name}") }, gone] })
        }
        _ => gone,
    };
    match noted(kind) {
        Value::Null => subject,
        noted => json!({ "allOf": [subject, { "type": "object", "properties": noted }] }),
    }
}

/// The members that the store writes with an event of this kind, besides those of the thing.
fn noted(kind: EventKind) -> Value {
    match kind {
        EventKind::DeviceExpiring | EventKind::DeviceExpired | EventKind::DeviceReactivated => json!({
            "expires": { "type": ["string", "null"], "format": "date-time", "description": "When it expires or expired; null for never.", "example": "2026-12-31T23:00:00Z" },
        }),
        EventKind::LimitEmailReached | EventKind::LimitSmsReached => json!({
            "date": { "type": "string", "format": "date", "description": "The day, in the account's time zone.", "example": "2026-05-01" },
            "limit": { "type": "integer", "minimum": 0, "description": "Messages of the device a day.", "example": 50 },
        }),
        EventKind::CommandQueued
        | EventKind::CommandSent
        | EventKind::CommandAnswered
        | EventKind::CommandFailed
        | EventKind::CommandExpired => json!({
            "state": { "$ref": "#/components/schemas/CommandState" },
        }),
        EventKind::LicenseExhausted => json!({
            "licenses": { "type": "integer", "minimum": 0, "description": "Licences of the account, all of them taken.", "example": 10 },
        }),
        EventKind::WebhookDisabled => json!({
            "name": { "type": ["string", "null"], "description": "The name of the webhook.", "example": "Dispatch" },
            "reason": { "type": "string", "description": "Why it was switched off.", "example": "The receiver answered 410 Gone." },
        }),
        EventKind::SosUnregistered => json!({
            "reason": { "type": "string", "enum": ["unknownDevice", "expiredDevice"], "description": "Why it is no alert: no device of the account has the identifier, or the licence of the device is expired.", "example": "expiredDevice" },
            "identifier": { "type": "string", "description": "The name under which the sender reported.", "example": "356938035643809" },
            "source": { "type": "string", "description": "The protocol or the feed that it came by.", "example": "garmin" },
            "peer": { "type": "string", "description": "Address that it came from; empty if it is not known.", "example": "203.0.113.7:40112" },
            "dateTime": { "type": "string", "format": "date-time", "description": "When it happened.", "example": "2026-05-01T12:00:00Z" },
            "latitude": { "type": ["number", "null"], "description": "Degrees north (WGS 84); null if the sender did not know.", "example": 42.2406 },
            "longitude": { "type": ["number", "null"], "description": "Degrees east (WGS 84).", "example": -8.7207 },
        }),
        EventKind::FeedLate => json!({
            "feed": { "type": "string", "description": "The feed of the gateway.", "example": "garmin" },
            "name": { "type": ["string", "null"], "description": "The name of the gateway.", "example": "Our inReach units" },
            "lastMessage": { "type": "string", "format": "date-time", "description": "When the last message came.", "example": "2026-05-01T12:00:00Z" },
        }),
        EventKind::FeedRefused => json!({
            "feed": { "type": "string", "description": "The feed of the gateway.", "example": "garmin" },
            "name": { "type": ["string", "null"], "description": "The name of the gateway.", "example": "Our inReach units" },
            "reason": { "type": ["string", "null"], "description": "Why, and what to do.", "example": "the X-Outbound-Auth-Token is wrong" },
        }),
        _ => Value::Null,
    }
}

fn only_id(prefix: &str) -> Value {
    let example = format!("{prefix}01jc2m8k4n5p6");
    json!({
        "type": "object",
        "description": "The id alone.",
        "required": ["id"],
        "properties": { "id": { "type": "string", "description": "What it happened to.", "example": example } },
    })
}
