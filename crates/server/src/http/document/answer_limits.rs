//! Limits of answers: what a client set is answered as it was accepted, so that `Device` has the limits of `DeviceInput`.

use serde_json::Value;

const LEAST: [&str; 3] = ["minLength", "minimum", "minItems"];
const MOST: [&str; 3] = ["maxLength", "maximum", "maxItems"];

/// Gives the members of each schema `X` the limits that members of the same name have in `XInput`. Narrower limits of
/// its own stay.
pub(super) fn limit_answers(schemas: &mut Value) {
    let Some(schemas) = schemas.as_object_mut() else { return };
    let inputs: Vec<(String, Value)> = schemas
        .iter()
        .filter_map(|(name, schema)| Some((name.strip_suffix("Input")?.to_owned(), schema.clone())))
        .collect();
    for (name, input) in inputs {
        let Some(answered) = schemas.get_mut(&name).and_then(|schema| schema.get_mut("properties")) else {
            continue;
        };
        for (member, stated) in input["properties"].as_object().into_iter().flatten() {
            if let Some(answered) = answered.get_mut(member) {
                narrow(answered, stated);
            }
        }
    }
}

fn narrow(answered: &mut Value, stated: &Value) {
    for (names, is_wider) in [(LEAST, f64::lt as fn(&f64, &f64) -> bool), (MOST, f64::gt)] {
        for name in names {
            let Some(limit) = stated.get(name) else { continue };
            // A course is answered below 360, although 360 is accepted.
            if name == "maximum" && answered.get("exclusiveMaximum").is_some() {
                continue;
            }
            let own = answered.get(name).and_then(Value::as_f64);
            if own.zip(limit.as_f64()).is_none_or(|(own, limit)| is_wider(&own, &limit)) {
                answered[name] = limit.clone();
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
            "ThingInput": {"properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "x"},
                "country": {"type": "string", "minLength": 2, "maxLength": 200},
                "days": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
                "course": {"type": "number", "maximum": 360},
                "secret": {"type": "string", "maxLength": 5},
            }},
            "Thing": {"properties": {
                "name": {"type": "string"},
                "country": {"type": "string", "maxLength": 2},
                "days": {"type": ["integer", "null"], "minimum": 0},
                "course": {"type": "number", "exclusiveMaximum": 360},
            }},
            "Other": {"properties": {"name": {"type": "string"}}},
        });
        limit_answers(&mut schemas);
        assert_eq!(
            schemas["Thing"]["properties"],
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
