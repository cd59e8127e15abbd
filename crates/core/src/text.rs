//! Validated text types, and the maximum lengths of texts.
//!
//! [`Line`] and [`Lines`] carry the limits of a text in their type. The reader of a text and its description in the
//! API document both take the limits from there.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Maximum number of characters of a name.
pub const NAME_MAX: usize = 200;
/// Maximum number of characters of a description or message.
pub const DESCRIPTION_MAX: usize = 2_000;
/// Maximum number of characters of a short text: identifiers, models, icons, phone numbers.
pub const SHORT_MAX: usize = 100;
/// Maximum number of characters of an e-mail address.
pub const EMAIL_MAX: usize = 254;
/// Maximum number of tags of one object.
pub const TAGS_MAX: usize = 64;
/// Maximum number of characters of the key of a tag.
pub const TAG_KEY_MAX: usize = 64;
/// Maximum number of characters of the value of a tag.
pub const TAG_VALUE_MAX: usize = 256;

/// A text on one line, of `LEAST` to `MOST` characters. If `LEAST` is above 0, blanks alone are not enough.
#[derive(Debug)]
pub enum Line<const LEAST: usize, const MOST: usize> {}

/// A text that may have line breaks and tabs, of `LEAST` to `MOST` characters. If `LEAST` is above 0, blanks alone are
/// not enough.
#[derive(Debug)]
pub enum Lines<const LEAST: usize, const MOST: usize> {}

/// The name of anything that must have one.
pub type Name = Line<1, NAME_MAX>;
/// A name that may be empty.
pub type OptionalName = Line<0, NAME_MAX>;
/// A note or message.
pub type Description = Lines<0, DESCRIPTION_MAX>;
/// A model, an icon, a phone number.
pub type ShortText = Line<0, SHORT_MAX>;

/// Why a text is refused, as the end of a sentence that begins with the name of the member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// It has a control character, but must be one line.
    #[error("must be one line without control characters")]
    NotOneLine,
    /// It has a control character that is neither a line break nor a tab.
    #[error("must not contain control characters other than \\n and \\t")]
    ControlCharacters,
    /// It has more characters than it may have.
    #[error("must have at most {most} characters; it has {count}")]
    TooLong {
        /// Characters it may have.
        most: usize,
        /// Its length in characters, which is above the limit.
        count: usize,
    },
    /// It is empty or has only blanks, but a text is required.
    #[error("must not be empty")]
    Empty,
    /// It has fewer characters than it must have.
    #[error("must have at least {least} characters; it has {count}")]
    TooShort {
        /// Characters it must have.
        least: usize,
        /// Its length in characters, which is below the limit.
        count: usize,
    },
}

impl<const LEAST: usize, const MOST: usize> Line<LEAST, MOST> {
    /// Refuses a text that is not of this kind.
    pub fn check(text: &str) -> Result<(), TextError> {
        check_one_line(text)?;
        check_length(text, LEAST, MOST)
    }
}

impl<const LEAST: usize, const MOST: usize> Lines<LEAST, MOST> {
    /// Refuses a text that is not of this kind.
    pub fn check(text: &str) -> Result<(), TextError> {
        check_lines(text)?;
        check_length(text, LEAST, MOST)
    }
}

/// Refuses a text with control characters.
pub fn check_one_line(text: &str) -> Result<(), TextError> {
    if text.chars().any(char::is_control) { Err(TextError::NotOneLine) } else { Ok(()) }
}

/// Refuses a text with control characters other than line breaks and tabs.
pub fn check_lines(text: &str) -> Result<(), TextError> {
    let is_refused = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if text.chars().any(is_refused) { Err(TextError::ControlCharacters) } else { Ok(()) }
}

/// Refuses a text with too few or too many characters. If `least` is above 0, refuses a text of blanks too.
pub fn check_length(text: &str, least: usize, most: usize) -> Result<(), TextError> {
    let count = text.chars().count();
    if count > most {
        Err(TextError::TooLong { most, count })
    } else if least > 0 && text.trim().is_empty() {
        Err(TextError::Empty)
    } else if count < least {
        Err(TextError::TooShort { least, count })
    } else {
        Ok(())
    }
}

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
        if text.len() <= EMAIL_MAX && local_fits && host.split('.').all(label_fits) {
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
    fn texts_are_counted_in_characters() {
        assert_eq!(Line::<3, 3>::check("äöü"), Ok(()));
        assert_eq!(Line::<0, 3>::check(""), Ok(()));
        assert_eq!(Line::<0, 3>::check("  "), Ok(()));
        assert_eq!(Line::<1, 3>::check("  "), Err(TextError::Empty));
        assert_eq!(Line::<3, 9>::check("ab"), Err(TextError::TooShort { least: 3, count: 2 }));
        assert_eq!(Line::<0, 3>::check("abcd"), Err(TextError::TooLong { most: 3, count: 4 }));
        assert_eq!(Line::<0, 3>::check("a\nb"), Err(TextError::NotOneLine));
        assert_eq!(Lines::<0, 3>::check("a\nb"), Ok(()));
        assert_eq!(Lines::<0, 3>::check("a\rb"), Err(TextError::ControlCharacters));
    }

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
