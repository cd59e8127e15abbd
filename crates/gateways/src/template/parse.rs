//! Reads a template from JSON.

use serde_json::Value as Json;

use crate::setting::{Members, SettingError};

use super::{Condition, Endian, Field, Kind, Number, Template, Test};

/// Maximum number of fields of a template.
const MAX_FIELDS: usize = 200;
/// Maximum size of a payload that a template can describe, in bytes; IMT messages have up to 100,000.
const MAX_BYTES: usize = 100_000;
/// Maximum number of characters of a name.
const MAX_NAME: usize = 64;

impl Template {
    /// Reads a template; the error names the member and says what it must be.
    pub fn parse(setting: &Json) -> Result<Self, SettingError> {
        let mut members = Members::of(setting, "")?;
        // A name and a description are for people.
        members.text("name")?;
        members.text("description")?;
        let endian = read_endian(&mut members)?.unwrap_or_default();
        let start = members.count("start", 0..=MAX_BYTES)?.unwrap_or(0);
        let record = members.count("record", 1..=MAX_BYTES)?;
        let fields = members.list("fields", MAX_FIELDS)?;
        members.end()?;
        if fields.is_empty() {
            return Err(SettingError::new("/fields", "must have at least one field"));
        }
        let fields = fields.iter().enumerate();
        let fields =
            fields.map(|(index, field)| read_field(field, index, endian)).collect::<Result<_, _>>()?;
        Ok(Self { start, record, fields })
    }
}

fn read_endian(members: &mut Members<'_>) -> Result<Option<Endian>, SettingError> {
    let word = members.word("endian", &["big", "little"])?;
    Ok(word.map(|word| if word == "little" { Endian::Little } else { Endian::Big }))
}

fn read_field(setting: &Json, index: usize, endian: Endian) -> Result<Field, SettingError> {
    let mut members = Members::of(setting, format!("/fields/{index}"))?;
    let name = members.text("field")?.ok_or_else(|| members.wrong("field", "is missing"))?;
    if name.is_empty() || name.chars().count() > MAX_NAME || name.contains(char::is_control) {
        return Err(members.wrong("field", format!("must have 1 to {MAX_NAME} characters")));
    }
    let kind = match members.take("value") {
        Some(constant @ (Json::String(_) | Json::Number(_) | Json::Bool(_))) => {
            Kind::Constant(constant.clone())
        }
        Some(_) => return Err(members.wrong("value", "must be a string, a number or a boolean")),
        None => read_kind(&mut members, endian)?,
    };
    let optional = members.flag("optional")?;
    let when = match members.take("when") {
        None => Vec::new(),
        Some(Json::Array(list)) if list.len() <= 8 => list
            .iter()
            .enumerate()
            .map(|(at, one)| read_condition(one, format!("{}/{at}", members.path("when")), endian))
            .collect::<Result<_, _>>()?,
        Some(Json::Array(_)) => return Err(members.wrong("when", "must have at most 8 conditions")),
        Some(one) => vec![read_condition(one, members.path("when"), endian)?],
    };
    members.end()?;
    Ok(Field { name: name.to_owned(), kind, when, optional })
}

fn read_offset(members: &mut Members<'_>) -> Result<i64, SettingError> {
    let value = members.take("offset").ok_or_else(|| members.wrong("offset", "is missing"))?;
    let limit = i64::try_from(MAX_BYTES).unwrap_or(i64::MAX);
    value
        .as_i64()
        .filter(|offset| offset.abs() <= limit)
        .ok_or_else(|| members.wrong("offset", format!("must be a whole number from -{limit} to {limit}")))
}

fn read_number(members: &mut Members<'_>, endian: Endian) -> Result<Number, SettingError> {
    let offset = read_offset(members)?;
    let width = members.count("width", 1..=8)?.unwrap_or(1);
    let endian = read_endian(members)?.unwrap_or(endian);
    let mask = match (members.take("bit").is_some(), members.bits("mask")?) {
        (true, Some(_)) => return Err(members.wrong("bit", "cannot be used together with \"mask\"")),
        (true, None) => {
            let bit = members.count("bit", 0..=width * 8 - 1)?.and_then(|bit| u32::try_from(bit).ok());
            1_u64.checked_shl(bit.unwrap_or(0)).unwrap_or(1)
        }
        (false, mask) => mask.unwrap_or(u64::MAX),
    };
    if mask == 0 {
        return Err(members.wrong("mask", "must have at least one bit"));
    }
    let signed = members.flag("signed")?;
    Ok(Number { offset, width, endian, mask, signed })
}

fn read_kind(members: &mut Members<'_>, endian: Endian) -> Result<Kind, SettingError> {
    let kind = members.word("type", &["number", "flag", "float", "text", "hex"])?.unwrap_or("number");
    if matches!(kind, "text" | "hex") {
        let offset = read_offset(members)?;
        let width = members.count("width", 1..=MAX_BYTES)?;
        return Ok(if kind == "text" { Kind::Text { offset, width } } else { Kind::Hex { offset, width } });
    }
    let number = read_number(members, endian)?;
    let scale = members.number("scale")?.unwrap_or(1.0);
    let add = members.number("add")?.unwrap_or(0.0);
    let none = match members.take("none") {
        None => None,
        Some(value) => Some(value.as_i64().ok_or_else(|| members.wrong("none", "must be a whole number"))?),
    };
    match kind {
        "flag" => Ok(Kind::Flag(number)),
        "float" if matches!(number.width, 4 | 8) => Ok(Kind::Float { number, scale, add }),
        "float" => Err(members.wrong("width", "must be 4 or 8 for a float")),
        _ => Ok(Kind::Number { number, scale, add, none }),
    }
}

fn read_condition(setting: &Json, path: String, endian: Endian) -> Result<Condition, SettingError> {
    let mut members = Members::of(setting, path)?;
    let number = if members.flag("length")? { None } else { Some(read_number(&mut members, endian)?) };
    let mut tests = Vec::new();
    for name in ["equals", "notEquals", "atLeast", "atMost"] {
        if let Some(value) = members.take(name) {
            let value = value.as_i64().ok_or_else(|| members.wrong(name, "must be a whole number"))?;
            tests.push(match name {
                "equals" => Test::Equals(value),
                "notEquals" => Test::NotEquals(value),
                "atLeast" => Test::AtLeast(value),
                _ => Test::AtMost(value),
            });
        }
    }
    let [test] = tests[..] else {
        return Err(members.wrong(
            "equals",
            "is required: give exactly one of \"equals\", \"notEquals\", \"atLeast\" and \"atMost\"",
        ));
    };
    members.end()?;
    Ok(Condition { number, test })
}
