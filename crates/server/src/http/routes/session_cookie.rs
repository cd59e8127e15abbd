//! The cookie of a console session: its attributes, and ending the session that the browser had before.

use axum::extract::FromRequestParts;
use http::request::Parts;
use perigee_core::actor::Via;

use crate::app::App;
use crate::auth::{Secret, session};
use crate::http::authenticate::{SESSION_COOKIE, cookie};
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult};
use crate::serve::{PublicOrigin, Scheme};

/// How a request came here.
#[derive(Debug)]
pub struct Reached {
    by_tls: bool,
    /// The session that the browser had before.
    before: Option<Secret>,
}

impl FromRequestParts<App> for Reached {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> ApiResult<Self> {
        let origin = parts.extensions.get::<PublicOrigin>();
        let by_tls = origin.is_some_and(|origin| origin.scheme == Scheme::Https);
        Ok(Self { by_tls, before: cookie(&parts.headers) })
    }
}

/// The cookie that holds a session for so many seconds; none ends it.
///
/// It is bound to TLS where clients use that: by the address they use, or as the connection or a trusted proxy says.
pub(super) fn session_cookie(app: &App, reached: &Reached, value: &str, seconds: u32) -> String {
    let path = if app.base_url.prefix().is_empty() { "/" } else { app.base_url.prefix() };
    let is_secure = app.base_url.is_secure() || reached.by_tls;
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{SESSION_COOKIE}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

/// Ends the session that the same browser had: its cookie is about to be replaced, and nobody could end it any more.
pub(super) async fn end_session_before(
    app: &App,
    context: &RequestContext,
    reached: &Reached,
) -> ApiResult<()> {
    let Some(secret) = &reached.before else { return Ok(()) };
    let Some(before) = app.store.find_session(session::hash(secret).as_bytes()).await? else { return Ok(()) };
    app.store.delete_session(&context.origin(Via::Session, Some(before.user)), before.id).await?;
    app.identities.forget_user(before.user);
    Ok(())
}
