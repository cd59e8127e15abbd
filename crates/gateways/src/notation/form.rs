//! Names and values of a query or of a form body.

use serde_json::{Map, Value as Json};

/// Maximum number of pairs; further ones are ignored.
const MAX_PAIRS: usize = 1000;

/// The pairs of a text in `application/x-www-form-urlencoded`, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// The pairs of a query or body. Invalid UTF-8 is replaced.
    pub fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().take(MAX_PAIRS).collect())
    }

    /// The value of the first pair of this name, if it is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    /// All pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// An object with the pairs as texts; the later of two pairs with one name is used.
    pub fn into_object(self) -> Map<String, Json> {
        self.0.into_iter().map(|(name, value)| (name, Json::from(value))).collect()
    }

    /// Adds the pairs of another form after these.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Whether there are no pairs.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_pairs() {
        let form = Form::parse(b"id=1&&t=2023-03-14T09%3A00%3A14Z&x&y=a+b%2&y=c&%ff=%C3%A9");
        assert_eq!(form.get("t"), Some("2023-03-14T09:00:14Z"));
        assert_eq!(form.get("x"), None);
        assert_eq!(form.get("y"), Some("a b%2"));
        assert_eq!(form.pairs().last(), Some(("\u{fffd}", "é")));
    }
}
