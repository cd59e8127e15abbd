//! A strict JSON parser: refuses duplicate members, NUL and deep nesting, which parsers treat differently.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::hint::quote;
use super::pointer::{Pointer, Problem};

/// The deepest nesting of arrays and objects.
pub const MAX_DEPTH: usize = 32;

/// The most values in a document. A parsed value takes far more memory than its text: a body of zeros would take
/// many times its size.
pub const MAX_VALUES: usize = 500_000;

/// A document that passed the strict parser.
#[derive(Debug)]
pub struct Parsed {
    /// The document, without duplicate members or NUL characters.
    pub value: Value,
    /// The number of values, nested ones included.
    pub values: usize,
}

/// Why a document was not parsed.
#[derive(Debug)]
pub struct Unread {
    /// The problem, and its pointer.
    pub problem: Problem,
    /// Whether the only problem is the number of values.
    pub is_too_large: bool,
}

/// Parses one JSON document, or gives the problem and its pointer.
pub fn parse_strict(body: &[u8]) -> Result<Value, Problem> {
    parse_bounded(body, MAX_VALUES).map(|parsed| parsed.value).map_err(|unread| unread.problem)
}

/// The same with at most `max_values` values; parsing stops there.
pub fn parse_bounded(body: &[u8], max_values: usize) -> Result<Parsed, Unread> {
    let whole = |detail: String| Unread {
        problem: Problem { pointer: Pointer::root(), detail },
        is_too_large: false,
    };
    let text = std::str::from_utf8(body).map_err(|error| {
        whole(format!("The body is not UTF-8 text: byte {} is wrong. Send UTF-8.", error.valid_up_to()))
    })?;
    // A byte order mark may be ignored (RFC 8259, section 8.1), and some platforms always write one.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Err(whole("The body is empty. Send a JSON document.".to_owned()));
    }
    let mut walk = Walk { pointer: Pointer::root(), depth: 0, values: 0, max_values, refusal: None };
    let mut source = serde_json::Deserializer::from_str(text);
    let read = Reader(&mut walk).deserialize(&mut source);
    match read.and_then(|value| source.end().map(|()| value)) {
        Ok(value) => Ok(Parsed { value, values: walk.values }),
        Err(error) => {
            let detail = walk.refusal.take().unwrap_or_else(|| explain(&error));
            let problem = Problem { pointer: walk.pointer, detail };
            Err(Unread { problem, is_too_large: walk.values > max_values })
        }
    }
}

/// Parses a part of a document at this depth, and counts its values. None if it is not valid: [`parse_strict`] of
/// the whole document then gives the problem.
pub fn parse_strict_part(text: &str, depth: usize) -> Option<(Value, usize)> {
    let mut walk = Walk { pointer: Pointer::root(), depth, values: 0, max_values: MAX_VALUES, refusal: None };
    let mut source = serde_json::Deserializer::from_str(text);
    let value = Reader(&mut walk).deserialize(&mut source).ok()?;
    source.end().ok()?;
    Some((value, walk.values))
}

/// A sentence for an error of `serde_json`.
fn explain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let at = format!("line {} column {}", error.line(), error.column());
    if error.is_eof() {
        "The body ends before its JSON document does. Send the whole document.".to_owned()
    } else if text.starts_with("number out of range") {
        format!("The number at {at} is too large. Send a smaller one.")
    } else if text.contains("surrogate") || text.starts_with("unexpected end of hex escape") {
        format!(
            "The string at {at} has one half of a surrogate pair. Send both halves or the character itself."
        )
    } else if text.starts_with("control character") {
        format!("The string at {at} has a bare control character. Send it escaped, such as \\n.")
    } else if text.starts_with("trailing characters") {
        format!("The body has more text after the JSON document, at {at}. Send one document only.")
    } else {
        format!("The body is not valid JSON: {text}.")
    }
}

/// The parser's position and error. The pointer is popped only after a value was parsed completely, so after an
/// error it points to the error.
struct Walk {
    pointer: Pointer,
    depth: usize,
    values: usize,
    max_values: usize,
    refusal: Option<String>,
}

impl Walk {
    fn refuse<E: Error>(&mut self, detail: impl Into<String>) -> E {
        self.refusal = Some(detail.into());
        E::custom("refused")
    }

    fn deepen<E: Error>(&mut self) -> Result<(), E> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(
                self.refuse(format!("The body is nested more than {MAX_DEPTH} levels deep. Flatten it."))
            );
        }
        Ok(())
    }
}

struct Reader<'w>(&'w mut Walk);

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        self.0.values += 1;
        let max_values = self.0.max_values;
        if self.0.values > max_values {
            return Err(self
                .0
                .refuse(format!("The body has more than {max_values} values. Send it in parts.")));
        }
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| self.0.refuse("The number is too large. Send a smaller one."))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        if text.contains('\0') {
            return Err(self.0.refuse("The string has a NUL character (\\u0000). Remove it."));
        }
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let Self(walk) = self;
        walk.deepen()?;
        let mut array = Vec::new();
        loop {
            let before = walk.pointer.enter(array.len());
            let Some(item) = items.next_element_seed(Reader(walk))? else {
                walk.pointer.leave(before);
                break;
            };
            walk.pointer.leave(before);
            array.push(item);
        }
        walk.depth -= 1;
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let Self(walk) = self;
        walk.deepen()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if name.contains('\0') {
                return Err(walk.refuse(format!("The name {} has a NUL character. Remove it.", quote(&name))));
            }
            let before = walk.pointer.enter(&name);
            if object.contains_key(&name) {
                return Err(walk.refuse(format!("The member {} is given twice. Send it once.", quote(&name))));
            }
            let value = members.next_value_seed(Reader(walk))?;
            walk.pointer.leave(before);
            object.insert(name, value);
        }
        walk.depth -= 1;
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(body: impl AsRef<[u8]>, pointer: &str, detail: &str) {
        let problem = parse_strict(body.as_ref()).unwrap_err();
        assert_eq!((problem.pointer.as_str(), problem.detail.as_str()), (pointer, detail));
    }

    #[test]
    fn reads_valid_documents() {
        for (body, value) in [
            ("null", json!(null)),
            (" [1, -2, 3.5, 1e3, true, \"\u{e9}\\ud83d\\ude00\"] ", json!([1, -2, 3.5, 1000.0, true, "é😀"])),
            ("\u{feff}{\"a\": {\"b\": []}}", json!({"a": {"b": []}})),
            ("18446744073709551615", json!(u64::MAX)),
            ("{\"\": 1, \"a\\/b\": 2}", json!({"": 1, "a/b": 2})),
        ] {
            assert_eq!(parse_strict(body.as_bytes()), Ok(value), "{body}");
        }
        let deep = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(parse_strict(deep.as_bytes()).is_ok());
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        check("", "", "The body is empty. Send a JSON document.");
        check(" \r\n\t", "", "The body is empty. Send a JSON document.");
        check(b"\"\xff\"", "", "The body is not UTF-8 text: byte 1 is wrong. Send UTF-8.");
        check("{\"a\": {\"b\": 1, \"b\": 2}}", "/a/b", "The member \"b\" is given twice. Send it once.");
        check("{\"a\": 1, \"\\u0061\": 2}", "/a", "The member \"a\" is given twice. Send it once.");
        check(
            "[0, {\"x\": 1e999}]",
            "/1/x",
            "The number at line 1 column 15 is too large. Send a smaller one.",
        );
        check(r#"{"a/b": ["\u0000"]}"#, "/a~1b/0", "The string has a NUL character (\\u0000). Remove it.");
        check(r#"{"\u0000": 1}"#, "", "The name \"\\0\" has a NUL character. Remove it.");
        check(
            "{\"a\": 1} x",
            "",
            "The body has more text after the JSON document, at line 1 column 10. Send one document only.",
        );
        check(
            "{} {}",
            "",
            "The body has more text after the JSON document, at line 1 column 4. Send one document only.",
        );
        check(
            "{\"a\": [1, ",
            "/a/1",
            "The body ends before its JSON document does. Send the whole document.",
        );
        check("{\"a\": tru}", "/a", "The body is not valid JSON: expected ident at line 1 column 10.");
        check("[1,]", "/1", "The body is not valid JSON: trailing comma at line 1 column 4.");
        check("NaN", "", "The body is not valid JSON: expected value at line 1 column 1.");
        check(
            "[\"a\nb\"]",
            "/0",
            "The string at line 2 column 0 has a bare control character. Send it escaped, such as \\n.",
        );
    }

    #[test]
    fn refuses_half_surrogates() {
        for body in [r#"["\ud800"]"#, r#"["\udc00"]"#, r#"["\ud800\ud800"]"#, r#"["\ud800x"]"#] {
            let problem = parse_strict(body.as_bytes()).unwrap_err();
            assert!(problem.detail.contains("half of a surrogate pair"), "{body}: {problem}");
            assert_eq!(problem.pointer.as_str(), "/0");
        }
    }

    #[test]
    fn refuses_deep_nesting_without_trouble() {
        for opening in ["[", "{\"a\":"] {
            let problem = parse_strict(opening.repeat(200_000).as_bytes()).unwrap_err();
            assert_eq!(problem.detail, "The body is nested more than 32 levels deep. Flatten it.");
        }
    }

    #[test]
    fn refuses_too_many_values() {
        let full = format!("[{}0]", "0,".repeat(MAX_VALUES - 2));
        assert!(parse_strict(full.as_bytes()).is_ok());
        let over = format!("[{}0]", "0,".repeat(MAX_VALUES - 1));
        let problem = parse_strict(over.as_bytes()).unwrap_err();
        assert_eq!(problem.detail, "The body has more than 500000 values. Send it in parts.");
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            prop::num::f64::NORMAL.prop_map(Value::from),
            "[^\u{0}]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map("[^\u{0}]{0,6}", inner, 0..6).prop_map(Value::from_iter),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = parse_strict(&body);
        }

        #[test]
        fn any_near_json_is_read_as_others_do(body in "[\\[\\]{}:,\" \\\\u0-9a-e.+-]{0,24}") {
            if let Ok(value) = parse_strict(body.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&body).ok(), Some(value));
            }
        }

        #[test]
        fn any_value_reads_back(value in any_value()) {
            let body = serde_json::to_vec(&value).unwrap();
            prop_assert_eq!(parse_strict(&body), Ok(value));
        }
    }
}
