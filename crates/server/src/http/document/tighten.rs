//! What requests may hold, as exactly as a schema can say it: known members only, ids of the right kind, texts
//! without control characters.

use std::collections::BTreeSet;

use perigee_core::id::{DeviceId, GeofenceId, GroupId, RuleId, ShareId, UserId};
use perigee_core::location::Location;
use perigee_core::text::{SHORT_MAX, TAG_KEY_MAX, TAG_VALUE_MAX, TAGS_MAX};
use serde_json::{Value, json};

/// A text on one line.
const LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";
/// A text on one line that says something.
const FULL_LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$";
/// A text that says something.
const FULL: &str = r"\S";
/// A text with line breaks and tabs.
const LINES: &str = r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$";
/// What a query parameter may hold.
const PARAMETER: &str = r"^[^\x00]*$";
/// A tag's key and value.
const TAG: &str = r"^[^\x00:]+:[^\x00]*$";
/// The thirteen letters of an id: 63 bits in Crockford's alphabet.
const ID_LETTERS: &str = "[0-7][0-9a-hjkmnp-tv-z]{12}";

/// Members of bodies that are texts on one line.
const ONE_LINE: [&str; 15] = [
    "alertName",
    "apiKey",
    "code",
    "currentPassword",
    "email",
    "icon",
    "identifier",
    "min",
    "model",
    "name",
    "newPassword",
    "password",
    "token",
    "totp",
    "userName",
];
/// Members of bodies that are texts on any number of lines.
const MULTILINE: [&str; 4] = ["description", "disabledMessage", "message", "text"];
/// Members of bodies that are lists of texts on one line.
const LISTS: [&str; 4] = ["alertTexts", "alerts", "warningTexts", "warnings"];

/// Tightens the parameters and bodies of every operation. Bodies are closed, too, but for those that take further
/// members on purpose.
pub(super) fn tighten(paths: &mut Value, schemas: &mut Value) {
    let (mut closed, mut open) = (BTreeSet::new(), BTreeSet::new());
    for (path, item) in paths.as_object_mut().into_iter().flatten() {
        let takes_more = path.ends_with("/locations") || path.ends_with("/alerts");
        for (_, operation) in item.as_object_mut().into_iter().flatten() {
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            parameters.into_iter().flatten().for_each(tighten_parameter);
            collect(&operation["requestBody"], schemas, if takes_more { &mut open } else { &mut closed });
        }
    }
    for name in closed.union(&open) {
        let schema = &mut schemas[name];
        for choice in schema.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if choice["type"] == "array" {
                choice["minItems"] = json!(1);
                choice["maxItems"] = json!(Location::BATCH_MAX);
            }
        }
        let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { continue };
        for (name, property) in properties {
            tighten_member(name, property);
        }
        if closed.contains(name) {
            schema["additionalProperties"] = json!(false);
        }
    }
}

/// The names of the schemas this part of the document refers to, and of those they refer to.
fn collect(part: &Value, schemas: &Value, names: &mut BTreeSet<String>) {
    match part {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            if let Some(name) = name
                && names.insert(name.to_owned())
            {
                collect(&schemas[name], schemas, names);
            }
            members.values().for_each(|member| collect(member, schemas, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, schemas, names)),
        _ => {}
    }
}

fn tighten_member(name: &str, property: &mut Value) {
    let filled = property["minLength"].as_u64().is_some_and(|least| least > 0);
    match name {
        "deviceId" => property["pattern"] = id(DeviceId::PREFIX),
        "group" | "groupId" => property["pattern"] = id(GroupId::PREFIX),
        "devices" => set_of(property, &id(DeviceId::PREFIX)),
        "groups" => set_of(property, &id(GroupId::PREFIX)),
        "geofences" => set_of(property, &id(GeofenceId::PREFIX)),
        "privileges" => property["uniqueItems"] = json!(true),
        "tags" => {
            let value = json!({ "type": "string", "pattern": LINES, "maxLength": TAG_VALUE_MAX });
            map_of(
                property,
                TAGS_MAX,
                &json!({ "pattern": FULL_LINE, "maxLength": TAG_KEY_MAX }),
                Some(value),
            );
        }
        "attributes" => {
            let key = json!({ "pattern": FULL_LINE, "maxLength": SHORT_MAX });
            map_of(property, Location::ATTRIBUTES_MAX, &key, None);
        }
        "accessoriesAttributes" => {
            let value = json!({ "type": "string", "maxLength": Location::TEXT_MAX });
            let key = json!({ "pattern": FULL, "maxLength": TAG_KEY_MAX });
            map_of(&mut property["items"], TAGS_MAX, &key, Some(value));
        }
        _ if LISTS.contains(&name)
            && property.pointer("/items/type").is_some_and(|kind| kind == "string") =>
        {
            property["items"]["pattern"] = json!(LINE);
            property["items"]["maxLength"] = json!(Location::TEXT_MAX);
        }
        _ if ONE_LINE.contains(&name) => property["pattern"] = json!(if filled { FULL_LINE } else { LINE }),
        _ if MULTILINE.contains(&name) => property["pattern"] = json!(LINES),
        _ => {}
    }
}

fn set_of(property: &mut Value, pattern: &Value) {
    property["uniqueItems"] = json!(true);
    property["items"]["pattern"] = pattern.clone();
}

fn map_of(property: &mut Value, most: usize, key: &Value, value: Option<Value>) {
    property["maxProperties"] = json!(most);
    property["propertyNames"] = key.clone();
    if let Some(value) = value {
        property["additionalProperties"] = value;
    }
}

fn tighten_parameter(parameter: &mut Value) {
    let place =
        (parameter["in"].as_str().unwrap_or_default(), parameter["name"].as_str().unwrap_or_default());
    // A device is found by its hardware's identifier too, so that its path takes any text.
    let pattern = match place {
        ("path", "groupId") | ("query", "group") => id(GroupId::PREFIX),
        ("path", "userId") | ("query", "user") => id(UserId::PREFIX),
        ("path", "shareId") => id(ShareId::PREFIX),
        ("path", "ruleId") => id(RuleId::PREFIX),
        ("path", "geofenceId") => id(GeofenceId::PREFIX),
        ("query", "tag") => json!(TAG),
        ("query", _) => json!(PARAMETER),
        _ => return,
    };
    let is_cursor = place == ("query", "cursor");
    let Some(schema) = parameter.get_mut("schema") else { return };
    if schema["type"] != "string" || schema.get("format").is_some() {
        return;
    }
    schema["pattern"] = pattern;
    if is_cursor {
        schema["minLength"] = json!(1);
        schema["maxLength"] = json!(1000);
    }
}

fn id(prefix: &str) -> Value {
    json!(format!("^{prefix}{ID_LETTERS}$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_closed_and_exact() {
        let body = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/In"}}}});
        let mut paths = json!({
            "/api/things": {"post": {"requestBody": body, "parameters": [
                {"name": "cursor", "in": "query", "schema": {"type": "string"}},
                {"name": "limit", "in": "query", "schema": {"type": "integer"}},
            ]}},
        });
        let mut schemas = json!({
            "In": {"properties": {
                "deviceId": {"type": ["string", "null"]},
                "name": {"type": "string", "minLength": 1},
                "inner": {"$ref": "#/components/schemas/Inner"},
            }},
            "Inner": {"properties": {"description": {"type": "string"}}},
            "Out": {"properties": {"name": {"type": "string"}}},
        });
        tighten(&mut paths, &mut schemas);
        assert_eq!(schemas["In"]["additionalProperties"], false);
        assert_eq!(schemas["In"]["properties"]["name"]["pattern"], FULL_LINE);
        assert_eq!(schemas["In"]["properties"]["deviceId"]["pattern"], "^dev_[0-7][0-9a-hjkmnp-tv-z]{12}$");
        assert_eq!(schemas["Inner"]["properties"]["description"]["pattern"], LINES);
        assert_eq!(schemas["Out"], json!({"properties": {"name": {"type": "string"}}}));
        let parameters = &paths["/api/things"]["post"]["parameters"];
        assert_eq!(parameters[0]["schema"]["minLength"], 1);
        assert_eq!(parameters[1]["schema"], json!({"type": "integer"}));
    }

    #[test]
    fn bodies_that_take_further_members_stay_open() {
        let body = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/In"}}}});
        let mut paths = json!({"/api/devices/{deviceId}/locations": {"post": {"requestBody": body}}});
        let mut schemas = json!({"In": {"properties": {"text": {"type": "string"}}}});
        tighten(&mut paths, &mut schemas);
        assert_eq!(schemas["In"], json!({"properties": {"text": {"type": "string", "pattern": LINES}}}));
    }
}
