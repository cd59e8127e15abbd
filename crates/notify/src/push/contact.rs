//! Where operators of push services reach the operator of this server.

use perigee_core::text::Email;
use url::{Host, Url};

/// An address that push services accept as `sub` of a token: `mailto:` or `https:` with a public domain. Apple refuses
/// all messages with another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushContact(String);

/// The error for a text that push services do not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an address that push services accept, such as \"mailto:ops@example.com\" or \"https://track.example.com\", \
     with a public domain"
)]
pub struct ContactError;

impl PushContact {
    /// Reads a contact.
    pub fn parse(text: &str) -> Result<Self, ContactError> {
        let domain = match text.split_once(':') {
            Some(("mailto", address)) => {
                let address: Email = address.parse().map_err(|_invalid| ContactError)?;
                address.as_str().rsplit_once('@').map(|(_, domain)| domain.to_owned())
            }
            Some(("https", _)) => Url::parse(text).ok().and_then(|url| match url.host() {
                Some(Host::Domain(domain)) if url.username().is_empty() => Some(domain.to_owned()),
                _ => None,
            }),
            _ => None,
        };
        match domain {
            Some(domain) if is_public(&domain) => Ok(Self(text.to_owned())),
            _ => Err(ContactError),
        }
    }

    /// The value of the claim `sub`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a domain can exist in the public DNS (RFC 6761, RFC 6762, RFC 8375).
fn is_public(domain: &str) -> bool {
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    let last = domain.rsplit('.').next().unwrap_or_default();
    let is_special = matches!(
        last,
        "localhost" | "local" | "test" | "invalid" | "example" | "internal" | "lan" | "home" | "arpa"
    );
    domain.contains('.') && !is_special && last.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_domains_are_contacts() {
        for text in
            ["mailto:ops@example.com", "https://track.example.com", "https://track.example.com/contact"]
        {
            assert_eq!(PushContact::parse(text).map(|contact| contact.0), Ok(text.to_owned()));
        }
        for text in [
            "",
            "ops@example.com",
            "mailto:ops@localhost",
            "mailto:ops@boat.local",
            "mailto:",
            "http://track.example.com",
            "https://localhost:8443",
            "https://192.0.2.1",
            "https://[::1]",
            "https://tracker",
            "https://user@track.example.com",
        ] {
            assert_eq!(PushContact::parse(text), Err(ContactError), "{text}");
        }
    }
}
