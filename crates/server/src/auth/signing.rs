//! The Ed25519 keys that sign tokens: one that signs, and older ones whose tokens are still valid.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{DecodingKey, EncodingKey};
use perigee_core::access::credential::SigningKey as StoredKey;
use perigee_core::time::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::ed25519;

/// Why a key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningKeyError {
    /// The bytes are not an Ed25519 key in PKCS#8.
    #[error("not an Ed25519 key in PKCS#8")]
    Unreadable,
    /// The random number generator failed.
    #[error("making a signing key failed")]
    NotMade,
}

/// A key pair with its `kid`.
#[derive(Clone)]
pub struct SigningKey {
    id: String,
    public: String,
    encoding: EncodingKey,
    decoding: DecodingKey,
    /// Time until which the key verifies tokens; `None` for the key that signs.
    expires: Option<Timestamp>,
}

impl PartialEq for SigningKey {
    /// Compares the ids, which are derived from the keys, and the expiry.
    fn eq(&self, other: &Self) -> bool {
        (&self.id, self.expires) == (&other.id, other.expires)
    }
}

impl SigningKey {
    /// A new random key.
    pub fn generate() -> Result<Self, SigningKeyError> {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_unspecified| SigningKeyError::NotMade)?;
        Self::from_pkcs8(pkcs8.as_ref())
    }

    /// The key from the store.
    pub fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, SigningKeyError> {
        let pair = ed25519::key_pair(pkcs8).ok_or(SigningKeyError::Unreadable)?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
        // The thumbprint of RFC 7638: the id is derived from the key and need not be stored.
        let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{public}"}}"#);
        Ok(Self {
            id: URL_SAFE_NO_PAD.encode(Sha256::digest(canonical)),
            encoding: EncodingKey::from_ed_der(pkcs8),
            decoding: DecodingKey::from_ed_der(pair.public_key().as_ref()),
            public,
            expires: None,
        })
    }

    /// The same key, valid until this instant.
    #[must_use]
    pub fn expiring(self, expires: Option<Timestamp>) -> Self {
        Self { expires, ..self }
    }

    fn is_valid(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }

    /// The `kid` of tokens signed with it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The key in the form of the store, created at this instant.
    pub fn to_stored(&self, now: Timestamp) -> StoredKey {
        StoredKey {
            kid: self.id.clone(),
            pkcs8: self.to_pkcs8().to_vec(),
            creation: now,
            expires: self.expires,
        }
    }

    /// The bytes to store, which are secret.
    pub fn to_pkcs8(&self) -> &[u8] {
        self.encoding.as_bytes()
    }

    pub(super) fn encoding(&self) -> &EncodingKey {
        &self.encoding
    }

    pub(super) fn decoding(&self) -> &DecodingKey {
        &self.decoding
    }

    fn to_jwk(&self) -> Value {
        json!({
            "kty": "OKP", "crv": "Ed25519", "x": self.public, "kid": self.id, "use": "sig", "alg": "EdDSA"
        })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.id)
    }
}

/// The key that signs now and those that signed before it.
#[derive(Clone, Debug, PartialEq)]
pub struct SigningKeys {
    current: SigningKey,
    older: Vec<SigningKey>,
}

impl SigningKeys {
    /// The key that signs, and older ones that still verify.
    pub fn new(current: SigningKey, older: Vec<SigningKey>) -> Self {
        Self { current, older }
    }

    /// A key set of one new random key.
    pub fn generate() -> Result<Self, SigningKeyError> {
        SigningKey::generate().map(|current| Self::new(current, Vec::new()))
    }

    /// Signs with this key from now on; tokens of the other keys stay valid.
    #[must_use]
    pub fn rotated(self, next: SigningKey) -> Self {
        let mut older = self.older;
        older.insert(0, self.current);
        Self { current: next, older }
    }

    /// The key that signs.
    pub fn current(&self) -> &SigningKey {
        &self.current
    }

    /// The key with this id, unless it is expired.
    pub fn find(&self, id: &str, now: Timestamp) -> Option<&SigningKey> {
        self.valid(now).find(|key| key.id == id)
    }

    /// The public keys as a JSON Web Key Set (RFC 7517, RFC 8037), without expired ones.
    pub fn jwks(&self, now: Timestamp) -> Value {
        json!({ "keys": self.valid(now).map(SigningKey::to_jwk).collect::<Vec<_>>() })
    }

    fn valid(&self, now: Timestamp) -> impl Iterator<Item = &SigningKey> {
        std::iter::once(&self.current).chain(&self.older).filter(move |key| key.is_valid(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_and_read_back() {
        let key = SigningKey::generate().unwrap();
        let read = SigningKey::from_pkcs8(key.to_pkcs8()).unwrap();
        assert_eq!((read.id(), read.to_jwk()), (key.id(), key.to_jwk()));
        assert_ne!(SigningKey::generate().unwrap().id(), key.id());
        assert!(SigningKey::from_pkcs8(b"").is_err());
        assert!(SigningKey::from_pkcs8(&key.to_pkcs8()[1..]).is_err());
        assert_eq!(format!("{key:?}"), format!("SigningKey({})", key.id()));
    }

    #[test]
    fn the_id_is_the_thumbprint_of_the_standard() {
        // The key of RFC 8037, appendices A.1 to A.3.
        let seed = URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        let mut pkcs8 = vec![
            0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
        ];
        pkcs8.extend(seed);
        let key = SigningKey::from_pkcs8(&pkcs8).unwrap();
        assert_eq!(key.id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        assert_eq!(key.public, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
    }

    #[test]
    fn publishes_public_halves_only() {
        let first = SigningKey::generate().unwrap();
        let now = Timestamp::from_millis(1_000);
        let until = Some(Timestamp::from_millis(2_000));
        let keys = SigningKeys::new(first.clone().expiring(until), Vec::new());
        let keys = keys.rotated(SigningKey::generate().unwrap());
        let published = keys.jwks(now);
        let ids: Vec<_> =
            published["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap()).collect();
        assert_eq!(ids, [keys.current().id(), first.id()]);
        for key in published["keys"].as_array().unwrap() {
            let members: Vec<_> = key.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(members, ["kty", "crv", "x", "kid", "use", "alg"]);
        }
        assert!(keys.find(first.id(), now).is_some() && keys.find("other", now).is_none());
        let later = Timestamp::from_millis(2_000);
        assert!(keys.find(first.id(), later).is_none(), "it is over");
        assert_eq!(keys.jwks(later)["keys"].as_array().unwrap().len(), 1);
    }
}
