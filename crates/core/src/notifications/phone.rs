//! Telephone numbers in international form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A telephone number in international form: `+` and 7 to 15 digits (E.164).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PhoneNumber(String);

/// The error for a text that is not a telephone number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a telephone number in international form such as +34600123456, without spaces")]
pub struct ParsePhoneNumberError;

impl PhoneNumber {
    /// The number with its `+`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number without its `+`.
    pub fn digits(&self) -> &str {
        self.0.trim_start_matches('+')
    }
}

impl fmt::Display for PhoneNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PhoneNumber {
    type Err = ParsePhoneNumberError;

    fn from_str(text: &str) -> Result<Self, ParsePhoneNumberError> {
        let digits = text.strip_prefix('+').ok_or(ParsePhoneNumberError)?;
        let fits = (7..=15).contains(&digits.len())
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        if fits { Ok(Self(text.to_owned())) } else { Err(ParsePhoneNumberError) }
    }
}

impl TryFrom<String> for PhoneNumber {
    type Error = ParsePhoneNumberError;

    fn try_from(text: String) -> Result<Self, ParsePhoneNumberError> {
        text.parse()
    }
}

impl From<PhoneNumber> for String {
    fn from(number: PhoneNumber) -> Self {
        number.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_international_form() {
        for (text, good) in [
            ("+34600123456", true),
            ("+881612345678", true),
            ("", false),
            ("+12", false),
            ("34600123456", false),
            ("0034600123456", false),
            ("+0600123456", false),
            ("+34 600 123 456", false),
            ("+1234567890123456", false),
            ("+3460012345a", false),
        ] {
            assert_eq!(text.parse::<PhoneNumber>().is_ok(), good, "{text}");
        }
        assert_eq!("+34600123456".parse::<PhoneNumber>().unwrap().digits(), "34600123456");
    }
}
