//! Key tags of drivers: iButtons, RFID cards and the like.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number or text of a key tag, in the form in which tags are compared: ASCII letters in upper case, without
/// separators and without leading zeros. The same tag is written differently by its maker, by readers and by people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DriverTag(String);

/// The error for a text that is not a key tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a key tag of at most 100 letters and digits, such as 01-00-00-0A-1B-2C")]
pub struct ParseDriverTagError;

/// Characters that do not count.
const SEPARATORS: [char; 6] = [' ', '-', ':', '.', '_', '/'];

impl DriverTag {
    /// Maximum number of bytes, as of the tag that a device reports.
    pub const BYTES_MAX: usize = 100;

    /// The tag in the form in which tags are compared.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DriverTag {
    type Err = ParseDriverTagError;

    fn from_str(text: &str) -> Result<Self, ParseDriverTagError> {
        let kept = text.chars().filter(|letter| !SEPARATORS.contains(letter));
        let upper: String = kept.map(|letter| letter.to_ascii_uppercase()).collect();
        let tag = upper.trim_start_matches('0');
        let fits = (1..=Self::BYTES_MAX).contains(&tag.len());
        if fits && tag.chars().all(|letter| !letter.is_control() && !letter.is_whitespace()) {
            Ok(Self(tag.to_owned()))
        } else {
            Err(ParseDriverTagError)
        }
    }
}

impl fmt::Display for DriverTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for DriverTag {
    type Error = ParseDriverTagError;

    fn try_from(text: String) -> Result<Self, ParseDriverTagError> {
        text.parse()
    }
}

impl From<DriverTag> for String {
    fn from(tag: DriverTag) -> Self {
        tag.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_tag_in_any_notation_is_equal() {
        let written = ["01-00-00-0A-1B-2C", "0100000a1b2c", "1:00:00:0A:1B:2C", " 01 0000 0a1b2c "];
        for text in written {
            assert_eq!(text.parse::<DriverTag>().unwrap().as_str(), "100000A1B2C", "{text}");
        }
        assert_ne!("1A".parse::<DriverTag>(), "1B".parse::<DriverTag>());
        assert_ne!("10".parse::<DriverTag>(), "1".parse::<DriverTag>(), "only leading zeros do not count");
    }

    #[test]
    fn a_tag_has_something_to_compare() {
        for text in ["", "  ", "00", "-:-", "a\tb", &"7".repeat(101)] {
            assert!(text.parse::<DriverTag>().is_err(), "{text:?}");
        }
        assert!("7".repeat(100).parse::<DriverTag>().is_ok());
    }

    #[test]
    fn its_own_form_is_read_back() {
        for text in ["01-0a", "Ñ-é", "000x0"] {
            let tag = text.parse::<DriverTag>().unwrap();
            assert_eq!(tag.as_str().parse(), Ok(tag.clone()), "{text}");
        }
    }
}
