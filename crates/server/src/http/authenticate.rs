//! Finds the token or session cookie of a request and has it checked; writes the errors of refused clients.

use http::request::Parts;
use http::{HeaderMap, Method, header};
use perigee_core::time::Timestamp;

use super::context::RequestContext;
use super::error::{ApiError, ApiResult, internal};
use super::error_code::ErrorCode;
use super::limit::too_many;
use crate::access::{AccessError, Admitted, Rated};
use crate::app::App;
use crate::auth::{Secret, session};
use crate::serve::PublicOrigin;

/// The cookie of a console session.
pub const SESSION_COOKIE: &str = "perigee_session";
/// The `WWW-Authenticate` header of every 401.
pub const CHALLENGE: &str = "Bearer realm=\"perigee\"";

/// Authenticates a request by its token or else by its cookie.
pub async fn admit(
    app: &App,
    parts: &Parts,
    context: &RequestContext,
    now: Timestamp,
) -> ApiResult<Admitted> {
    let admitted = match parts.headers.get(header::AUTHORIZATION) {
        Some(value) => {
            let Some(token) = bearer_token(value.to_str().unwrap_or_default()) else {
                refuse_many_bad_tokens(context, app.access.rates.bad_token(context.address(), true))?;
                return Err(invalid_token("Send the token as \"Authorization: Bearer <token>\"."));
            };
            app.access.authenticator.admit_token(token, context.address(), now).await
        }
        None => match cookie(&parts.headers) {
            Some(secret) => {
                refuse_foreign_origin(app, parts)?;
                app.access.authenticator.admit_session(*session::hash(&secret).as_bytes(), now).await
            }
            None => return Err(unauthenticated()),
        },
    };
    if let Err(AccessError::TooManyBadTokens(rated)) = admitted {
        context.set_rated(rated);
    }
    Ok(admitted?)
}

impl From<AccessError> for ApiError {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::UnknownToken => {
                invalid_token("The token was not issued by this service. Get one from POST /api/Auth/Token.")
            }
            AccessError::KeyReplaced => invalid_token(
                "The API key of this token was replaced or deleted. Get a token with the current key from POST /api/Auth/Token.",
            ),
            AccessError::TokenExpired => challenged(
                ErrorCode::TokenExpired,
                "The token has expired. Get a new one from POST /api/Auth/Token.",
            ),
            AccessError::SessionOver => session_over(),
            AccessError::TooManyBadTokens(rated) => too_many_bad_tokens(rated),
            AccessError::Store(error) => error.into(),
            AccessError::Keys(error) => internal(error),
        }
    }
}

fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn refuse_many_bad_tokens(context: &RequestContext, rated: Rated) -> ApiResult<()> {
    if rated.allowance.allowed {
        return Ok(());
    }
    context.set_rated(rated);
    Err(too_many_bad_tokens(rated))
}

fn too_many_bad_tokens(rated: Rated) -> ApiError {
    too_many(rated, "Too many requests with an invalid token came from this IP address.")
}

/// Whether a request has a token or a session, valid or not.
pub fn has_credentials(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION) || cookie(headers).is_some()
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

/// Refuses a change that a page of another origin sent with the session cookie. Browsers send `Origin` with every
/// change; a request without it does not come from a browser.
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
        ErrorCode::ForeignOrigin,
        "With a session cookie, changes are accepted only from pages of the console. In a program, send a token instead.",
    ))
}

/// The error for a session that ended or whose user was deleted.
pub fn session_over() -> ApiError {
    ApiError::new(ErrorCode::Unauthenticated, "The session has ended. Sign in again with POST /api/session.")
        .with_header(header::WWW_AUTHENTICATE, CHALLENGE)
}

fn unauthenticated() -> ApiError {
    ApiError::new(
        ErrorCode::Unauthenticated,
        "Send \"Authorization: Bearer <token>\". Get a token from POST /api/Auth/Token with your user name and API key.",
    )
    .with_header(header::WWW_AUTHENTICATE, CHALLENGE)
}

fn invalid_token(message: &str) -> ApiError {
    challenged(ErrorCode::InvalidToken, message)
}

fn challenged(code: ErrorCode, message: &str) -> ApiError {
    let description =
        if code == ErrorCode::TokenExpired { "the token is expired" } else { "the token is not valid" };
    let challenge = format!("{CHALLENGE}, error=\"invalid_token\", error_description=\"{description}\"");
    ApiError::new(code, message).with_header(header::WWW_AUTHENTICATE, &challenge)
}
