//! Tokens: issued for a user name and an API key, and verifiable with the public keys.

use axum::Json;
use http::header;
use perigee_core::access::actor::Via;
use perigee_core::access::credential::{ApiKey as StoredKey, Login};
use perigee_core::access::user::UserStatus;
use perigee_core::text::{EMAIL_MAX, Email, Line};
use perigee_core::time::Timestamp;

use crate::auth::SecretHash;
use crate::auth::api_key::ApiKey;
use crate::http::attempt::{Attempt, AttemptContext};
use crate::http::authenticate::CHALLENGE;
use crate::http::extract::{Credentials, require_open_account};
use crate::http::middleware::TokenRefusal;
use crate::http::prelude::*;

const API_KEY_MAX: usize = 200;
/// Verifiers fetch the keys again when a token names a key that they do not have, so this may be long.
const KEYS_CACHED: &str = "public, max-age=3600";

input! {
    /// Credentials for which a token is issued.
    struct TokenRequest {
        /// E-mail address of the user.
        user_name as "userName": Line<1, EMAIL_MAX>, required, example "ana@example.com";
        /// API key of the user, created in the developer settings of the console.
        api_key as "apiKey": Line<1, API_KEY_MAX>, required, example "pgk_0JmVxq9nB3kRtYw6ZcLd2FhGs8Pa4uE1xK0Zq";
    }
}

/// A bearer token for the API, and its expiry.
#[derive(Serialize, ToSchema)]
pub struct TokenAnswer {
    /// Always true in successful responses.
    #[schema(example = true)]
    success: bool,
    /// Bearer token. Send it with every request as `Authorization: Bearer <token>`.
    #[schema(example = "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl")]
    token: String,
    /// Time at which the token expires. Request a new token before this time.
    #[schema(example = "2026-05-01T13:00:00Z", format = DateTime)]
    expires: String,
}

/// Public keys of the server as a JSON Web Key Set (RFC 7517).
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is answered")]
pub struct JsonWebKeySet {
    /// Public keys. The key that signs new tokens is the first.
    keys: Vec<JsonWebKey>,
}

/// A public Ed25519 key as a JSON Web Key (RFC 8037).
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is answered")]
pub struct JsonWebKey {
    /// Type of the key: always `OKP`.
    #[schema(example = "OKP")]
    kty: String,
    /// Curve of the key: always `Ed25519`.
    #[schema(example = "Ed25519")]
    crv: String,
    /// Public key in URL-safe Base64 without padding.
    #[schema(example = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")]
    x: String,
    /// Identifier of the key, as in the header `kid` of tokens.
    #[schema(example = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")]
    kid: String,
    /// Use of the key: always `sig`.
    #[serde(rename = "use")]
    #[schema(rename = "use", example = "sig")]
    used_for: String,
    /// Algorithm of signatures: always `EdDSA`.
    #[schema(example = "EdDSA")]
    alg: String,
}

struct Presented {
    user_name: String,
    api_key: String,
}

fn read_request(body: &Value) -> ApiResult<Presented> {
    read_body(body, &[], |TokenRequest { user_name, api_key }, _| {
        Some(Presented { user_name: user_name?, api_key: api_key? })
    })
}

/// The user with this e-mail address. A text that is not an address causes a lookup too, so that the time of the answer
/// does not depend on it.
pub(in crate::http::routes) async fn find_login(app: &App, name: &str) -> ApiResult<Option<Login>> {
    let email = name.parse::<Email>().ok();
    let known = email.is_some();
    let Some(email) = email.or_else(|| "nobody@invalid".parse().ok()) else { return Ok(None) };
    Ok(app.store.find_login(&email).await?.filter(|_| known))
}

/// The key for which a token may be issued, or why none is. Every refusal takes the same time.
fn prove(login: Option<&Login>, presented: &str, now: Timestamp) -> Result<StoredKey, &'static str> {
    let stored = login.and_then(|login| login.api_key.clone());
    let stored_hash = SecretHash::from_bytes(stored.as_ref().map_or([0; 32], |key| key.hash));
    let same = ApiKey::hash_presented(presented) == stored_hash;
    let profile = login.map(|login| &login.user.profile);
    let is_active = profile.is_some_and(|profile| profile.status(now) == UserStatus::Active);
    let has_privilege = profile.is_some_and(|profile| profile.privileges.allows(Privilege::Api));
    match stored {
        None => Err("the API is not activated"),
        Some(_) if !same => Err("the API key is wrong"),
        Some(_) if !is_active => Err("the user is disabled or not valid at this time"),
        Some(_) if !has_privilege => Err("the user lacks the privilege \"api\""),
        Some(key) => Ok(key),
    }
}

/// Records the use of the key, at most once a minute and after the answer.
fn note_use(app: &App, login: &Login, key: &StoredKey, now: Timestamp) {
    if !app.access.rates.note_key_use(key.id) {
        return;
    }
    let (store, user, key) = (app.store.clone(), login.user.id, key.id);
    app.tasks.background.spawn(async move {
        if let Err(error) = store.touch_api_key(user, key, now).await {
            tracing::warn!(%error, "could not record the use of an API key");
        }
    });
}

/// Create a token
///
/// Issues a bearer token for the user name and the API key of a user with the privilege `api`. A wrong user name, a wrong
/// key, a user who is disabled or expired and a user without an API key get the same answer. Repeated failures are rate
/// limited. Responses of this operation, errors included, have only the members shown here.
#[utoipa::path(post, path = "/api/Auth/Token", tag = "authentication", request_body = TokenRequest, security(()),
    responses(
        (status = 200, description = "The token was issued.", body = TokenAnswer),
        (status = 400, description = "The body is not valid.", body = TokenRefusal),
        (status = 401, description = "The user name or the API key is not valid.", body = TokenRefusal),
        (status = 403, description = "The account is suspended or being deleted.", body = TokenRefusal),
        (status = 405, description = "The method is not supported by this path.", body = TokenRefusal),
        (status = 406, description = "The client does not accept JSON.", body = TokenRefusal),
        (status = 408, description = "The body was not received in time.", body = TokenRefusal),
        (status = 413, description = "The body is too large.", body = TokenRefusal),
        (status = 415, description = "The body is not JSON.", body = TokenRefusal),
        (status = 429, description = "Too many attempts have failed. `Retry-After` gives the seconds to wait.", body = TokenRefusal),
        (status = 500, description = "An error of the server. Sending the request again is safe.", body = TokenRefusal),
        (status = 503, description = "The service is overloaded or cannot reach its database. Sending the request again is safe.", body = TokenRefusal),
    ))]
pub async fn create_token(
    State(app): State<App>,
    AttemptContext(context): AttemptContext,
    Credentials(body): Credentials,
) -> ApiResult<Json<TokenAnswer>> {
    let presented = read_request(&body.value)?;
    let mut attempt = Attempt::begin_without_hash(&app, &context, &presented.user_name).await?;
    let login = attempt.check(find_login(&app, &presented.user_name)).await?;
    let now = app.clock.now();
    let proof = prove(login.as_ref(), &presented.api_key, now);
    match (proof, login) {
        (Ok(key), Some(login)) => {
            require_open_account(&login.account)?;
            let issued = app.access.authenticator.issue(login.account.id, login.user.id, key.id, now);
            let (token, expires) = issued.map_err(internal)?;
            note_use(&app, &login, &key, now);
            Ok(Json(TokenAnswer { success: true, token, expires: expires.to_string() }))
        }
        (proof, login) => {
            attempt.fail(Via::Token, "token.create", login, proof.err().unwrap_or_default()).await;
            Err(ApiError::new(ErrorCode::InvalidCredentials, "Invalid API key or user name.")
                .with_header(header::WWW_AUTHENTICATE, CHALLENGE))
        }
    }
}

/// List signing keys
///
/// Returns the public keys with which clients can verify tokens of this server. Needs no authentication. The response
/// may be cached for one hour; fetch it again when a token names an unknown key.
#[utoipa::path(get, path = "/.well-known/jwks.json", tag = "authentication", security(()),
    responses((status = 200, description = "The public keys. The key that signs new tokens is the first.", body = JsonWebKeySet)))]
pub async fn list_signing_keys(State(app): State<App>) -> Response {
    ([(header::CACHE_CONTROL, KEYS_CACHED)], Json(app.access.authenticator.jwks(app.clock.now())))
        .into_response()
}
