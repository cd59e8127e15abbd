//! Parameters, and the items of submissions, as exactly as a schema can say it: ids of the right kind, texts without
//! control characters. Other bodies are exact already, by their [statements](crate::http::input).

use std::collections::BTreeSet;

use perigee_core::id::{GeofenceId, GroupId, RuleId, ShareId, UserId};
use perigee_core::location::Location;
use perigee_core::text::{SHORT_MAX, TAG_KEY_MAX, TAGS_MAX};
use serde_json::{Value, json};

use crate::http::extract::Params;
use crate::http::input::{FULL_LINE, LINE, LINES, id_pattern};

/// A text that says something.
const FULL: &str = r"\S";
/// What a query parameter may hold.
const PARAMETER: &str = r"^[^\x00]*$";
/// A tag's key and value.
const TAG: &str = r"^[^\x00:]+:[^\x00]*$";

/// Tightens the parameters of every operation, and what is sent of locations and alerts.
pub(super) fn tighten(paths: &mut Value, schemas: &mut Value) {
    let mut items = BTreeSet::new();
    for (path, item) in paths.as_object_mut().into_iter().flatten() {
        let is_submission = path.ends_with("/locations") || path.ends_with("/alerts");
        for (_, operation) in item.as_object_mut().into_iter().flatten() {
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            parameters.into_iter().flatten().for_each(tighten_parameter);
            if is_submission {
                collect(&operation["requestBody"], schemas, &mut items);
            }
        }
    }
    for name in &items {
        let schema = &mut schemas[name];
        for choice in schema.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if choice["type"] == "array" {
                choice["minItems"] = json!(1);
                choice["maxItems"] = json!(Location::BATCH_MAX);
            }
        }
        for (name, property) in
            schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
        {
            tighten_member(name, property);
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
        "attributes" => {
            let key = json!({ "pattern": FULL_LINE, "maxLength": SHORT_MAX });
            map_of(property, Location::ATTRIBUTES_MAX, &key, None);
        }
        "accessoriesAttributes" => {
            let value = json!({ "type": "string", "maxLength": Location::TEXT_MAX });
            let key = json!({ "pattern": FULL, "maxLength": TAG_KEY_MAX });
            map_of(&mut property["items"], TAGS_MAX, &key, Some(value));
        }
        "alertTexts" | "alerts" | "warningTexts" | "warnings"
            if property.pointer("/items/type").is_some_and(|kind| kind == "string") =>
        {
            property["items"]["pattern"] = json!(LINE);
            property["items"]["maxLength"] = json!(Location::TEXT_MAX);
        }
        "alertName" => property["pattern"] = json!(if filled { FULL_LINE } else { LINE }),
        "text" => property["pattern"] = json!(LINES),
        _ => {}
    }
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
    let (is_query, is_cursor) = (place.0 == "query", place == ("query", "cursor"));
    let Some(schema) = parameter.get_mut("schema") else { return };
    if schema["type"] != "string" || schema.get("format").is_some() {
        return;
    }
    schema["pattern"] = pattern;
    if is_cursor {
        schema["minLength"] = json!(1);
    }
    if is_query && schema.get("maxLength").is_none() {
        schema["maxLength"] = json!(Params::CHARS_MAX);
    }
}

fn id(prefix: &str) -> Value {
    json!(id_pattern(prefix))
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
            ]}},
        });
        tighten(&mut paths, &mut json!({}));
        let parameters = &paths["/api/things"]["get"]["parameters"];
        assert_eq!(parameters[0]["schema"]["minLength"], 1);
        assert_eq!(parameters[0]["schema"]["maxLength"], 1000);
        assert_eq!(parameters[1]["schema"], json!({"type": "integer"}));
        assert_eq!(parameters[2]["schema"]["pattern"], "^grp_[0-7][0-9a-hjkmnp-tv-z]{12}$");
    }

    #[test]
    fn items_stay_open() {
        let body = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/In"}}}});
        let mut paths = json!({"/api/devices/{deviceId}/locations": {"post": {"requestBody": body}}});
        let mut schemas = json!({
            "In": {"properties": {"text": {"type": "string"}}},
            "Out": {"properties": {"text": {"type": "string"}}},
        });
        tighten(&mut paths, &mut schemas);
        assert_eq!(schemas["In"], json!({"properties": {"text": {"type": "string", "pattern": LINES}}}));
        assert_eq!(schemas["Out"], json!({"properties": {"text": {"type": "string"}}}));
    }
}
