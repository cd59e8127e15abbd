//! Random secrets that are shown once and stored as a hash.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::RngCore as _;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The hash of a secret, as stored.
#[derive(Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// The hash of these parts. Random secrets need no slow hash.
    pub(super) fn of(parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update(part);
        }
        Self(digest.finalize().into())
    }

    /// The hash from the store.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl PartialEq for SecretHash {
    /// Compares in constant time.
    fn eq(&self, other: &Self) -> bool {
        same_bytes(&self.0, &other.0)
    }
}

impl Eq for SecretHash {}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(..)")
    }
}

/// Whether two byte strings are equal, in a time that depends only on their length.
pub(crate) fn same_bytes(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

/// 192 random bits as 32 characters that are safe in a URL and in a cookie.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    const BYTES: usize = 24;

    /// A new random secret.
    pub fn generate() -> Self {
        let mut bytes = [0; Self::BYTES];
        rand::rng().fill_bytes(&mut bytes);
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Parses a secret sent by a client; none if it does not have the form of one.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == Self::BYTES).then(|| Self(text.to_owned()))
    }

    /// The text to show to its owner. It is stored nowhere.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The hash for one purpose. The secret is not valid for another purpose.
    pub(super) fn hash(&self, used_for: &'static str) -> SecretHash {
        SecretHash::of(&[used_for.as_bytes(), &[0], self.0.as_bytes()])
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_read_back() {
        let (one, other) = (Secret::generate(), Secret::generate());
        assert_ne!(one.expose(), other.expose());
        assert_eq!(one.expose().len(), 32);
        let read = Secret::parse(one.expose()).unwrap();
        assert_eq!(read.hash("a"), one.hash("a"));
        assert_ne!(one.hash("a"), one.hash("b"));
        assert_ne!(one.hash("a"), other.hash("a"));
    }

    #[test]
    fn refuses_texts_that_are_not_secrets() {
        let good = Secret::generate();
        for text in
            ["", "abc", &good.expose()[1..], &format!("{}A", good.expose()), &"+".repeat(32), &"=".repeat(32)]
        {
            assert!(Secret::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let secret = Secret::generate();
        assert_eq!(format!("{secret:?} {:?}", secret.hash("a")), "Secret(..) SecretHash(..)");
    }
}
