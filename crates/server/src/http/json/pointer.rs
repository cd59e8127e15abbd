//! JSON pointers, and problems in a request body.

use std::fmt::{self, Write};

use perigee_gateways::setting::SettingError;
use serde::Serialize;
use utoipa::ToSchema;

/// A JSON pointer (RFC 6901), such as `/limits/dailySmsLimit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Pointer(String);

impl Pointer {
    /// The pointer of the whole document, which is empty.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// The pointer of a member of this object.
    #[must_use]
    pub fn member(&self, name: &str) -> Self {
        let mut pointer = self.clone();
        pointer.enter(name);
        pointer
    }

    /// The pointer of an item of this array.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        Self(format!("{self}/{index}"))
    }

    /// This pointer, prefixed with the pointer of the document it is relative to.
    #[must_use]
    pub fn below(&self, base: &Self) -> Self {
        Self(format!("{base}{self}"))
    }

    /// The pointer as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Appends a member or item; pass the result to [`Self::leave`] to remove it.
    pub(super) fn enter(&mut self, step: impl fmt::Display) -> usize {
        let before = self.0.len();
        self.0.push('/');
        // Writing to a `String` never fails.
        let _ = write!(Escape(&mut self.0), "{step}");
        before
    }

    pub(super) fn leave(&mut self, before: usize) {
        self.0.truncate(before);
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Appends a segment with `~` and `/` escaped.
struct Escape<'t>(&'t mut String);

impl Write for Escape<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            match letter {
                '~' => self.0.push_str("~0"),
                '/' => self.0.push_str("~1"),
                other => self.0.push(other),
            }
        }
        Ok(())
    }
}

/// A problem of a request body or of its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FieldProblem)]
pub struct Problem {
    /// JSON pointer (RFC 6901) of the member or item; for a parameter, `/` and the name of the parameter.
    #[schema(value_type = String, example = "/limits/dailySmsLimit")]
    pub pointer: Pointer,
    /// Sentence for people that says what is wrong with the value and what is accepted.
    #[schema(example = "\"dailySmsLimit\" must be between 0 and 1000000.")]
    pub detail: String,
}

impl Problem {
    /// The most characters of a path in a sentence.
    const PATH_MAX: usize = 100;

    /// A problem of a setting, with the pointer of the member that is wrong.
    pub fn of_setting(error: &SettingError) -> Self {
        let path: String = error.path.chars().skip(1).take(Self::PATH_MAX).collect();
        let detail = if path.is_empty() {
            format!("It {}.", error.problem)
        } else {
            format!("\"{path}\" {}.", error.problem)
        };
        Self { pointer: Pointer(error.path.clone()), detail }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_composes() {
        let pointer = Pointer::root().member("limits").member("a/b~c").item(3);
        assert_eq!(pointer.as_str(), "/limits/a~1b~0c/3");
        let document = serde_json::json!({"limits": {"a/b~c": [0, 1, 2, "here"]}});
        assert_eq!(document.pointer(pointer.as_str()), Some(&"here".into()));
    }
}
