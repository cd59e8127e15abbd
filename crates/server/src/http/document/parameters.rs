//! Adds exact patterns and lengths to the schemas of parameters. Bodies get theirs from their
//! [statements](crate::http::input).

use perigee_core::id::{
    AccountId, AlertId, AlertNoteId, CommandId, ContactGroupId, DeliveryId, DeviceId, FileId, GatewayId,
    GeofenceId, GroupId, MessageId, NotificationId, RuleId, ShareId, UserId, WebhookId,
};
use serde_json::{Value, json};

use crate::http::extract::Params;
use crate::http::format::Field;
use crate::http::input::{any_of, id_pattern};
use crate::http::routes::events::query::kind_names;

/// What a query parameter may hold.
const PARAMETER: &str = r"^[^\x00]*$";
/// A tag's key and value.
const TAG: &str = r"^[^\x00:]+:[^\x00]*$";
/// West, south, east and north in degrees.
const BOX: &str = r"^-?[0-9]{1,3}([.][0-9]{1,7})?(,-?[0-9]{1,3}([.][0-9]{1,7})?){3}$";
/// Latitude and longitude in degrees.
const POSITION: &str =
    r"-?(90|[1-8]?[0-9]([.][0-9]{1,7})?),-?(180|(1[0-7][0-9]|[1-9]?[0-9])([.][0-9]{1,7})?)";

/// Adds patterns and lengths to the parameters of every operation.
pub(super) fn limit_parameters(paths: &mut Value) {
    for item in paths.as_object_mut().into_iter().flat_map(|paths| paths.values_mut()) {
        for operation in item.as_object_mut().into_iter().flat_map(|item| item.values_mut()) {
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            parameters.into_iter().flatten().for_each(limit_parameter);
        }
    }
}

/// The keywords of the schema of a parameter, by where it is sent and its name.
fn limits(place: (&str, &str)) -> Option<Value> {
    let pattern = match place {
        ("query", "from" | "to" | "since" | "trail") => return Some(json!({ "format": "date-time" })),
        // A device is found by its hardware's identifier too, so that its path takes any text.
        ("path", "accountId") => id_pattern(AccountId::PREFIX),
        ("path", "alertId") | ("query", "alert") => id_pattern(AlertId::PREFIX),
        ("path", "commandId") => id_pattern(CommandId::PREFIX),
        ("path", "contactGroupId") => id_pattern(ContactGroupId::PREFIX),
        ("path", "fileId") => id_pattern(FileId::PREFIX),
        ("path", "deliveryId") => id_pattern(DeliveryId::PREFIX),
        ("path", "gatewayId") => id_pattern(GatewayId::PREFIX),
        ("path", "geofenceId") => id_pattern(GeofenceId::PREFIX),
        ("path", "groupId") => id_pattern(GroupId::PREFIX),
        ("path", "messageId") => id_pattern(MessageId::PREFIX),
        ("path", "noteId") => id_pattern(AlertNoteId::PREFIX),
        ("path", "notificationId") => id_pattern(NotificationId::PREFIX),
        ("path", "ruleId") | ("query", "rule") => id_pattern(RuleId::PREFIX),
        ("path", "shareId") => id_pattern(ShareId::PREFIX),
        ("path", "userId") | ("query", "user") => id_pattern(UserId::PREFIX),
        ("path", "webhookId") => id_pattern(WebhookId::PREFIX),
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

/// A comma-separated list of what the pattern matches.
fn list(item: &str) -> String {
    format!("^{item}(,{item})*$")
}

fn limit_parameter(parameter: &mut Value) {
    let text = |member: &str| parameter[member].as_str().unwrap_or_default().to_owned();
    let (place, name) = (text("in"), text("name"));
    let Some(schema) = parameter.get_mut("schema").and_then(Value::as_object_mut) else { return };
    // The handler's own keywords take precedence.
    let is_exact = ["format", "pattern", "enum"].iter().any(|word| schema.contains_key(*word));
    if schema.get("type") != Some(&json!("string")) || is_exact {
        return;
    }
    let Some(Value::Object(limits)) = limits((&place, &name)) else { return };
    let is_instant = limits.contains_key("format");
    schema.extend(limits);
    if place == "query" && !is_instant {
        schema.entry("maxLength").or_insert(json!(Params::CHARS_MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_exact() {
        let mut paths = json!({
            "/api/things": {"get": {"parameters": [
                {"name": "cursor", "in": "query", "schema": {"type": "string"}},
                {"name": "limit", "in": "query", "schema": {"type": "integer"}},
                {"name": "groupId", "in": "path", "schema": {"type": "string"}},
                {"name": "from", "in": "query", "schema": {"type": "string"}},
                {"name": "devices", "in": "query", "schema": {"type": "string"}},
                {"name": "unit", "in": "query", "schema": {"type": "string", "pattern": "^(hour|day)$"}},
            ]}},
        });
        limit_parameters(&mut paths);
        let parameters = &paths["/api/things"]["get"]["parameters"];
        assert_eq!(parameters[0]["schema"]["minLength"], 1);
        assert_eq!(parameters[0]["schema"]["maxLength"], 1000);
        assert_eq!(parameters[1]["schema"], json!({"type": "integer"}));
        assert_eq!(parameters[2]["schema"]["pattern"], "^grp_[0-7][0-9a-hjkmnp-tv-z]{12}$");
        assert_eq!(parameters[3]["schema"], json!({"type": "string", "format": "date-time"}));
        let devices = "^dev_[0-7][0-9a-hjkmnp-tv-z]{12}(,dev_[0-7][0-9a-hjkmnp-tv-z]{12})*$";
        assert_eq!(parameters[4]["schema"]["pattern"], devices);
        assert_eq!(parameters[5]["schema"], json!({"type": "string", "pattern": "^(hour|day)$"}));
    }
}
