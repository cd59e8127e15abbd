//! JSON Merge Patch (RFC 7396) in the document: schemas of PATCH bodies, derived from those of PUT bodies.

use serde_json::{Value, json};

use super::envelope::referenced;

/// Adds the merge patch of an input schema and of the objects in it, and returns its name.
pub(super) fn merge_patch(name: &str, schemas: &mut Value) -> String {
    let partial = format!("{}Patch", name.trim_end_matches("Input"));
    let mut schema = schemas[name].clone();
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
        object.insert(
            "description".to_owned(),
            json!(
                "A JSON Merge Patch (RFC 7396): the members to change. Members that are left out stay unchanged. Null \
                 removes a value, or sets its default."
            ),
        );
    }
    for (_, property) in schema["properties"].as_object_mut().into_iter().flatten() {
        // A member that is left out of a patch keeps its value and does not get the default.
        if let Some(property) = property.as_object_mut() {
            property.remove("default");
        }
        let accepts_null = accepts_null(property);
        reword_default(property, accepts_null);
        patch_object(property, schemas);
        for choice in property.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            reword_default(choice, accepts_null);
            patch_object(choice, schemas);
        }
    }
    schemas[&partial] = schema;
    partial
}

/// Lets a reference to an object that a client sets refer to its merge patch.
fn patch_object(property: &mut Value, schemas: &mut Value) {
    let Some(inner) = referenced(property).map(str::to_owned) else { return };
    if inner.ends_with("Input") && schemas[&inner].get("required").is_some() {
        property["$ref"] = json!(format!("#/components/schemas/{}", merge_patch(&inner, schemas)));
    }
}

fn accepts_null(property: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let mut types = property["type"].as_array().into_iter().flatten();
    let mut choices = property["oneOf"].as_array().into_iter().flatten().map(|choice| &choice["type"]);
    types.any(is_null) || choices.any(is_null)
}

/// Replaces the sentence about the default of an absent member, which is not true of a patch: there only null sets it.
fn reword_default(property: &mut Value, accepts_null: bool) {
    let Some(description) = property.get("description").and_then(Value::as_str) else { return };
    let Some((before, rest)) = description.split_once("Default:") else { return };
    let end = rest.find(". ").or_else(|| rest.find(".\n")).map_or(rest.len(), |dot| dot + 1);
    let (default, after) = rest.split_at(end);
    let sentence = if accepts_null { format!("Null sets the default:{default}") } else { String::new() };
    let parts = [before.trim_end(), &sentence, after.trim_start()];
    let words: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    property["description"] = json!(words.join(" "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_the_default_only_where_null_sets_it() {
        let check = |types: Value, description: &str, expected: &str| {
            let mut schemas = json!({
                "RuleInput": {"required": ["x"], "properties": {"x": {"type": types, "description": description}}},
            });
            assert_eq!(merge_patch("RuleInput", &mut schemas), "RulePatch");
            assert_eq!(schemas["RulePatch"]["properties"]["x"]["description"], expected);
            assert_eq!(schemas["RulePatch"].get("required"), None);
        };
        check(
            json!("integer"),
            "Delay, in seconds. Default: 0. At most 60.",
            "Delay, in seconds. At most 60.",
        );
        check(json!(["string", "null"]), "Text. Default: none.", "Text. Null sets the default: none.");
        check(
            json!(["string", "null"]),
            "Text. Default:\nthe name. Long.",
            "Text. Null sets the default:\nthe name. Long.",
        );
        check(json!("string"), "Name.", "Name.");
    }

    #[test]
    fn a_nullable_object_is_reworded_too() {
        let mut schemas = json!({
            "RuleInput": {"properties": {"schedule": {"oneOf": [
                {"$ref": "#/components/schemas/Schedule", "description": "Hours. Default: always."},
                {"type": "null"},
            ]}}},
        });
        merge_patch("RuleInput", &mut schemas);
        let described = &schemas["RulePatch"]["properties"]["schedule"]["oneOf"][0]["description"];
        assert_eq!(described, "Hours. Null sets the default: always.");
    }
}
