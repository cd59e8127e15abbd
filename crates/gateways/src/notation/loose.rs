//! JSON as providers write it: numbers as texts, the text `null`, one object instead of a list.

use perigee_core::json_size::JsonSize;
use perigee_core::time::Timestamp;
use serde_json::Value as Json;

use crate::decode_budget::DecodeBudget;
use crate::decoded::DecodeError;
use crate::report::Report;
use crate::value::{Name, Value};
use crate::{notation::instant, notation::number};

/// Parses a JSON body, even after a byte order mark. Its memory is charged to the budget before it is parsed.
pub fn parse(body: &[u8], budget: &DecodeBudget) -> Result<Json, DecodeError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let JsonSize { values, bytes } = JsonSize::of(body);
    budget.take_values(values, bytes)?;
    serde_json::from_slice(body).map_err(|_detail| DecodeError::Malformed("the body is not JSON"))
}

/// A finite number, also when it is written as text.
pub fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => number.as_f64().filter(|number| number.is_finite()),
        Json::String(text) => crate::notation::fields::real(text),
        _ => None,
    }
}

/// A number as a reading, even if it is written as text; whole numbers stay whole.
pub fn number_reading(value: &Json) -> Option<Value> {
    match value {
        Json::String(text) => {
            let whole = crate::notation::fields::integer(text.trim()).map(Value::Integer);
            whole.or_else(|| number(value).map(Value::Real))
        }
        _ => reading(value),
    }
}

/// A whole number, also when it is written as text.
pub fn integer(value: &Json) -> Option<i64> {
    value.as_i64().or_else(|| number(value).map(number::whole))
}

/// A text that is not empty and not `null`, or the digits of a number.
pub fn text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => {
            let text = text.trim();
            (!text.is_empty() && text != "null").then(|| text.to_owned())
        }
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A boolean, which may also be a text, 0 or 1.
pub fn flag(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(flag) => Some(*flag),
        Json::String(text) => flag_text(text),
        _ => value.as_i64().map(|number| number != 0),
    }
}

/// The boolean that a text stands for.
pub fn flag_text(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" | "on" => Some(true),
        "false" | "no" | "0" | "off" => Some(false),
        _ => None,
    }
}

/// A time: a number since 1970, or any date that [`instant::any`] reads.
pub fn time(value: &Json) -> Option<Timestamp> {
    match value {
        Json::Number(number) => instant::epoch(number.as_f64()?),
        Json::String(text) => instant::any(text),
        _ => None,
    }
}

/// The members of a list; an object counts as a list of one, anything else as an empty list.
pub fn list(value: Option<&Json>) -> &[Json] {
    match value {
        Some(Json::Array(members)) => members,
        Some(object @ Json::Object(_)) => std::slice::from_ref(object),
        _ => &[],
    }
}

/// A flag, a number or a non-empty text as a reading.
pub fn reading(value: &Json) -> Option<Value> {
    match value {
        Json::Bool(flag) => Some(Value::Flag(*flag)),
        Json::Number(number) => {
            number.as_i64().map(Value::Integer).or_else(|| number.as_f64().map(Value::Real))
        }
        Json::String(text) if !text.is_empty() => Some(Value::text(text)),
        _ => None,
    }
}

/// Adds a value as a reading, if it can be one.
pub fn set(report: &mut Report, name: impl Into<Name>, value: Option<&Json>) {
    report.set_some(name, value.and_then(reading));
}

/// Adds a text as a reading, which may be a number or a flag.
pub fn set_typed(report: &mut Report, name: impl Into<Name>, text: &str) {
    let text = text.trim();
    match (crate::notation::fields::integer(text), crate::notation::fields::real(text), text) {
        (Some(number), ..) => report.set(name, number),
        (None, Some(number), _) => report.set(name, number),
        (None, None, "true") => report.set(name, true),
        (None, None, "false") => report.set(name, false),
        _ => report.set_text(name, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_may_be_texts_and_texts_numbers() {
        assert_eq!(number(&json!("-120.00")), Some(-120.0));
        assert_eq!(number(&json!("null")), None);
        assert_eq!(text(&json!("null")), None);
        assert_eq!(text(&json!(300_234)), Some("300234".to_owned()));
        assert_eq!(flag(&json!("No")), Some(false));
        assert_eq!(list(Some(&json!({"a": 1}))).len(), 1);
        assert_eq!(list(Some(&json!(null))).len(), 0);
        let budget = DecodeBudget::for_body(10);
        assert!(parse(b"\xef\xbb\xbf{}", &budget).is_ok());
        assert!(parse(b"{", &budget).is_err());
    }
}
