//! Parameters as exactly as a schema can say it: ids of the right kind, texts without control characters. Bodies are exact
//! by their [statements](crate::http::input).

use perigee_core::id::{GeofenceId, GroupId, RuleId, ShareId, UserId};
use serde_json::{Value, json};

use crate::http::extract::Params;
use crate::http::input::id_pattern;

/// What a query parameter may hold.
const PARAMETER: &str = r"^[^\x00]*$";
/// A tag's key and value.
const TAG: &str = r"^[^\x00:]+:[^\x00]*$";

/// Adds patterns and lengths to the parameters of every operation.
pub(super) fn limit_parameters(paths: &mut Value) {
    for item in paths.as_object_mut().into_iter().flat_map(|paths| paths.values_mut()) {
        for operation in item.as_object_mut().into_iter().flat_map(|item| item.values_mut()) {
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            parameters.into_iter().flatten().for_each(limit_parameter);
        }
    }
}

fn limit_parameter(parameter: &mut Value) {
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
        limit_parameters(&mut paths);
        let parameters = &paths["/api/things"]["get"]["parameters"];
        assert_eq!(parameters[0]["schema"]["minLength"], 1);
        assert_eq!(parameters[0]["schema"]["maxLength"], 1000);
        assert_eq!(parameters[1]["schema"], json!({"type": "integer"}));
        assert_eq!(parameters[2]["schema"]["pattern"], "^grp_[0-7][0-9a-hjkmnp-tv-z]{12}$");
    }
}
