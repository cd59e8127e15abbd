//! Examples combined from the examples of properties, so that every operation shows its bodies.

use serde_json::{Map, Value, json};

/// How deep references are followed.
const DEPTH: u8 = 32;

/// An example of what this schema describes.
pub(super) fn example(schema: &Value, schemas: &Value) -> Value {
    of(schema, schemas, DEPTH)
}

fn of(schema: &Value, schemas: &Value, depth: u8) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(example) = schema.get("example") {
        return example.clone();
    }
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        return of(&schemas[name], schemas, depth - 1);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(word) = schema.pointer("/enum/0") {
        return word.clone();
    }
    let mut parts: Vec<&Value> =
        schema.get("allOf").and_then(Value::as_array).into_iter().flatten().collect();
    for choices in ["oneOf", "anyOf"].iter().filter_map(|name| schema.get(*name).and_then(Value::as_array)) {
        parts.extend(choices.iter().find(|choice| choice["type"] != "null"));
    }
    if !parts.is_empty() {
        return merged(parts, members(schema, schemas, depth), schemas, depth);
    }
    match kind(schema) {
        "object" => Value::Object(members(schema, schemas, depth)),
        "array" => schema.get("items").map_or(json!([]), |items| json!([of(items, schemas, depth - 1)])),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(0)),
        "boolean" => json!(false),
        "string" => json!("text"),
        _ => Value::Null,
    }
}

/// The members of all parts together, or the first part if that is not an object.
fn merged(parts: Vec<&Value>, mut members: Map<String, Value>, schemas: &Value, depth: u8) -> Value {
    for part in parts {
        match of(part, schemas, depth - 1) {
            Value::Object(more) => members.extend(more),
            other if members.is_empty() => return other,
            _ => {}
        }
    }
    Value::Object(members)
}

fn members(schema: &Value, schemas: &Value, depth: u8) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.map(|(name, property)| (name.clone(), of(property, schemas, depth - 1))).collect()
}

/// The type, or the first that is not null where there are several.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(one) => one,
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default()
        }
        _ if schema.get("properties").is_some() => "object",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_properties_together() {
        let schemas = json!({"Place": {"type": "object", "properties": {"name": {"type": "string", "example": "Vigo"}}}});
        let schema = json!({"type": "object", "properties": {
            "at": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Place"}]},
            "n": {"type": ["integer", "null"], "minimum": 3},
            "tags": {"type": "array", "items": {"type": "string"}},
        }});
        assert_eq!(example(&schema, &schemas), json!({"at": {"name": "Vigo"}, "n": 3, "tags": ["text"]}));
    }
}
