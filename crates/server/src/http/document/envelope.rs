//! Schemas of answers: the handlers' bodies, preceded by the members of the envelope (`success` and usage counts).

use serde_json::{Map, Value, json};

/// Adds the schema of the answer with this body and returns its name.
///
/// Only answers to authenticated callers have usage counts, so one body can have two answers: `XAnswer` with them and
/// `XOpenAnswer` without.
pub(super) fn answer_schema(name: &str, schemas: &mut Value, with_usage: bool) -> String {
    let answer = format!("{name}{}", if with_usage { "Answer" } else { "OpenAnswer" });
    if schemas.get(&answer).is_none() {
        let body = schemas[name].clone();
        schemas[&answer] = match body.get("anyOf").and_then(Value::as_array) {
            Some(choices) => any_of_answers(&body, choices, schemas, with_usage),
            None => with_envelope(merge_all_of(body, schemas), with_usage),
        };
    }
    answer
}

/// The name of the schema that a `$ref` refers to; `None` for a schema without one.
pub(super) fn referenced(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// Puts the envelope into each choice of an `anyOf`. Beside the choices it would not work: a validator that checks each
/// choice separately would reject the envelope's members as unknown.
fn any_of_answers(body: &Value, choices: &[Value], schemas: &mut Value, with_usage: bool) -> Value {
    let mut answers = Vec::new();
    for choice in choices {
        let mut answer = choice.clone();
        if let Some(name) = referenced(choice) {
            let name = answer_schema(name, schemas, with_usage);
            answer["$ref"] = json!(format!("#/components/schemas/{name}"));
        }
        answers.push(answer);
    }
    json!({ "description": body["description"], "anyOf": answers })
}

/// The same schema with the members of all parts of an `allOf` as its own.
fn merge_all_of(mut schema: Value, schemas: &Value) -> Value {
    let Some(Value::Array(parts)) = schema.as_object_mut().and_then(|members| members.remove("allOf")) else {
        return schema;
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    for part in &parts {
        let part = referenced(part).map_or(part, |name| &schemas[name]);
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
    }
    schema["properties"] = Value::Object(properties);
    schema["required"] = Value::Array(required);
    schema
}

fn with_envelope(mut schema: Value, with_usage: bool) -> Value {
    let mut properties = Map::new();
    properties.insert(
        "success".to_owned(),
        json!({ "type": "boolean", "description": "Always true in successful responses.", "example": true }),
    );
    let mut required = vec![json!("success")];
    if with_usage {
        let count = |description: &str| json!({ "type": "integer", "format": "int64", "minimum": 0, "description": description, "example": 42 });
        let total = "Number of API calls of the account since the API was activated.";
        properties.insert("apiUsage".to_owned(), count(total));
        let daily = "Number of API calls of the account on the current day, in the time zone of the account.";
        properties.insert("apiDailyUsage".to_owned(), count(daily));
        required.extend([json!("apiUsage"), json!("apiDailyUsage")]);
    }
    if let Some(own) = schema.get("properties").and_then(Value::as_object) {
        properties.extend(own.clone());
    }
    if let Some(own) = schema.get("required").and_then(Value::as_array) {
        required.extend(own.clone());
    }
    schema["type"] = json!("object");
    schema["properties"] = Value::Object(properties);
    schema["required"] = Value::Array(required);
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_gets_the_envelope() {
        let mut schemas = json!({
            "One": {"type": "object", "properties": {"a": {}}, "required": ["a"]},
            "Two": {"allOf": [{"$ref": "#/components/schemas/One"}, {"properties": {"b": {}}, "required": ["b"]}]},
            "Either": {"description": "d", "anyOf": [{"$ref": "#/components/schemas/One"}, {"$ref": "#/components/schemas/Two"}]},
        });
        assert_eq!(answer_schema("Either", &mut schemas, false), "EitherOpenAnswer");
        assert_eq!(
            schemas["EitherOpenAnswer"]["anyOf"],
            json!([{"$ref": "#/components/schemas/OneOpenAnswer"}, {"$ref": "#/components/schemas/TwoOpenAnswer"}])
        );
        assert_eq!(schemas["TwoOpenAnswer"]["required"], json!(["success", "a", "b"]));
        assert_eq!(answer_schema("One", &mut schemas, true), "OneAnswer");
        assert_eq!(schemas["OneAnswer"]["required"], json!(["success", "apiUsage", "apiDailyUsage", "a"]));
    }
}
