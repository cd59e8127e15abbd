//! Which addresses the recipients of a channel may have.

use serde::Deserialize;

use crate::notifications::phone::PhoneNumber;
use crate::text::Email;

/// The format of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "format", rename_all = "lowercase")]
pub enum AddressFormat {
    /// An e-mail address.
    Email,
    /// A telephone number in international form.
    Phone,
    /// A word of some characters, such as a key or the name of a topic.
    Word {
        /// What it is, after "must be".
        about: String,
        /// Characters and ranges of characters that it may contain, such as `a-z0-9_-`.
        characters: String,
        /// What it must begin with: one of these; empty for anything.
        #[serde(default)]
        begins: Vec<String>,
        /// The smallest number of characters.
        shortest: usize,
        /// The largest number of characters.
        longest: usize,
        /// An address as an example.
        example: String,
    },
    /// An `https` URL of one of these hosts. Whoever has the URL can post, so it is as secret as a password.
    Url {
        /// What it is, after "must be".
        about: String,
        /// Names of hosts; one that begins with a dot stands for the hosts below it.
        hosts: Vec<String>,
        /// What its path begins with.
        path: String,
        /// An address as an example.
        example: String,
    },
}

/// The longest address, in characters.
pub const ADDRESS_MAX: usize = 500;

const AN_EMAIL: &str = "must be an e-mail address such as ana@example.com, of at most 254 characters";
const A_NUMBER: &str =
    "must be a telephone number in international form such as +34600123456, without spaces";

impl AddressFormat {
    /// Checks an address; the error is a phrase that says what it must be.
    pub fn check(&self, text: &str) -> Result<(), String> {
        let (is_right, refusal) = match self {
            Self::Email => (text.parse::<Email>().is_ok(), AN_EMAIL.to_owned()),
            Self::Phone => (text.parse::<PhoneNumber>().is_ok(), A_NUMBER.to_owned()),
            Self::Word { about, characters, begins, shortest, longest, example } => {
                let rest = match begins.as_slice() {
                    [] => Some(text),
                    some => some.iter().find_map(|beginning| text.strip_prefix(beginning.as_str())),
                };
                let is_right = (*shortest..=*longest).contains(&text.chars().count())
                    && rest.is_some_and(|rest| {
                        !rest.is_empty() && rest.chars().all(|letter| is_among(characters, letter))
                    });
                (is_right, format!("must be {about} such as {example}"))
            }
            Self::Url { about, hosts, path, example } => {
                let is_right = text.len() <= ADDRESS_MAX && is_url(text, hosts, path);
                (is_right, format!("must be {about} such as {example}"))
            }
        };
        if is_right { Ok(()) } else { Err(refusal) }
    }

    /// An address as an example.
    pub fn example(&self) -> &str {
        match self {
            Self::Email => "ana@example.com",
            Self::Phone => "+34600123456",
            Self::Word { example, .. } | Self::Url { example, .. } => example,
        }
    }

    /// Addresses with whether they are right.
    #[cfg(test)]
    pub(super) fn examples(&self) -> Vec<(String, bool)> {
        let example = self.example();
        let mut all = vec![(example.to_owned(), true), (String::new(), false)];
        if matches!(self, Self::Email | Self::Phone) {
            return all;
        }
        for hostile in ["\r\nX: y", "\"", " ", "\0", "\u{2028}", "{text}", "<b>", "\\"] {
            all.push((format!("{example}{hostile}"), false));
            all.push((format!("{hostile}{example}"), false));
        }
        all
    }
}

/// Whether a letter is one of these characters; `a-z` is a range, and a `-` at the end stands for itself.
fn is_among(characters: &str, letter: char) -> bool {
    let all: Vec<char> = characters.chars().collect();
    let mut rest = all.as_slice();
    loop {
        rest = match rest {
            [first, '-', last, after @ ..] => {
                if (*first..=*last).contains(&letter) {
                    return true;
                }
                after
            }
            [one, after @ ..] => {
                if *one == letter {
                    return true;
                }
                after
            }
            [] => return false,
        };
    }
}

/// Whether a text is an `https` URL of one of these hosts, without user name, fragment or another port.
fn is_url(text: &str, hosts: &[String], path: &str) -> bool {
    let Some((authority, rest)) = text.strip_prefix("https://").and_then(|rest| rest.split_once('/')) else {
        return false;
    };
    let host = authority.strip_suffix(":443").unwrap_or(authority);
    let is_host =
        |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || b".-".contains(&letter);
    let is_below = |parent: &String| {
        if parent.starts_with('.') { host.ends_with(parent.as_str()) } else { host == parent }
    };
    let is_path = |letter: u8| letter.is_ascii_alphanumeric() || b"-._~/%?=&:+@!$,;()*".contains(&letter);
    // A path must not leave the beginning that was checked.
    let is_clean = rest.bytes().all(is_path)
        && !rest.to_ascii_lowercase().replace("%2e", ".").split(['/', '?']).any(|part| part == "..");
    host.bytes().all(is_host)
        && hosts.iter().any(is_below)
        && is_clean
        && format!("/{rest}").strip_prefix(path).is_some_and(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_stays_with_its_hosts() {
        let hosts = ["hooks.example.com".to_owned(), ".example.net".to_owned()];
        for (url, is_right) in [
            ("https://hooks.example.com/services/a", true),
            ("https://hooks.example.com:443/services/a?b=%2F", true),
            ("https://eu.example.net/services/a", true),
            ("http://hooks.example.com/services/a", false),
            ("https://hooks.example.com:8443/services/a", false),
            ("https://hooks.example.com/services/", false),
            ("https://hooks.example.com/other/a", false),
            ("https://hooks.example.com/services/../other", false),
            ("https://hooks.example.com/services/.%2E/other", false),
            ("https://hooks.example.com@127.0.0.1/services/a", false),
            ("https://127.0.0.1/services/a", false),
            ("https://example.net.attacker.example/services/a", false),
            ("https://hooks.example.com/services/a#b", false),
            ("https://HOOKS.example.com/services/a", false),
        ] {
            assert_eq!(is_url(url, &hosts, "/services/"), is_right, "{url}");
        }
    }

    #[test]
    fn ranges_and_single_characters() {
        for (letter, is_in) in [('b', true), ('_', true), ('-', true), ('B', false), ('5', false)] {
            assert_eq!(is_among("a-f_-", letter), is_in, "{letter}");
        }
    }
}
