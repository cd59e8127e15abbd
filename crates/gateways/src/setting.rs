//! Settings in JSON, read with errors that contain the path of the member.

use serde_json::{Map, Value as Json};

/// The reason for which a setting is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {problem}", if .path.is_empty() { "it" } else { .path.as_str() })]
pub struct SettingError {
    /// JSON pointer (RFC 6901) of the member within the setting, such as `/fields/2/width`; empty for the whole setting.
    pub path: String,
    /// The problem, such as `must be 1 to 8`.
    pub problem: String,
}

impl SettingError {
    /// A problem of the member at this path.
    pub fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }

    /// The same problem, if the setting is the member of this path in a larger one.
    #[must_use]
    pub fn below(self, path: &str) -> Self {
        Self { path: format!("{path}{}", self.path), ..self }
    }
}

/// The JSON pointer of a member of the object at this path.
pub fn member_path(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The members of an object, taken one by one; remaining members at the end are an error.
#[derive(Debug)]
pub struct Members<'a> {
    object: &'a Map<String, Json>,
    taken: Vec<&'static str>,
    path: String,
}

impl<'a> Members<'a> {
    /// The members of a value that must be an object. `path` is empty for the whole setting.
    pub fn of(value: &'a Json, path: impl Into<String>) -> Result<Self, SettingError> {
        let path = path.into();
        match value.as_object() {
            Some(object) => Ok(Self { object, taken: Vec::new(), path }),
            None => Err(SettingError::new(path, "must be an object")),
        }
    }

    /// The path of a member.
    pub fn path(&self, name: &str) -> String {
        member_path(&self.path, name)
    }

    /// An error about a member.
    pub fn wrong(&self, name: &str, problem: impl Into<String>) -> SettingError {
        SettingError::new(self.path(name), problem)
    }

    /// An optional member; `null` is the same as missing.
    pub fn take(&mut self, name: &'static str) -> Option<&'a Json> {
        self.taken.push(name);
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// The text of a member, if it is present.
    pub fn text(&mut self, name: &'static str) -> Result<Option<&'a str>, SettingError> {
        self.take(name)
            .map(|value| value.as_str().ok_or_else(|| self.wrong(name, "must be a string")))
            .transpose()
    }

    /// A number, which in JSON is always finite.
    pub fn number(&mut self, name: &'static str) -> Result<Option<f64>, SettingError> {
        self.take(name)
            .map(|value| value.as_f64().ok_or_else(|| self.wrong(name, "must be a number")))
            .transpose()
    }

    /// A boolean; false if it is missing.
    pub fn flag(&mut self, name: &'static str) -> Result<bool, SettingError> {
        self.take(name).map_or(Ok(false), |value| {
            value.as_bool().ok_or_else(|| self.wrong(name, "must be true or false"))
        })
    }

    /// A whole number within a range.
    pub fn count(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<Option<usize>, SettingError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
        count.filter(|count| range.contains(count)).map(Some).ok_or_else(|| {
            self.wrong(name, format!("must be a whole number from {} to {}", range.start(), range.end()))
        })
    }

    /// A whole number of up to 64 bits, also as a text such as `0x1f`.
    pub fn bits(&mut self, name: &'static str) -> Result<Option<u64>, SettingError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = match value {
            Json::String(text) => match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            },
            _ => value.as_u64(),
        };
        let problem = "must be a whole number from 0, or a string such as \"0x1f\"";
        number.map(Some).ok_or_else(|| self.wrong(name, problem))
    }

    /// One of these words.
    pub fn word(
        &mut self,
        name: &'static str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, SettingError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let known = words.iter().find(|word| **word == text).copied();
        known.map(Some).ok_or_else(|| self.wrong(name, format!("must be one of {}", words.join(", "))))
    }

    /// A list of at most this many members; missing is empty.
    pub fn list(&mut self, name: &'static str, most: usize) -> Result<&'a [Json], SettingError> {
        match self.take(name) {
            None => Ok(&[]),
            Some(Json::Array(members)) if members.len() <= most => Ok(members),
            Some(Json::Array(_)) => Err(self.wrong(name, format!("must have at most {most} members"))),
            Some(_) => Err(self.wrong(name, "must be an array")),
        }
    }

    /// The object itself, for members whose names are not fixed.
    pub const fn all(&self) -> &'a Map<String, Json> {
        self.object
    }

    /// Refuses members that were not read, so that misspelt names are found.
    pub fn end(self) -> Result<(), SettingError> {
        match self.object.keys().find(|name| !self.taken.contains(&name.as_str())) {
            Some(unknown) => {
                Err(self
                    .wrong(unknown, format!("is not known; the known members are {}", self.taken.join(", "))))
            }
            None => Ok(()),
        }
    }
}
