//! Access tokens: JWTs of RFC 9068, signed with Ed25519; no other algorithm is accepted.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation};
use perigee_core::id::{AccountId, KeyId, UserId};
use perigee_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::ed25519;
use super::secret::Secret;
use super::signing::{SigningKey, SigningKeys};

const TYPE: &str = "at+jwt";
/// Longer texts are refused without parsing; tokens issued here have about 600 characters.
const MAX_TOKEN_BYTES: usize = 4096;

/// The claims of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Issuer, the same for every node.
    pub iss: String,
    /// Audience, the same for every node.
    pub aud: String,
    /// The user it was issued to.
    pub sub: UserId,
    /// Expiry, in seconds since 1970.
    pub exp: i64,
    /// Time of issue, in seconds since 1970.
    pub iat: i64,
    /// Random id of the token.
    pub jti: String,
    /// The API key it was issued for. The token becomes invalid when that key is replaced.
    pub key: KeyId,
    /// The account of the user.
    pub acc: AccountId,
}

impl Claims {
    /// The instant at which the token expires.
    pub const fn expires(&self) -> Timestamp {
        Timestamp::from_millis(self.exp.saturating_mul(1000))
    }

    /// Whether the token has expired.
    pub const fn is_expired(&self, now: Timestamp) -> bool {
        self.exp <= now.as_seconds()
    }
}

/// Whom a new token is for.
#[derive(Clone, Copy, Debug)]
pub struct NewToken {
    /// The user it is issued to.
    pub user: UserId,
    /// The account of that user.
    pub account: AccountId,
    /// The API key for which it is issued.
    pub key: KeyId,
    /// Validity in seconds.
    pub lifetime_s: u32,
}

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not an access token at all.
    #[error("the token is malformed")]
    Malformed,
    /// Another algorithm, or changed after it was signed.
    #[error("the token's signature is wrong")]
    BadSignature,
    /// Signed by an unknown or expired key.
    #[error("the token's key is not known")]
    UnknownKey,
    /// It is past its `exp`.
    #[error("the token is expired")]
    Expired,
    /// It is for another audience.
    #[error("the token is for another audience")]
    WrongAudience,
    /// It is from another issuer.
    #[error("the token is from another issuer")]
    WrongIssuer,
    /// It could not be signed.
    #[error("signing a token failed")]
    NotSigned,
}

/// Issues and verifies tokens.
#[derive(Clone, Debug)]
pub struct Tokens {
    keys: SigningKeys,
    issuer: String,
    audience: String,
    validation: Validation,
}

impl Tokens {
    /// Tokens from this issuer for this audience.
    pub fn new(keys: SigningKeys, issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        ed25519::install();
        let mut validation = Validation::new(Algorithm::EdDSA);
        // The time comes from the caller, and claims are checked below, where each failure has its own error.
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        Self { keys, issuer: issuer.into(), audience: audience.into(), validation }
    }

    /// The keys in use.
    pub fn keys(&self) -> &SigningKeys {
        &self.keys
    }

    /// Issues a token, and returns its claims.
    pub fn issue(&self, new: NewToken, now: Timestamp) -> Result<(String, Claims), TokenError> {
        let iat = now.as_seconds();
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            sub: new.user,
            exp: iat.saturating_add(i64::from(new.lifetime_s)),
            iat,
            jti: Secret::generate().expose().to_owned(),
            key: new.key,
            acc: new.account,
        };
        let token = sign(self.keys.current(), &claims)?;
        Ok((token, claims))
    }

    /// The claims of a token, if it is valid at this time.
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Claims, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::Malformed);
        }
        let header = jsonwebtoken::decode_header(token).map_err(|error| reason(&error))?;
        let typed = header.typ.as_deref().map(str::to_ascii_lowercase);
        let ours = typed.is_some_and(|typ| typ.strip_prefix("application/").unwrap_or(&typ) == TYPE);
        if !ours || header.crit.is_some() {
            return Err(TokenError::Malformed);
        }
        let id = header.kid.as_deref().ok_or(TokenError::BadSignature)?;
        let key = self.keys.find(id, now).ok_or(TokenError::UnknownKey)?;
        let claims = jsonwebtoken::decode::<Claims>(token, key.decoding(), &self.validation)
            .map_err(|error| reason(&error))?
            .claims;
        if claims.iss != self.issuer {
            Err(TokenError::WrongIssuer)
        } else if claims.aud != self.audience {
            Err(TokenError::WrongAudience)
        } else if claims.is_expired(now) {
            Err(TokenError::Expired)
        } else {
            Ok(claims)
        }
    }
}

fn sign(key: &SigningKey, claims: &Claims) -> Result<String, TokenError> {
    let mut header = Header::new(Algorithm::EdDSA);
    header.typ = Some(TYPE.to_owned());
    header.kid = Some(key.id().to_owned());
    jsonwebtoken::encode(&header, claims, key.encoding()).map_err(|_failed| TokenError::NotSigned)
}

fn reason(error: &jsonwebtoken::errors::Error) -> TokenError {
    match error.kind() {
        ErrorKind::InvalidSignature | ErrorKind::InvalidAlgorithm => TokenError::BadSignature,
        _ => TokenError::Malformed,
    }
}

#[cfg(test)]
mod tests;
