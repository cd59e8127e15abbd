//! Who may request tiles that are fetched with the operator's key: signed-in users, and viewers of a valid share link.

use axum::extract::{FromRequestParts, Query};
use http::request::Parts;
use perigee_core::error::Kind;
use perigee_core::id::AccountId;
use serde::Deserialize;

use super::caller::{require_active_user, require_open_account};
use crate::access::TileReader;
use crate::app::App;
use crate::auth::Secret;
use crate::budget::Payer;
use crate::http::authenticate::admit;
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult, not_found};
use crate::http::limit::too_many;

/// A viewer of a map who may request one more tile.
#[derive(Clone, Copy, Debug)]
pub struct MapViewer {
    /// The payer of the tile.
    pub payer: Payer,
}

#[derive(Deserialize)]
struct Shared {
    /// The secret of a share link, on the pages that it opens.
    share: Option<String>,
}

impl FromRequestParts<App> for MapViewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let context = RequestContext::from_request_parts(parts, app).await?;
        let share = Query::<Shared>::try_from_uri(&parts.uri).ok().and_then(|query| query.0.share);
        let (reader, account) = if let Some(secret) = share {
            of_share(app, &context, &secret).await?
        } else {
            let now = app.clock.now();
            let identity = admit(app, parts, &context, now).await?.identity;
            require_open_account(&identity.account)?;
            require_active_user(&identity.user, now)?;
            (TileReader::User(identity.user.id), identity.account.id)
        };
        let rated = app.access.rates.tile(reader, account);
        context.set_rated(rated);
        if !rated.allowance.allowed {
            return Err(too_many(rated, "Too many map tiles were requested."));
        }
        Ok(Self { payer: Payer::client(context.address(), Some(account)) })
    }
}

/// The viewer with the secret of a share link. Invalid secrets are counted like invalid tokens.
async fn of_share(app: &App, context: &RequestContext, secret: &str) -> ApiResult<(TileReader, AccountId)> {
    let refused = app.access.rates.bad_token(context.address(), false);
    if !refused.allowance.allowed {
        context.set_rated(refused);
        return Err(too_many(refused, "Too many invalid links were opened from this IP address."));
    }
    let found = match Secret::parse(secret) {
        Some(secret) => app.store.find_open_share(secret.expose()).await?,
        None => None,
    };
    let Some(share) = found else {
        app.access.rates.bad_token(context.address(), true);
        return Err(not_found(Kind::Share));
    };
    Ok((TileReader::Link(share.id, context.address()), share.account))
}
