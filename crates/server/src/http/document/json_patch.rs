//! JSON Patch (RFC 6902) in the document: every PATCH accepts one besides a JSON Merge Patch.

use serde_json::{Value, json};

use crate::http::extract::JSON_PATCH;
use crate::http::json::{OPERATIONS, OPERATIONS_MAX};

/// A JSON Pointer (RFC 6901): empty, or members and indices each after a slash.
const POINTER: &str = "^(/([^/~]|~[01])*)*$";

/// The schemas of operations: name, the operations it describes, and the member they need besides `op` and `path`.
const SCHEMAS: [(&str, &[&str], Option<&str>); 3] = [
    ("JsonPatchWithValue", &["add", "replace", "test"], Some("value")),
    ("JsonPatchWithFrom", &["move", "copy"], Some("from")),
    ("JsonPatchRemove", &["remove"], None),
];

/// Adds JSON Patch to the bodies of every PATCH operation, with an example made from that of the merge patch.
pub(super) fn offer(paths: &mut Value, schemas: &mut Value) {
    add_schemas(schemas);
    let operations =
        paths.as_object_mut().into_iter().flatten().filter_map(|(_, item)| item.get_mut("patch"));
    for operation in operations {
        let Some(content) = operation.pointer_mut("/requestBody/content") else { continue };
        let example = example(&content["application/json"]["example"]);
        // An `allOf` instead of a plain array: with a plain array, openapi-python-client writes code that fails for
        // every kind of body; a body described by `allOf` is left out.
        let schema = json!({ "allOf": [{ "$ref": "#/components/schemas/JsonPatch" }, { "maxItems": OPERATIONS_MAX }] });
        content[JSON_PATCH] = json!({ "schema": schema, "example": example });
    }
}

fn add_schemas(schemas: &mut Value) {
    let reference = |name: &str| format!("#/components/schemas/{name}");
    let pointer = |description: &str| json!({ "type": "string", "format": "json-pointer", "pattern": POINTER, "description": description, "example": "/name" });
    for (name, operations, member) in SCHEMAS {
        let mut schema = json!({
            "type": "object",
            "description": format!("An operation of a JSON Patch (RFC 6902): {}.", operations.join(", ")),
            "required": ["op", "path"],
            "properties": {
                "op": { "type": "string", "enum": operations, "description": "Operation to perform at `path`." },
                "path": pointer("JSON pointer (RFC 6901) of the target, in the resource as GET returns it."),
            },
        });
        if let Some(member) = member {
            schema["required"] = json!(["op", "path", member]);
            schema["properties"][member] = if member == "from" {
                pointer("JSON pointer (RFC 6901) of the value to move or copy.")
            } else {
                json!({ "description": "Value to add, to replace with, or that `test` expects at `path`." })
            };
        }
        schemas[name] = schema;
    }
    let schema_of = |operation: &&str| {
        let found = SCHEMAS.iter().find(|(_, operations, _)| operations.contains(operation));
        found.map(|(name, ..)| ((*operation).to_owned(), json!(reference(name))))
    };
    schemas["JsonPatchOperation"] = json!({
        "description": "One operation of a JSON Patch.",
        "oneOf": SCHEMAS.map(|(name, ..)| json!({ "$ref": reference(name) })),
        "discriminator": {
            "propertyName": "op",
            "mapping": OPERATIONS.iter().filter_map(schema_of).collect::<serde_json::Map<_, _>>(),
        },
    });
    schemas["JsonPatch"] = json!({
        "type": "array",
        "description": "A JSON Patch (RFC 6902): operations applied in order, all of them or none.",
        "items": { "$ref": reference("JsonPatchOperation") },
    });
}

/// A patch that replaces one member of this merge patch: its name if it has one, else the first.
fn example(merge_patch: &Value) -> Value {
    let named = ["/name", "/properties/name"]
        .into_iter()
        .find_map(|path| merge_patch.pointer(path).map(|value| (path.to_owned(), value.clone())));
    let first = || {
        let (name, value) = merge_patch.as_object()?.iter().next()?;
        Some((format!("/{name}"), value.clone()))
    };
    match named.or_else(first) {
        Some((path, value)) => json!([{ "op": "replace", "path": path, "value": value }]),
        None => json!([]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_a_patch_has_one_schema() {
        let mut described: Vec<&str> =
            SCHEMAS.iter().flat_map(|(_, operations, _)| *operations).copied().collect();
        let mut known = OPERATIONS.to_vec();
        described.sort_unstable();
        known.sort_unstable();
        assert_eq!(described, known);
    }

    #[test]
    fn an_example_replaces_the_name_or_the_first_member() {
        let check = |merge_patch: Value, expect: Value| assert_eq!(example(&merge_patch), expect);
        check(json!({"a": 1, "name": "n"}), json!([{"op": "replace", "path": "/name", "value": "n"}]));
        check(
            json!({"properties": {"name": "n"}}),
            json!([{"op": "replace", "path": "/properties/name", "value": "n"}]),
        );
        check(json!({"b": [1]}), json!([{"op": "replace", "path": "/b", "value": [1]}]));
    }
}
