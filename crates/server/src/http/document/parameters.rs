//! Adds the parameters of paths to every operation, and to all parameters an example and exact patterns and lengths.
//! Bodies get theirs from their [statements](crate::http::input).

use perigee_core::id::{
    AccountId, AlertId, AlertNoteId, AssignmentId, CommandId, ContactGroupId, ConversationMessageId,
    DeliveryId, DeviceId, DriverId, EditId, FileId, GatewayId, GeofenceId, GroupId, MaintenancePlanId, MapId,
    MessageId, NotificationId, PlanId, PlanLinkId, PushSubscriptionId, RuleId, SavedReportId, SegmentId,
    ShareId, UserId, WebhookId,
};
use serde_json::{Value, json};

use super::example::example;
use crate::http::extract::Params;
use crate::http::format::Field;
use crate::http::input::{any_of, id_pattern};
use crate::http::routes::events::query::kind_names;

/// Any text without NUL.
const PARAMETER: &str = r"^[^\x00]*$";
/// A tag's key and value.
const TAG: &str = r"^[^\x00:]+:[^\x00]*$";
/// West, south, east and north in degrees.
const BOX: &str = r"^-?[0-9]{1,3}([.][0-9]{1,7})?(,-?[0-9]{1,3}([.][0-9]{1,7})?){3}$";
/// Latitude and longitude in degrees.
const POSITION: &str =
    r"-?(90|[1-8]?[0-9]([.][0-9]{1,7})?),-?(180|(1[0-7][0-9]|[1-9]?[0-9])([.][0-9]{1,7})?)";

/// The parameters of paths, which mean the same in every path: name, description, example, and the prefix of IDs.
const PATH_PARAMETERS: [(&str, &str, &str, Option<&str>); 31] = [
    ("accountId", "ID of the account.", "acc_01jc2m8k4n5p5", Some(AccountId::PREFIX)),
    ("alertId", "ID of the alert.", "alr_01jc2m8k4n5p9", Some(AlertId::PREFIX)),
    ("assignmentId", "ID of the assignment.", "asg_01jc2m8k4n5p6", Some(AssignmentId::PREFIX)),
    ("commandId", "ID of the command.", "cmd_01jc2m8k4n5p6", Some(CommandId::PREFIX)),
    ("contactGroupId", "ID of the contact group.", "ctg_01jc2m8k4n5p6", Some(ContactGroupId::PREFIX)),
    (
        "conversationMessageId",
        "ID of the message of a conversation.",
        "txt_01jc2m8k4n5p6",
        Some(ConversationMessageId::PREFIX),
    ),
    ("deliveryId", "ID of the delivery.", "dlv_01jc2m8k4n5p6", Some(DeliveryId::PREFIX)),
    // The path also accepts the identifier of the hardware, so any text is allowed.
    ("deviceId", "ID or identifier of the device.", "dev_01jc2m8k4n5p7", None),
    ("driverId", "ID of the driver.", "drv_01jc2m8k4n5p6", Some(DriverId::PREFIX)),
    ("editId", "ID of the edit.", "edt_01jc2m8k4n5p6", Some(EditId::PREFIX)),
    ("fileId", "ID of the file.", "fil_01jc2m8k4n5p6", Some(FileId::PREFIX)),
    ("gatewayId", "ID of the gateway.", "gtw_01jc2m8k4n5p6", Some(GatewayId::PREFIX)),
    ("geofenceId", "ID of the geofence.", "geo_01jc2m8k4n5p6", Some(GeofenceId::PREFIX)),
    ("groupId", "ID of the group.", "grp_01jc2m8k4n5p6", Some(GroupId::PREFIX)),
    ("kind", "Kind of the template: which text of which message it renders.", "alert-sms", None),
    ("maintenanceId", "ID of the maintenance plan.", "mnt_01jc2m8k4n5p6", Some(MaintenancePlanId::PREFIX)),
    ("linkId", "ID of the traveller's link.", "plk_01jc2m8k4n5p6", Some(PlanLinkId::PREFIX)),
    ("mapId", "ID of the map.", "map_01jc2m8k4n5p6", Some(MapId::PREFIX)),
    ("messageId", "ID of the raw message.", "msg_01jc2m8k4n5p6", Some(MessageId::PREFIX)),
    ("noteId", "ID of the note.", "nte_01jc2m8k4n5p6", Some(AlertNoteId::PREFIX)),
    ("noticeId", "ID of the notice.", "ntc_01jc2m8k4n5p6", None),
    ("notificationId", "ID of the notification.", "ntf_01jc2m8k4n5pa", Some(NotificationId::PREFIX)),
    ("planId", "ID of the plan.", "pln_01jc2m8k4n5p6", Some(PlanId::PREFIX)),
    (
        "pushSubscriptionId",
        "ID of the push subscription.",
        "psb_01jc2m8k4n5p7",
        Some(PushSubscriptionId::PREFIX),
    ),
    ("ruleId", "ID of the rule.", "rul_01jc2m8k4n5p6", Some(RuleId::PREFIX)),
    ("savedReportId", "ID of the saved report.", "rpt_01jc2m8k4n5p6", Some(SavedReportId::PREFIX)),
    (
        "secret",
        "Secret of the share link: the last part of its `url`.",
        "q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e",
        None,
    ),
    ("segmentId", "ID of the segment.", "seg_01jc2m8k4n5p6", Some(SegmentId::PREFIX)),
    ("shareId", "ID of the share link.", "shr_01jc2m8k4n5p6", Some(ShareId::PREFIX)),
    ("userId", "ID of the user.", "usr_01jc2m8k4n5p8", Some(UserId::PREFIX)),
    ("webhookId", "ID of the webhook.", "whk_01jc2m8k4n5p6", Some(WebhookId::PREFIX)),
];

/// Adds the parameters in the path of an operation, before those of its handler.
pub(super) fn add_path_parameters(path: &str, operation: &mut Value) {
    let Some(members) = operation.as_object_mut() else { return };
    let names = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let known = names.filter_map(|name| PATH_PARAMETERS.iter().find(|parameter| parameter.0 == name));
    let mut parameters: Vec<Value> = known
        .map(|(name, description, example, prefix)| {
            let mut schema = json!({ "type": "string" });
            if let Some(prefix) = prefix {
                schema["pattern"] = json!(id_pattern(prefix));
            }
            json!({
                "name": name, "in": "path", "description": description, "required": true,
                "schema": schema, "example": example
            })
        })
        .collect();
    if parameters.is_empty() {
        return;
    }
    if let Some(Value::Array(stated)) = members.get_mut("parameters") {
        stated.splice(0..0, parameters.drain(..));
        return;
    }
    // Parameters come before the body and the answers.
    let before = members.keys().position(|name| name == "requestBody" || name == "responses");
    members.shift_insert(before.unwrap_or(members.len()), "parameters".to_owned(), Value::Array(parameters));
}

/// Examples of parameters that mean the same in every operation. Those that a handler states take precedence.
fn shared_example(name: &str) -> Option<Value> {
    Some(match name {
        "channel" => json!("email"),
        "cursor" => json!("AAAAAAAAACoAAAAAAAAAAKh8Z1E"),
        "device" => json!("dev_01jc2m8k4n5p7"),
        "format" => json!("geojson"),
        "language" => json!("en"),
        "limit" => json!(100),
        "messages" => json!("keep"),
        "order" => json!("desc"),
        "q" => json!("north"),
        "result" => json!("unparsable"),
        "severity" => json!("critical"),
        "simplify" => json!(25),
        "stage" => json!("open"),
        "units" => json!("metric"),
        "wait" => json!(30),
        _ => return None,
    })
}

/// Gives a parameter an example, unless its handler states one: a shared one, or else a value that its schema accepts.
fn add_example(parameter: &mut Value, schemas: &Value) {
    let has_one = parameter.get("example").is_some() || parameter.pointer("/schema/example").is_some();
    if has_one {
        return;
    }
    let name = parameter["name"].as_str().unwrap_or_default();
    let shared = shared_example(name).or_else(|| {
        // Any text is accepted where the schema is a plain string, so a made-up one would explain nothing.
        let is_text = parameter["schema"]["type"] == "string" && parameter["schema"].get("enum").is_none();
        (!is_text).then(|| example(&parameter["schema"], schemas))
    });
    if let Some(example) = shared {
        parameter["example"] = example;
    }
}

/// Adds patterns, lengths and examples to the parameters of every operation.
pub(super) fn limit_parameters(paths: &mut Value, schemas: &Value) {
    for item in paths.as_object_mut().into_iter().flat_map(|paths| paths.values_mut()) {
        for operation in item.as_object_mut().into_iter().flat_map(|item| item.values_mut()) {
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            for parameter in parameters.into_iter().flatten() {
                add_example(parameter, schemas);
                limit_parameter(parameter);
            }
        }
    }
}

/// The keywords of the schema of a parameter, by its location and name.
fn limits(parameter: (&str, &str)) -> Option<Value> {
    let pattern = match parameter {
        ("query", "from" | "to" | "since" | "trail") => return Some(json!({ "format": "date-time" })),
        ("query", "alert") => id_pattern(AlertId::PREFIX),
        ("query", "rule") => id_pattern(RuleId::PREFIX),
        ("query", "user") => id_pattern(UserId::PREFIX),
        ("query", "devices") => list(id_pattern(DeviceId::PREFIX).trim_matches(['^', '$'])),
        ("query", "types") => list(&any_of(kind_names())),
        ("query", "fields") => list(&any_of(Field::ALL.iter().map(|field| field.name()))),
        ("query", "bbox") => BOX.to_owned(),
        ("query", "at") => format!("^{POSITION}(;{POSITION}){{0,49}}$"),
        ("query", "tag") => TAG.to_owned(),
        ("query", "cursor") => return Some(json!({ "pattern": PARAMETER, "minLength": 1 })),
        ("query", _) => PARAMETER.to_owned(),
        _ => return None,
    };
    Some(json!({ "pattern": pattern }))
}

/// A comma-separated list of items that match the pattern.
fn list(item: &str) -> String {
    format!("^{item}(,{item})*$")
}

fn limit_parameter(parameter: &mut Value) {
    let text = |member: &str| parameter[member].as_str().unwrap_or_default().to_owned();
    let (source, name) = (text("in"), text("name"));
    let Some(schema) = parameter.get_mut("schema").and_then(Value::as_object_mut) else { return };
    // The handler's own keywords take precedence.
    let is_exact = ["format", "pattern", "enum"].iter().any(|word| schema.contains_key(*word));
    if schema.get("type") != Some(&json!("string")) || is_exact {
        return;
    }
    let Some(Value::Object(limits)) = limits((&source, &name)) else { return };
    let is_instant = limits.contains_key("format");
    schema.extend(limits);
    if source == "query" && !is_instant {
        schema.entry("maxLength").or_insert(json!(Params::CHARS_MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_exact() {
        let mut paths = json!({
            "/api/samples": {"get": {"parameters": [
                {"name": "cursor", "in": "query", "schema": {"type": "string"}},
                {"name": "limit", "in": "query", "schema": {"type": "integer"}},
                {"name": "from", "in": "query", "schema": {"type": "string"}},
                {"name": "devices", "in": "query", "schema": {"type": "string"}},
                {"name": "unit", "in": "query", "schema": {"type": "string", "pattern": "^(hour|day)$"}},
            ]}},
        });
        limit_parameters(&mut paths, &json!({}));
        let parameters = &paths["/api/samples"]["get"]["parameters"];
        assert_eq!(parameters[0]["schema"]["minLength"], 1);
        assert_eq!(parameters[0]["schema"]["maxLength"], 1000);
        assert_eq!(parameters[1]["schema"], json!({"type": "integer"}));
        assert_eq!(parameters[2]["schema"], json!({"type": "string", "format": "date-time"}));
        let devices = "^dev_[0-7][0-9a-hjkmnp-tv-z]{12}(,dev_[0-7][0-9a-hjkmnp-tv-z]{12})*$";
        assert_eq!(parameters[3]["schema"]["pattern"], devices);
        assert_eq!(parameters[4]["schema"], json!({"type": "string", "pattern": "^(hour|day)$"}));
    }

    #[test]
    fn parameters_of_a_path_come_first() {
        let mut operation =
            json!({"operationId": "x", "parameters": [{"name": "q", "in": "query"}], "responses": {}});
        add_path_parameters("/api/devices/{deviceId}/files/{fileId}", &mut operation);
        let names: Vec<_> =
            operation["parameters"].as_array().into_iter().flatten().map(|one| &one["name"]).collect();
        assert_eq!(names, ["deviceId", "fileId", "q"]);
        assert_eq!(operation["parameters"][1]["schema"]["pattern"], "^fil_[0-7][0-9a-hjkmnp-tv-z]{12}$");
        let mut operation = json!({"operationId": "x", "responses": {}});
        add_path_parameters("/api/groups/{groupId}", &mut operation);
        assert_eq!(operation["parameters"][0]["example"], "grp_01jc2m8k4n5p6");
        assert_eq!(
            operation.as_object().and_then(|members| members.keys().next_back()).map(String::as_str),
            Some("responses")
        );
    }
}
