//! The `webhooks` section: one entry for each type of event that is sent to webhooks, and one for the test event.

use perigee_core::events::event::{EventKind, Subject};
use perigee_core::id::{
    AccountId, AlertId, CommandId, ConversationMessageId, DeviceId, DriverId, GatewayId, GroupId,
    MaintenancePlanId, PlanId, SegmentId, UserId, WebhookId,
};
use serde_json::{Map, Value, json};

use super::example::example;
use crate::http::routes::webhooks::deliveries::TEST;
use crate::webhook::HEADERS;

const RETRIED: &str = "Delivery is retried until the receiver answers with a 2xx status, for up to 72 hours.";

/// The entries, by the `type` of their messages. Examples are made from these schemas.
pub(super) fn webhooks(schemas: &Value) -> Value {
    let mut entries = Map::new();
    for kind in EventKind::ALL {
        let data = data_schema(*kind);
        let description = format!(
            "{}\n\nSent to every webhook that subscribes to this type. {RETRIED}",
            kind.description()
        );
        entries.insert(kind.name().to_owned(), entry(kind.name(), &description, &data, schemas));
    }
    let test = format!(
        "A test event. Sent only to the webhook of `POST /api/webhooks/{{webhookId}}/test`, whatever types it subscribes to. \
         {RETRIED}"
    );
    entries.insert(TEST.to_owned(), entry(TEST, &test, &only_id(WebhookId::PREFIX), schemas));
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
        "summary": format!("Receive `{name}`"),
        "description": description,
        "security": [],
        "parameters": parameters,
        "requestBody": { "required": true, "content": { "application/json": { "schema": schema, "example": example } } },
        "responses": {
            "2XX": { "description": "The event was delivered." },
            "410": { "description": "The receiver no longer exists. The server disables the webhook." },
            "default": { "description": "Any other status: the delivery failed and is retried later." },
        },
    } })
}

/// The schema of `data` in events of this kind: the resource, or its ID if it was deleted, and the members stored with
/// the event.
fn data_schema(kind: EventKind) -> Value {
    let (schema, prefix) = match kind.subject() {
        Subject::Location => return json!({ "$ref": "#/components/schemas/Location" }),
        Subject::Alert => (Some("Alert"), AlertId::PREFIX),
        Subject::Command => (Some("Command"), CommandId::PREFIX),
        Subject::ConversationMessage => (Some("ConversationMessage"), ConversationMessageId::PREFIX),
        Subject::Device => (Some("Device"), DeviceId::PREFIX),
        Subject::Group => (Some("Group"), GroupId::PREFIX),
        Subject::User => (Some("User"), UserId::PREFIX),
        Subject::Driver => (Some("Driver"), DriverId::PREFIX),
        Subject::Account => (None, AccountId::PREFIX),
        Subject::Webhook => (None, WebhookId::PREFIX),
        Subject::Gateway => (None, GatewayId::PREFIX),
        Subject::Trip => (Some("Segment"), SegmentId::PREFIX),
        Subject::Maintenance => (None, MaintenancePlanId::PREFIX),
        Subject::Plan => (None, PlanId::PREFIX),
    };
    let id_alone = only_id(prefix);
    let is_deleted = matches!(
        kind,
        EventKind::DeviceDeleted
            | EventKind::GroupDeleted
            | EventKind::DriverDeleted
            | EventKind::UserDeleted
            | EventKind::TripRemoved
    );
    let subject = match schema {
        Some(name) if !is_deleted => {
            json!({ "anyOf": [{ "$ref": format!("#/components/schemas/{name}") }, id_alone] })
        }
        _ => id_alone,
    };
    match extra_members(kind) {
        Value::Null => subject,
        extra_members => json!({ "allOf": [subject, { "type": "object", "properties": extra_members }] }),
    }
}

/// The members that the store writes with an event of this kind, besides those of the resource.
fn extra_members(kind: EventKind) -> Value {
    match kind {
        EventKind::TripRemoved => json!({
            "deviceId": {
                "type": "string",
                "description": "ID of the device.",
                "example": "dev_01jc2m8k4n5p7",
            },
            "from": {
                "type": "string",
                "format": "date-time",
                "description": "Time at which the trip began.",
                "example": "2026-05-01T08:12:00Z",
            },
            "to": {
                "type": "string",
                "format": "date-time",
                "description": "Time at which the trip ended.",
                "example": "2026-05-01T08:55:00Z",
            },
        }),
        EventKind::MaintenanceCreated
        | EventKind::MaintenanceUpdated
        | EventKind::MaintenanceDeleted
        | EventKind::MaintenanceSoon
        | EventKind::MaintenanceDue
        | EventKind::MaintenanceDone => json!({
            "deviceId": { "type": "string", "description": "ID of the device.", "example": "dev_01jc2m8k4n5p7" },
            "name": { "type": "string", "description": "Name of the maintenance plan.", "example": "Oil change" },
            "state": { "$ref": "#/components/schemas/MaintenanceState" },
        }),
        EventKind::PlanCreated
        | EventKind::PlanDeleted
        | EventKind::PlanStarted
        | EventKind::PlanCheckedIn
        | EventKind::PlanMissed
        | EventKind::PlanOverdue
        | EventKind::PlanEnded
        | EventKind::PlanChanged => json!({
            "deviceId": { "type": ["string", "null"], "description": "ID of the first device of the plan. Null if it was deleted.", "example": "dev_01jc2m8k4n5p7" },
            "name": { "type": "string", "description": "Name of the plan.", "example": "Vigo to Horta" },
            "state": { "$ref": "#/components/schemas/PlanState" },
        }),
        EventKind::DriverUpdated => json!({
            "assignmentId": {
                "type": "string",
                "description": "ID of the assignment that was created, updated or deleted. Present only if it was one.",
                "example": "asg_01jc2m8k4n5p6",
            },
        }),
        EventKind::DeviceExpiring | EventKind::DeviceExpired | EventKind::DeviceReactivated => json!({
            "expires": { "type": ["string", "null"], "format": "date-time", "description": "Time at which the device expires or expired. Null if it does not expire.", "example": "2026-12-31T23:00:00Z" },
        }),
        EventKind::LimitEmailReached | EventKind::LimitSmsReached => json!({
            "date": { "type": "string", "format": "date", "description": "Day on which the limit was reached, in the time zone of the account.", "example": "2026-05-01" },
            "limit": { "type": "integer", "minimum": 0, "description": "Daily limit of notifications of the device.", "example": 50 },
        }),
        EventKind::CommandQueued
        | EventKind::CommandSent
        | EventKind::CommandAnswered
        | EventKind::CommandFailed
        | EventKind::CommandExpired => json!({
            "state": { "$ref": "#/components/schemas/CommandState" },
        }),
        EventKind::ConversationReceived | EventKind::ConversationSent | EventKind::ConversationChanged => {
            json!({
                "state": { "$ref": "#/components/schemas/ConversationMessageState" },
            })
        }
        EventKind::LicenseExhausted => json!({
            "licenses": { "type": "integer", "minimum": 0, "description": "Number of licences of the account. All of them are in use.", "example": 10 },
        }),
        EventKind::WebhookDisabled => json!({
            "name": { "type": ["string", "null"], "description": "Name of the webhook. Null if it has none.", "example": "Dispatch" },
            "reason": { "type": "string", "description": "Reason why the webhook was disabled.", "example": "The receiver answered 410 Gone." },
        }),
        EventKind::SosUnregistered => json!({
            "reason": { "type": "string", "enum": ["unknownDevice", "expiredDevice"], "description": "Reason why no alert was raised. `unknownDevice`: no device of the account has the identifier. `expiredDevice`: the device has expired.", "example": "expiredDevice" },
            "identifier": { "type": "string", "description": "Identifier under which the sender reported.", "example": "356938035643809" },
            "source": { "type": "string", "description": "Protocol or feed by which the SOS arrived.", "example": "garmin" },
            "peer": { "type": "string", "description": "IP address and port of the sender. Empty if it is not known.", "example": "203.0.113.7:40112" },
            "dateTime": { "type": "string", "format": "date-time", "description": "Time of the SOS.", "example": "2026-05-01T12:00:00Z" },
            "latitude": { "type": ["number", "null"], "description": "Latitude in degrees (WGS 84), positive to the north. Null if the sender did not report it.", "example": 42.2406 },
            "longitude": { "type": ["number", "null"], "description": "Longitude in degrees (WGS 84), positive to the east. Null if the sender did not report it.", "example": -8.7207 },
        }),
        EventKind::FeedLate => json!({
            "feed": { "type": "string", "description": "Feed that the gateway receives.", "example": "garmin" },
            "name": { "type": ["string", "null"], "description": "Name of the gateway. Null if it has none.", "example": "Our inReach units" },
            "lastMessage": { "type": "string", "format": "date-time", "description": "Time at which the last message was received.", "example": "2026-05-01T12:00:00Z" },
        }),
        EventKind::FeedRefused => json!({
            "feed": { "type": "string", "description": "Feed that the gateway receives.", "example": "garmin" },
            "name": { "type": ["string", "null"], "description": "Name of the gateway. Null if it has none.", "example": "Our inReach units" },
            "reason": { "type": ["string", "null"], "description": "Reason for the refusal, and what to do. Null if it is not known.", "example": "the X-Outbound-Auth-Token is wrong" },
        }),
        _ => Value::Null,
    }
}

fn only_id(prefix: &str) -> Value {
    let example = format!("{prefix}01jc2m8k4n5p6");
    json!({
        "type": "object",
        "description": "The resource by its ID only, because it was deleted or is not included.",
        "required": ["id"],
        "properties": { "id": { "type": "string", "description": "Unique identifier of the resource that the event concerns.", "example": example } },
    })
}
