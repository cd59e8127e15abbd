//! Validated text types, and the maximum lengths of texts.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Characters that a name may have.
pub const NAME_MAX: usize = 200;
/// Characters that a description or message may have.
pub const DESCRIPTION_MAX: usize = 2_000;
/// Characters that a short text may have: identifiers, models, icons, phone numbers.
pub const SHORT_MAX: usize = 100;
/// Tags that one object may have.
pub const TAGS_MAX: usize = 64;
/// Characters that the key of a tag may have.
pub const TAG_KEY_MAX: usize = 64;
/// Characters that the value of a tag may have.
pub const TAG_VALUE_MAX: usize = 256;

/// Labels on an object as key and value, chosen by clients.
pub type Tags = BTreeMap<String, String>;

/// An e-mail address as written; compared and unique without regard to letter case.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Email(String);

/// The error for a text that is not an e-mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an e-mail address such as ana@example.com, of at most 254 characters")]
pub struct ParseEmailError;

impl Email {
    /// The address as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address in lower case, for comparisons.
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }
}

impl FromStr for Email {
    type Err = ParseEmailError;

    /// Accepts a local part, an @ and a host name. Quoted local parts and comments of RFC 5322 are refused.
    fn from_str(text: &str) -> Result<Self, ParseEmailError> {
        let (local, host) = text.rsplit_once('@').ok_or(ParseEmailError)?;
        let local_fits = (1..=64).contains(&local.len())
            && !local.starts_with('.')
            && !local.ends_with('.')
            && !local.contains("..")
            && local
                .chars()
                .all(|c| (c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c)) && !c.is_control());
        let label_fits = |label: &str| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        };
        if text.len() <= 254 && local_fits && host.split('.').all(label_fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseEmailError)
        }
    }
}

impl PartialEq for Email {
    fn eq(&self, other: &Self) -> bool {
        self.folded() == other.folded()
    }
}

impl Eq for Email {}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Email {
    type Error = ParseEmailError;

    fn try_from(text: String) -> Result<Self, ParseEmailError> {
        text.parse()
    }
}

impl From<Email> for String {
    fn from(email: Email) -> Self {
        email.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_addresses() {
        for text in ["owner@localhost", "a.b+c@example.co.uk", "José@correo.es", "x@127-0-0-1.example"] {
            assert!(text.parse::<Email>().is_ok(), "{text}");
        }
        assert_eq!("Ana@Example.com".parse::<Email>(), "ana@example.COM".parse::<Email>());
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "", "@", "a@", "@b", "a b@c", "a@b c", "a@b@c", ".a@b", "a..b@c", "a@-b", "a@b..c", "a\n@b",
            "\"a\"@b",
        ] {
            assert_eq!(text.parse::<Email>(), Err(ParseEmailError), "{text}");
        }
    }
}
