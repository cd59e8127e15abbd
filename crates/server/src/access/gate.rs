//! Lets requests in: a bearer token or a console cookie, checked against what the store says now.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, Method, header};
use perigee_core::credential::{Identity, SecretHash, Session};
use perigee_core::id::{AccountId, KeyId, UserId};
use perigee_core::privilege::Privilege;
use perigee_core::store::Store;
use perigee_core::time::Timestamp;
use serde_json::Value;

use super::key_ring::{KeyLoadError, KeyRing};
use super::rates::Rated;
use crate::app::App;
use crate::auth::signing::SigningKeys;
use crate::auth::token::{Claims, NewToken, TokenError};
use crate::auth::verified::VerifiedTokens;
use crate::auth::{Secret, session};
use crate::http::code::Code;
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult, internal};
use crate::http::limit::too_many;
use crate::serve::PublicOrigin;

/// The cookie of a console session.
pub const SESSION_COOKIE: &str = "perigee_session";
/// What every 401 says of how to be let in.
pub const CHALLENGE: &str = "Bearer realm=\"perigee\"";
const REMEMBERED_TOKENS: usize = 10_000;

/// Issues and checks what lets requests in.
#[derive(Debug)]
pub struct Gate {
    keys: KeyRing,
    verified: VerifiedTokens,
    token_seconds: u32,
}

/// Somebody who is let in.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// Who.
    pub identity: Arc<Identity>,
    /// Their console session, unless they came with a token.
    pub session: Option<Session>,
    /// What they came with.
    pub proof: Proof,
}

/// What somebody came with, kept to be looked at again while their request goes on.
#[derive(Clone, Debug)]
pub enum Proof {
    /// A token that says this.
    Token(Arc<Claims>),
    /// The cookie of a session, by its hash.
    Session(SecretHash),
}

impl Gate {
    /// A gate with these keys.
    pub fn new(keys: SigningKeys, token_seconds: u32) -> Self {
        Self { keys: KeyRing::new(keys), verified: VerifiedTokens::new(REMEMBERED_TOKENS), token_seconds }
    }

    /// A token for a user's key, and when it ends.
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

    /// The public keys tokens can be checked with.
    pub fn jwks(&self, now: Timestamp) -> Value {
        self.keys.tokens().keys().jwks(now)
    }

    /// Takes over the keys of the store; true when they are others than before.
    pub async fn load_keys(&self, store: &dyn Store) -> Result<bool, KeyLoadError> {
        let changed = self.keys.load(store).await?;
        if changed {
            // Tokens of a key that was dropped are checked anew, and refused.
            self.verified.clear();
        }
        Ok(changed)
    }

    /// Lets a request in, or says why not.
    pub async fn admit(
        &self,
        app: &App,
        parts: &Parts,
        context: &RequestContext,
        now: Timestamp,
    ) -> ApiResult<Admitted> {
        let admitted = match parts.headers.get(header::AUTHORIZATION) {
            Some(value) => self.admit_bearer(app, context, value.to_str().unwrap_or_default(), now).await,
            None => match cookie(&parts.headers) {
                Some(secret) => {
                    refuse_foreign_origin(app, parts)?;
                    admit_session(app, *session::hash(&secret).as_bytes(), now).await
                }
                None => Err(unauthenticated()),
            },
        };
        match admitted {
            Err(error) if matches!(error.code, Code::InvalidToken | Code::TokenExpired) => {
                refuse_many_bad_tokens(context, app.rates.bad_token(context.address(), true))?;
                Err(error)
            }
            admitted => admitted,
        }
    }

    async fn admit_bearer(
        &self,
        app: &App,
        context: &RequestContext,
        authorization: &str,
        now: Timestamp,
    ) -> ApiResult<Admitted> {
        let token = authorization
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim())
            .ok_or_else(|| invalid_token("Send the token as \"Authorization: Bearer <token>\"."))?;
        // A token known to be good is not held to what others at the same address send.
        let claims = if let Some(known) = self.verified.get(token, now) {
            known
        } else {
            refuse_many_bad_tokens(context, app.rates.bad_token(context.address(), false))?;
            self.verify(&*app.store, token, now).await?
        };
        let identity = self.find_holder(app, &claims).await?;
        Ok(Admitted { identity, session: None, proof: Proof::Token(claims) })
    }

    /// Who came with this, as the store says now, or why they are not let in any longer.
    pub async fn admit_again(&self, app: &App, proof: &Proof, now: Timestamp) -> ApiResult<Arc<Identity>> {
        match proof {
            Proof::Token(claims) if claims.is_expired(now) => Err(expired()),
            Proof::Token(claims) => self.find_holder(app, claims).await,
            Proof::Session(hash) => Ok(admit_session(app, *hash, now).await?.identity),
        }
    }

    /// Who a token was issued to, if they may still use it.
    async fn find_holder(&self, app: &App, claims: &Claims) -> ApiResult<Arc<Identity>> {
        let remembered = app.identities.user(&*app.store, claims.sub).await?;
        let mut identity = remembered.filter(|identity| may_ask(identity, claims));
        if identity.is_none() {
            // The key may have been issued by another node since.
            let read = app.identities.user_again(&*app.store, claims.sub, claims.key).await?;
            identity = read.filter(|identity| may_ask(identity, claims));
        }
        identity.ok_or_else(|| {
            invalid_token(
                "The API key of this token was replaced or deleted. Get a token with the present key from POST /api/Auth/Token.",
            )
        })
    }

    /// Checks a token that is not remembered, and remembers it if it is good.
    async fn verify(&self, store: &dyn Store, token: &str, now: Timestamp) -> ApiResult<Arc<Claims>> {
        let mut tokens = self.keys.tokens();
        let mut verified = tokens.verify(token, now);
        if verified == Err(TokenError::UnknownKey) {
            // Another node may sign with a key that was made since this one last looked.
            self.load_keys(store).await.map_err(|error| match error {
                KeyLoadError::Store(error) => ApiError::from(error),
                KeyLoadError::Keys(error) => internal(error),
            })?;
            tokens = self.keys.tokens();
            verified = tokens.verify(token, now);
        }
        let claims = verified.map_err(|reason| match reason {
            TokenError::Expired => expired(),
            _ => {
                invalid_token("The token is not one this service issued. Get one from POST /api/Auth/Token.")
            }
        })?;
        let claims = Arc::new(claims);
        self.verified.insert(token, claims.clone(), now);
        if !Arc::ptr_eq(&tokens, &self.keys.tokens()) {
            // The keys changed meanwhile: what they were cleared of must not come back.
            self.verified.clear();
        }
        Ok(claims)
    }
}

/// Whether this is who the token was issued to, and may still use it.
fn may_ask(identity: &Identity, claims: &Claims) -> bool {
    identity.api_key == Some(claims.key)
        && identity.account.id == claims.acc
        && identity.user.profile.privileges.allows(Privilege::Api)
}

fn refuse_many_bad_tokens(context: &RequestContext, rated: Rated) -> ApiResult<()> {
    if rated.allowance.allowed {
        return Ok(());
    }
    context.set_rated(rated);
    Err(too_many(rated, "Too many requests with a bad token came from this address."))
}

async fn admit_session(app: &App, hash: SecretHash, now: Timestamp) -> ApiResult<Admitted> {
    let session = app.identities.session(&*app.store, &hash).await?.filter(|session| now < session.expires);
    let session = session.ok_or_else(session_over)?;
    let identity = app.identities.user(&*app.store, session.user).await?.ok_or_else(session_over)?;
    Ok(Admitted { identity, session: Some(session), proof: Proof::Session(hash) })
}

/// The secret of the session cookie, if one was sent.
pub fn cookie(headers: &HeaderMap) -> Option<Secret> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == SESSION_COOKIE)
        .and_then(|(_, value)| Secret::parse(value))
}

/// Refuses a change that a page of another origin sent with our cookie. Browsers always name the origin of
/// a change; what names none is no browser.
pub fn refuse_foreign_origin(app: &App, parts: &Parts) -> ApiResult<()> {
    if matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    let Some(origin) = parts.headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let served_at = parts
        .extensions
        .get::<PublicOrigin>()
        .and_then(|public| public.host.as_ref().map(|host| format!("{}://{host}", public.scheme.as_str())));
    if origin == app.base_url.origin() || served_at.is_some_and(|served_at| served_at == origin) {
        return Ok(());
    }
    Err(ApiError::new(
        Code::ForeignOrigin,
        "Changes with a session are taken from the console's own pages only.",
    ))
}

/// The session ended, or its user is gone.
pub fn session_over() -> ApiError {
    ApiError::new(Code::Unauthenticated, "The session is over. Sign in again with POST /api/session.")
        .with_header(header::WWW_AUTHENTICATE, CHALLENGE)
}

fn unauthenticated() -> ApiError {
    ApiError::new(
        Code::Unauthenticated,
        "Send \"Authorization: Bearer <token>\". Get a token from POST /api/Auth/Token with your user name and API key.",
    )
    .with_header(header::WWW_AUTHENTICATE, CHALLENGE)
}

fn expired() -> ApiError {
    challenged(Code::TokenExpired, "The token is expired. Get a new one from POST /api/Auth/Token.")
}

fn invalid_token(message: &str) -> ApiError {
    challenged(Code::InvalidToken, message)
}

fn challenged(code: Code, message: &str) -> ApiError {
    let description =
        if code == Code::TokenExpired { "the token is expired" } else { "the token is not valid" };
    let challenge = format!("{CHALLENGE}, error=\"invalid_token\", error_description=\"{description}\"");
    ApiError::new(code, message).with_header(header::WWW_AUTHENTICATE, &challenge)
}
