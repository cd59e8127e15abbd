//! Adds the limits of inputs to the schemas of answers: a value that a client has set was within the limits of
//! `DeviceInput`, so `Device` promises the same limits.

use serde_json::Value;

const LOWER_LIMITS: [&str; 3] = ["minLength", "minimum", "minItems"];
const UPPER_LIMITS: [&str; 3] = ["maxLength", "maximum", "maxItems"];

/// Copies the limits of each member of a schema `XInput` to the member of the same name in `X`, unless that one already
/// has a narrower limit.
pub(super) fn limit_answers(schemas: &mut Value) {
    let Some(schemas) = schemas.as_object_mut() else { return };
    let inputs: Vec<(String, Value)> = schemas
        .iter()
        .filter_map(|(name, schema)| Some((name.strip_suffix("Input")?.to_owned(), schema.clone())))
        .collect();
    for (name, input) in inputs {
        let Some(answer) = schemas.get_mut(&name).and_then(|schema| schema.get_mut("properties")) else {
            continue;
        };
        for (name, input_member) in input["properties"].as_object().into_iter().flatten() {
            if let Some(answer_member) = answer.get_mut(name) {
                narrow(answer_member, input_member);
            }
        }
    }
}

/// Copies each limit that is narrower in the input.
fn narrow(answer: &mut Value, input: &Value) {
    for (names, is_wider) in [(LOWER_LIMITS, f64::lt as fn(&f64, &f64) -> bool), (UPPER_LIMITS, f64::gt)] {
        for name in names {
            let Some(limit) = input.get(name) else { continue };
            // A course of 360 is accepted and answered as 0: the answer's exclusive maximum is the narrower one.
            if name == "maximum" && answer.get("exclusiveMaximum").is_some() {
                continue;
            }
            let own = answer.get(name).and_then(Value::as_f64);
            if own.zip(limit.as_f64()).is_none_or(|(own, limit)| is_wider(&own, &limit)) {
                answer[name] = limit.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_have_the_limits_of_inputs() {
        let mut schemas = json!({
            "SampleInput": {"properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "x"},
                "country": {"type": "string", "minLength": 2, "maxLength": 200},
                "days": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
                "course": {"type": "number", "maximum": 360},
                "secret": {"type": "string", "maxLength": 5},
            }},
            "Sample": {"properties": {
                "name": {"type": "string"},
                "country": {"type": "string", "maxLength": 2},
                "days": {"type": ["integer", "null"], "minimum": 0},
                "course": {"type": "number", "exclusiveMaximum": 360},
            }},
            "Other": {"properties": {"name": {"type": "string"}}},
        });
        limit_answers(&mut schemas);
        assert_eq!(
            schemas["Sample"]["properties"],
            json!({
                "name": {"type": "string", "minLength": 1, "maxLength": 200},
                "country": {"type": "string", "minLength": 2, "maxLength": 2},
                "days": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
                "course": {"type": "number", "exclusiveMaximum": 360},
            })
        );
        assert_eq!(schemas["Other"]["properties"]["name"], json!({"type": "string"}));
    }
}
