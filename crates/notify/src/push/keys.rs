//! The key pair by which push services recognise this server, and the tokens signed with it (VAPID, RFC 8292).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use perigee_core::access::credential::SigningKey;
use perigee_core::time::Timestamp;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;
use url::Url;

/// Seconds for which a token is valid; push services refuse more than 24 hours.
const VALID_S: i64 = 12 * 3_600;

/// Why a key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushKeyError {
    /// The bytes are not a P-256 key in PKCS#8.
    #[error("not a P-256 key in PKCS#8")]
    Unreadable,
    /// The random number generator failed.
    #[error("making or using a key of Web Push failed")]
    Failed,
}

/// A key pair with its id.
pub struct PushKey {
    id: String,
    public: String,
    pair: EcdsaKeyPair,
    pkcs8: Vec<u8>,
}

impl fmt::Debug for PushKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PushKey({})", self.id)
    }
}

impl PushKey {
    /// A new random key.
    pub fn generate() -> Result<Self, PushKeyError> {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map_err(|_unspecified| PushKeyError::Failed)?;
        Self::from_pkcs8(pkcs8.as_ref())
    }

    /// The key from the store.
    pub fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, PushKeyError> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new())
            .map_err(|_rejected| PushKeyError::Unreadable)?;
        let public = pair.public_key().as_ref();
        Ok(Self {
            id: URL_SAFE_NO_PAD.encode(digest(&SHA256, public)),
            public: URL_SAFE_NO_PAD.encode(public),
            pkcs8: pkcs8.to_vec(),
            pair,
        })
    }

    /// The SHA-256 of the public key, in URL-safe base64: names the key in the store.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The public key in URL-safe base64, which browsers take as `applicationServerKey`.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The key in the form of the store, created at this instant.
    pub fn to_stored(&self, now: Timestamp) -> SigningKey {
        SigningKey { kid: self.id.clone(), pkcs8: self.pkcs8.clone(), creation: now, expires: None }
    }

    /// The value of the header `Authorization` of a request to this push service. `contact` is where its operators
    /// reach those of this server.
    pub fn authorization(
        &self,
        service: &Url,
        contact: Option<&str>,
        now: Timestamp,
    ) -> Result<String, PushKeyError> {
        let mut claims = json!({
            "aud": service.origin().ascii_serialization(),
            "exp": now.plus_seconds(VALID_S).as_millis().div_euclid(1_000),
        });
        if let (Some(contact), Some(claims)) = (contact, claims.as_object_mut()) {
            claims.insert("sub".to_owned(), contact.into());
        }
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&json!({ "typ": "JWT", "alg": "ES256" })), part(&claims));
        let signature = self
            .pair
            .sign(&SystemRandom::new(), signed.as_bytes())
            .map_err(|_unspecified| PushKeyError::Failed)?;
        Ok(format!("vapid t={signed}.{}, k={}", URL_SAFE_NO_PAD.encode(signature), self.public))
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn keys_are_kept_and_read_back() {
        let key = PushKey::generate().unwrap();
        let stored = key.to_stored(Timestamp::MIN);
        let read = PushKey::from_pkcs8(&stored.pkcs8).unwrap();
        assert_eq!((read.id(), read.public()), (key.id(), key.public()));
        assert_eq!(stored.kid, key.id());
        assert_ne!(PushKey::generate().unwrap().id(), key.id());
        assert!(matches!(PushKey::from_pkcs8(b"x"), Err(PushKeyError::Unreadable)));
        assert_eq!(format!("{key:?}"), format!("PushKey({})", key.id()));
    }

    #[test]
    fn a_token_names_the_push_service_and_expires_within_a_day() {
        let key = PushKey::generate().unwrap();
        let service = Url::parse("https://push.example.com:8443/send/abc?x=y").unwrap();
        let now = Timestamp::from_millis(1_767_225_600_500);
        let header = key.authorization(&service, Some("mailto:ops@example.com"), now).unwrap();
        let (token, public) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(public, key.public());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(public))
            .verify(signed.as_bytes(), &decode(signature))
            .unwrap();
        let (header, claims) = signed.split_once('.').unwrap();
        let read = |text: &str| serde_json::from_slice::<serde_json::Value>(&decode(text)).unwrap();
        assert_eq!(read(header), json!({ "typ": "JWT", "alg": "ES256" }));
        assert_eq!(
            read(claims),
            json!({
                "aud": "https://push.example.com:8443",
                "exp": 1_767_225_600 + 43_200,
                "sub": "mailto:ops@example.com"
            })
        );
    }
}
