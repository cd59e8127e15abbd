//! Finds the user of a token or a console session, by the current state of the store.

use std::net::IpAddr;
use std::sync::Arc;

use perigee_core::access::credential::{Identity, SecretHash, Session};
use perigee_core::access::privilege::Privilege;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, KeyId, UserId};
use perigee_core::store::Store;
use perigee_core::time::Timestamp;
use serde_json::Value;

use super::identity::Identities;
use super::key_ring::{KeyLoadError, KeyRing};
use super::rate_limits::{RateLimits, Rated};
use crate::auth::signing::{SigningKeyError, SigningKeys};
use crate::auth::token::{Claims, NewToken, TokenError};
use crate::auth::verified::VerifiedTokens;

/// Verified tokens kept in memory, so that their signatures are not checked with every request.
const VERIFIED_TOKENS_MAX: usize = 10_000;

/// Issues tokens, and checks tokens and sessions.
pub struct Authenticator {
    keys: KeyRing,
    verified: VerifiedTokens,
    token_seconds: u32,
    store: Arc<dyn Store>,
    identities: Arc<Identities>,
    rates: Arc<RateLimits>,
}

/// A caller whose token or session is valid.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The user and their account, at most two seconds old.
    pub identity: Arc<Identity>,
    /// Their console session, unless they came with a token.
    pub session: Option<Session>,
    /// Checked again during long requests.
    pub proof: Proof,
}

/// The credential of a request, kept to be checked again during long requests.
#[derive(Clone, Debug)]
pub enum Proof {
    /// The claims of a token.
    Token(Arc<Claims>),
    /// The hash of a session's secret.
    Session(SecretHash),
}

/// Why a token or a session is refused.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// Not a token of this service, or changed after it was issued.
    #[error("the token was not issued by this service")]
    UnknownToken,
    /// The token was valid until its API key was replaced or deleted.
    #[error("the API key of the token was replaced or deleted")]
    KeyReplaced,
    /// The token has expired.
    #[error("the token is expired")]
    TokenExpired,
    /// The session ended, or its user was deleted.
    #[error("the session has ended")]
    SessionOver,
    /// The address presented more bad tokens than its limit allows.
    #[error("too many bad tokens from this address")]
    TooManyBadTokens(Rated),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The signing keys of the store cannot be used.
    #[error(transparent)]
    Keys(#[from] SigningKeyError),
}

impl From<KeyLoadError> for AccessError {
    fn from(error: KeyLoadError) -> Self {
        match error {
            KeyLoadError::Store(error) => Self::Store(error),
            KeyLoadError::Keys(error) => Self::Keys(error),
        }
    }
}

impl Authenticator {
    /// Signs with these keys; tokens are valid for `token_seconds`.
    pub fn new(
        keys: SigningKeys,
        token_seconds: u32,
        store: Arc<dyn Store>,
        identities: Arc<Identities>,
        rates: Arc<RateLimits>,
    ) -> Self {
        let verified = VerifiedTokens::new(VERIFIED_TOKENS_MAX);
        Self { keys: KeyRing::new(keys), verified, token_seconds, store, identities, rates }
    }

    /// Issues a token for the API key of a user, and returns its expiry.
    pub fn issue(
        &self,
        account: AccountId,
        user: UserId,
        key: KeyId,
        now: Timestamp,
    ) -> Result<(String, Timestamp), TokenError> {
        let new = NewToken { user, account, key, lifetime_s: self.token_seconds };
        self.keys.tokens().issue(new, now).map(|(token, claims)| (token, claims.expires()))
    }

    /// The public keys that verify tokens, as a JSON Web Key Set.
    pub fn jwks(&self, now: Timestamp) -> Value {
        self.keys.tokens().keys().jwks(now)
    }

    /// Loads the signing keys of the store; true if they differ from those in use.
    pub async fn load_keys(&self) -> Result<bool, KeyLoadError> {
        let changed = self.keys.load(&*self.store).await?;
        if changed {
            // Tokens of a removed key must be verified again, and refused.
            self.verified.clear();
        }
        Ok(changed)
    }

    /// Finds the user of a token. Each invalid token counts against the address that sent it. Once the address has
    /// reached its limit, only tokens that were verified before are accepted from it.
    pub async fn admit_token(
        &self,
        token: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Admitted, AccessError> {
        let admitted = self.check_token(token, address, now).await;
        if let Err(AccessError::UnknownToken | AccessError::KeyReplaced | AccessError::TokenExpired) =
            admitted
        {
            let rated = self.rates.bad_token(address, true);
            if !rated.allowance.allowed {
                return Err(AccessError::TooManyBadTokens(rated));
            }
        }
        admitted
    }

    async fn check_token(
        &self,
        token: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Admitted, AccessError> {
        let claims = if let Some(known) = self.verified.get(token, now) {
            known
        } else {
            let rated = self.rates.bad_token(address, false);
            if !rated.allowance.allowed {
                return Err(AccessError::TooManyBadTokens(rated));
            }
            self.verify(token, now).await?
        };
        let identity = self.find_holder(&claims).await?;
        Ok(Admitted { identity, session: None, proof: Proof::Token(claims) })
    }

    /// Finds the user of the session with this hash.
    pub async fn admit_session(&self, hash: SecretHash, now: Timestamp) -> Result<Admitted, AccessError> {
        let session = self.identities.session(&*self.store, &hash).await?;
        let session = session.filter(|session| now < session.expires).ok_or(AccessError::SessionOver)?;
        let identity = self.identities.user(&*self.store, session.user).await?;
        let identity = identity.ok_or(AccessError::SessionOver)?;
        Ok(Admitted { identity, session: Some(session), proof: Proof::Session(hash) })
    }

    /// Authenticates a proof again during a long request.
    pub async fn admit_again(&self, proof: &Proof, now: Timestamp) -> Result<Arc<Identity>, AccessError> {
        match proof {
            Proof::Token(claims) if claims.is_expired(now) => Err(AccessError::TokenExpired),
            Proof::Token(claims) => self.find_holder(claims).await,
            Proof::Session(hash) => Ok(self.admit_session(*hash, now).await?.identity),
        }
    }

    /// The user to whom a token was issued, if they may still use it.
    async fn find_holder(&self, claims: &Claims) -> Result<Arc<Identity>, AccessError> {
        let cached = self.identities.user(&*self.store, claims.sub).await?;
        let mut identity = cached.filter(|identity| may_use(identity, claims));
        if identity.is_none() {
            // Another node may have issued the key after the identity was cached.
            let read = self.identities.user_again(&*self.store, claims.sub, claims.key).await?;
            identity = read.filter(|identity| may_use(identity, claims));
        }
        identity.ok_or(AccessError::KeyReplaced)
    }

    /// Checks the signature of a token and caches its claims.
    async fn verify(&self, token: &str, now: Timestamp) -> Result<Arc<Claims>, AccessError> {
        let mut tokens = self.keys.tokens();
        let mut verified = tokens.verify(token, now);
        if verified == Err(TokenError::UnknownKey) {
            // Another node may sign with a key that is newer than the last load.
            self.load_keys().await?;
            tokens = self.keys.tokens();
            verified = tokens.verify(token, now);
        }
        let claims = verified.map_err(|reason| match reason {
            TokenError::Expired => AccessError::TokenExpired,
            _ => AccessError::UnknownToken,
        })?;
        let claims = Arc::new(claims);
        self.verified.insert(token, claims.clone(), now);
        if !Arc::ptr_eq(&tokens, &self.keys.tokens()) {
            // The keys changed meanwhile and the cache was cleared: a token of a removed key must not be cached again.
            self.verified.clear();
        }
        Ok(claims)
    }
}

/// Whether the token was issued to this user, and they may still use it.
fn may_use(identity: &Identity, claims: &Claims) -> bool {
    identity.api_key == Some(claims.key)
        && identity.account.id == claims.acc
        && identity.user.profile.privileges.allows(Privilege::Api)
}
