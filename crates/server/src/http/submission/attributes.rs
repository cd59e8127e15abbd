//! Attributes of locations and alerts: members that the API does not define, each a string, a number or a boolean.

use std::collections::BTreeMap;

use perigee_core::locations::location::{Attribute, Location};
use perigee_core::text::SHORT_MAX;
use serde_json::Value;

use crate::http::json::{Fields, FromJson, Refusal, check_chars};

/// Reads the value of an attribute of this name.
fn read_attribute(name: &str, value: &Value) -> Result<Attribute, Refusal> {
    check_chars(name, &(1..=SHORT_MAX))
        .map_err(|refusal| Refusal::from(format!("has an invalid name, which {refusal}")))?;
    if name.chars().any(char::is_control) {
        return Err("has an invalid name, which must not contain control characters".into());
    }
    match value {
        Value::String(text) => {
            check_chars(text, &(0..=Location::TEXT_MAX))?;
            Ok(Attribute::Text(text.clone()))
        }
        Value::Bool(flag) => Ok(Attribute::Flag(*flag)),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Ok(Attribute::Integer(whole)),
            None => f64::from_json(value).map(Attribute::Real),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err("must be a string, a number or a boolean".into())
        }
    }
}

/// Reads the member `attributes` and adds unknown members to it; those in `attributes` take precedence. Returns whether
/// an unknown member cannot be an attribute. Call it after all known members were read.
pub fn read_attributes(fields: &mut Fields<'_>) -> (BTreeMap<String, Attribute>, bool) {
    let mut attributes = fields.object("attributes", |entries| Some(attribute_values(entries))).nullable();
    let attributes = attributes.get_or_insert_default();
    let mut has_unknown = false;
    for (name, value) in fields.take_unknown() {
        if value.is_null() || attributes.contains_key(name) {
            continue;
        }
        match read_attribute(name, value) {
            Ok(attribute) => drop(attributes.insert(name.to_owned(), attribute)),
            Err(refusal) => {
                has_unknown |= value.is_array() || value.is_object();
                fields.refuse(name, &format!("is not a known member. As an attribute, it {refusal}"));
            }
        }
    }
    if attributes.len() > Location::ATTRIBUTES_MAX {
        let most = Location::ATTRIBUTES_MAX;
        fields.refuse("attributes", &format!("must have at most {most} members, unknown ones included"));
    }
    (std::mem::take(attributes), has_unknown)
}

/// Reads every member of an object as an attribute.
fn attribute_values(entries: &mut Fields<'_>) -> BTreeMap<String, Attribute> {
    let mut attributes = BTreeMap::new();
    for (name, value) in entries.take_unknown() {
        match read_attribute(name, value) {
            Ok(attribute) => drop(attributes.insert(name.to_owned(), attribute)),
            Err(refusal) => entries.refuse(name, &refusal),
        }
    }
    attributes
}

/// Bytes of the names and texts of attributes.
pub fn attribute_bytes(attributes: &BTreeMap<String, Attribute>) -> usize {
    let text = |value: &Attribute| if let Attribute::Text(text) = value { text.len() } else { 0 };
    attributes.iter().map(|(name, value)| name.len() + text(value)).sum()
}

/// Refuses an item whose texts together take too many bytes.
pub fn check_texts(fields: &mut Fields<'_>, bytes: usize) {
    let most = Location::ALL_TEXTS_MAX_BYTES;
    if bytes > most {
        fields.refuse(
            "attributes",
            &format!("makes the item too large: its texts have {bytes} bytes in total, at most {most} are accepted; send fewer or shorter texts"),
        );
    }
}

/// The attributes as members of an answer.
pub fn write_attributes(attributes: BTreeMap<String, Attribute>) -> serde_json::Map<String, Value> {
    let value = |attribute| match attribute {
        Attribute::Text(text) => Value::from(text),
        Attribute::Integer(whole) => Value::from(whole),
        Attribute::Real(real) => Value::from(real),
        Attribute::Flag(flag) => Value::from(flag),
    };
    attributes.into_iter().map(|(name, attribute)| (name, value(attribute))).collect()
}
