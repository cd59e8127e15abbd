//! Reads a mapping from JSON.

use std::collections::HashSet;

use serde_json::Value as Json;

use crate::feed::SosStep;
use crate::report::{KNOT_KMH, MILE_KMH};
use crate::setting::{Members, SettingError, member_path};

use super::{Condition, Encoding, Mapping, Path, Source, Step, Test};

const MAX_FIELDS: usize = 200;
const MAX_PATHS: usize = 16;
const MAX_STEPS: usize = 4;

impl Mapping {
    /// Reads a mapping; the error names the member and says what it must be.
    pub fn parse(setting: &Json) -> Result<Self, SettingError> {
        let mut members = Members::of(setting, "")?;
        // A name and a description are for people.
        members.text("name")?;
        members.text("description")?;
        let each = members.list("each", MAX_STEPS)?;
        let each = each.iter().enumerate().map(|(at, step)| read_step(step, format!("/each/{at}")));
        let each = each.collect::<Result<_, _>>()?;
        let when = read_conditions(&mut members, "when")?;
        let key = read_paths(&mut members, "key")?;
        let identifiers = read_paths(&mut members, "identifiers")?;
        let rest = read_paths(&mut members, "rest")?;
        let text = read_paths(&mut members, "text")?;
        let marks_test = read_conditions(&mut members, "test")?;
        let mut sos = Vec::new();
        for (at, step) in members.list("sos", 8)?.iter().enumerate() {
            let mut step = Members::of(step, format!("/sos/{at}"))?;
            let word = step.word("step", &["declare", "confirm", "repeat", "cancel"])?;
            let word = word.ok_or_else(|| step.wrong("step", "is missing"))?;
            let when = read_conditions(&mut step, "when")?;
            step.end()?;
            sos.push((
                match word {
                    "declare" => SosStep::Declare,
                    "confirm" => SosStep::Confirm,
                    "repeat" => SosStep::Repeat,
                    _ => SosStep::Cancel,
                },
                when,
            ));
        }
        let mut fields = Vec::new();
        if let Some(setting) = members.take("fields") {
            let named = Members::of(setting, "/fields")?;
            if named.all().len() > MAX_FIELDS {
                return Err(SettingError::new("/fields", format!("must have at most {MAX_FIELDS} members")));
            }
            for (name, source) in named.all() {
                let path = member_path("/fields", name);
                match source {
                    // Several sources: each source whose conditions are true is used.
                    Json::Array(list)
                        if list.first().is_some_and(Json::is_object) && list.len() <= MAX_PATHS =>
                    {
                        for (at, one) in list.iter().enumerate() {
                            fields.push((name.clone(), read_source(one, format!("{path}/{at}"))?));
                        }
                    }
                    one => fields.push((name.clone(), read_source(one, path)?)),
                }
            }
        }
        members.end()?;
        if fields.is_empty() && rest.is_empty() {
            return Err(SettingError::new("/fields", "must have at least one member"));
        }
        let taken = taken(&fields, &identifiers, &rest);
        Ok(Self { each, when, key, identifiers, fields, rest, text, sos, test: marks_test, taken })
    }
}

/// Names of members that fields read. Those that identifiers read are included unless the whole item is a rest object.
fn taken(fields: &[(String, Source)], identifiers: &[Path], rest: &[Path]) -> HashSet<String> {
    let of_fields = fields.iter().flat_map(|(_, source)| &source.paths);
    let of_items = identifiers.iter().filter(|_| !rest.iter().any(|path| path.pointer.is_empty()));
    let last = |path: &Path| path.pointer.rsplit('/').next().map(unescape);
    of_fields.chain(of_items).filter_map(last).collect()
}

/// A part of a JSON pointer with its escapes resolved.
fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

fn check_pointer(pointer: &str, path: &str) -> Result<(), SettingError> {
    if pointer.is_empty() || pointer.starts_with('/') {
        return Ok(());
    }
    Err(SettingError::new(path, "must be a path such as /location/lat, or ^/device/id for the item above"))
}

fn read_path(text: &str, path: &str) -> Result<Path, SettingError> {
    let pointer = text.trim_start_matches('^');
    check_pointer(pointer, path)?;
    Ok(Path { up: text.len() - pointer.len(), pointer: pointer.to_owned() })
}

/// A path or a list of paths.
fn paths_of(value: &Json, path: &str) -> Result<Vec<Path>, SettingError> {
    let wrong =
        || SettingError::new(path, format!("must be a path, or an array of at most {MAX_PATHS} paths"));
    match value {
        Json::String(text) => Ok(vec![read_path(text, path)?]),
        Json::Array(list) if list.len() <= MAX_PATHS => list
            .iter()
            .enumerate()
            .map(|(at, one)| read_path(one.as_str().ok_or_else(wrong)?, &format!("{path}/{at}")))
            .collect(),
        _ => Err(wrong()),
    }
}

fn read_paths(members: &mut Members<'_>, name: &'static str) -> Result<Vec<Path>, SettingError> {
    members.take(name).map_or(Ok(Vec::new()), |value| paths_of(value, &members.path(name)))
}

fn read_step(setting: &Json, path: String) -> Result<Step, SettingError> {
    if let Some(pointer) = setting.as_str() {
        check_pointer(pointer, &path)?;
        return Ok(Step { pointer: pointer.to_owned(), json: false });
    }
    let mut members = Members::of(setting, path)?;
    let pointer = members.text("path")?.unwrap_or_default();
    check_pointer(pointer, &members.path("path"))?;
    let json = members.flag("json")?;
    members.end()?;
    Ok(Step { pointer: pointer.to_owned(), json })
}

fn read_conditions(members: &mut Members<'_>, name: &'static str) -> Result<Vec<Condition>, SettingError> {
    let path = members.path(name);
    match members.take(name) {
        None => Ok(Vec::new()),
        Some(Json::Array(list)) if list.len() <= 8 => {
            list.iter().enumerate().map(|(at, one)| read_condition(one, format!("{path}/{at}"))).collect()
        }
        Some(Json::Array(_)) => Err(SettingError::new(path, "must have at most 8 conditions")),
        Some(one) => Ok(vec![read_condition(one, path)?]),
    }
}

fn read_condition(setting: &Json, path: String) -> Result<Condition, SettingError> {
    let mut members = Members::of(setting, path)?;
    let given = members.text("path")?.ok_or_else(|| members.wrong("path", "is missing"))?;
    let path = read_path(given, &members.path("path"))?;
    let mut found = Vec::new();
    found.extend(members.take("equals").cloned().map(Test::Equals));
    found.extend(members.take("notEquals").cloned().map(Test::NotEquals));
    if members.take("in").is_some() {
        found.push(Test::In(members.list("in", 64)?.to_vec()));
    }
    if members.take("exists").is_some() {
        found.push(Test::Exists(members.flag("exists")?));
    }
    found.extend(members.number("atLeast")?.map(Test::AtLeast));
    found.extend(members.number("atMost")?.map(Test::AtMost));
    let (Some(test), true) = (found.pop(), found.is_empty()) else {
        return Err(members.wrong(
            "equals",
            "is required: give exactly one of \"equals\", \"notEquals\", \"in\", \"exists\", \"atLeast\" and \"atMost\"",
        ));
    };
    members.end()?;
    Ok(Condition { path, test })
}

/// Factors to km/h and metres.
const UNITS: &[(&str, f64)] = &[
    ("km/h", 1.0),
    ("m/s", 3.6),
    ("knots", KNOT_KMH),
    ("mph", MILE_KMH),
    ("m", 1.0),
    ("km", 1000.0),
    ("ft", 0.3048),
    ("mi", 1609.344),
    ("1", 100.0),
    ("%", 1.0),
];

fn read_source(setting: &Json, path: String) -> Result<Source, SettingError> {
    let mut source = Source {
        paths: Vec::new(),
        value: None,
        scale: 1.0,
        add: 0.0,
        encoding: None,
        none: None,
        when: Vec::new(),
    };
    if matches!(setting, Json::String(_) | Json::Array(_)) {
        source.paths = paths_of(setting, &path)?;
        return Ok(source);
    }
    let mut members = Members::of(setting, path)?;
    source.paths = read_paths(&mut members, "path")?;
    source.value = members.take("value").cloned();
    let names: Vec<&'static str> = UNITS.iter().map(|(name, _)| *name).collect();
    if let Some(unit) = members.word("unit", &names)? {
        source.scale = UNITS.iter().find(|(name, _)| *name == unit).map_or(1.0, |(_, factor)| *factor);
    }
    source.scale *= members.number("scale")?.unwrap_or(1.0);
    source.add = members.number("add")?.unwrap_or(0.0);
    source.none = members.number("none")?;
    source.encoding = members.word("encoding", &["hex", "base64"])?.map(|word| match word {
        "hex" => Encoding::Hex,
        _ => Encoding::Base64,
    });
    source.when = read_conditions(&mut members, "when")?;
    if source.paths.is_empty() && source.value.is_none() {
        return Err(members.wrong("path", "is required unless \"value\" is given"));
    }
    members.end()?;
    Ok(source)
}
