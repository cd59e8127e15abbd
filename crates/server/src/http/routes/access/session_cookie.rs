//! The cookie of a console session: its attributes, and ending the session that the browser had before.

use axum::extract::FromRequestParts;
use http::request::Parts;
use perigee_core::access::actor::Via;

use crate::auth::{Secret, session};
use crate::http::authenticate::{SESSION_COOKIE, cookie};
use crate::http::context::RequestContext;
use crate::http::prelude::*;
use crate::serve::{PublicOrigin, Scheme};

/// How a request reached the server: by TLS or not, and with which session cookie.
#[derive(Debug)]
pub struct Reached {
    by_tls: bool,
    /// The secret of the session that the browser had before.
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

/// The cookie of a session that expires after `seconds`; 0 deletes the cookie.
///
/// It is `Secure` if the base URL, the connection or a trusted proxy says that clients use TLS.
pub(in crate::http::routes) fn session_cookie(
    app: &App,
    reached: &Reached,
    value: &str,
    seconds: u32,
) -> String {
    let path = if app.base_url.prefix().is_empty() { "/" } else { app.base_url.prefix() };
    let is_secure = app.base_url.is_secure() || reached.by_tls;
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{SESSION_COOKIE}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

/// Ends the session that the same browser had before: its cookie is about to be replaced, after which no client could
/// end it.
pub(in crate::http::routes) async fn end_session_before(
    app: &App,
    context: &RequestContext,
    reached: &Reached,
) -> ApiResult<()> {
    let Some(secret) = &reached.before else { return Ok(()) };
    let Some(before) = app.store.find_session(session::hash(secret).as_bytes()).await? else { return Ok(()) };
    app.store.delete_session(&context.origin(Via::Session, Some(before.user)), before.id).await?;
    app.access.identities.invalidate_user(before.user);
    Ok(())
}
