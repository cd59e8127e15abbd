//! An operator of the server, signed in to the console.

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::caller::{Caller, SessionCaller};
use crate::app::App;
use crate::http::error::{ApiError, ApiResult, forbidden};

/// A console session of a user who is an operator. Tokens are not sufficient: an API key in a program must not give
/// access to every account.
#[derive(Clone, Debug)]
pub struct OperatorCaller(pub Caller);

impl FromRequestParts<App> for OperatorCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let SessionCaller { caller, .. } = SessionCaller::from_request_parts(parts, app).await?;
        if caller.user().operator {
            return Ok(Self(caller));
        }
        Err(forbidden(
            "This operation requires an operator of the server. The person who runs the server can make you one with \
             \"perigee user set --operator\".",
        ))
    }
}
