//! The API key of the signed-in user: shown once when it is made, later only by its first characters.

use axum::extract::State;
use perigee_core::credential::ApiKey as KeptKey;
use perigee_core::id::KeyId;
use perigee_core::privilege::Privilege;
use serde::Serialize;
use utoipa::ToSchema;

use super::session::find_self;
use crate::app::App;
use crate::auth::api_key::ApiKey;
use crate::http::error::ApiResult;
use crate::http::extract::{Params, SessionCaller};
use crate::http::reply::{Done, Reply};

/// What is told of an API key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub struct ApiKeyView {
    /// Whether the API is activated.
    #[schema(example = true)]
    active: bool,
    /// The beginning of the key, to recognise it by.
    #[schema(example = "pgk_0JmV")]
    hint: Option<String>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: Option<String>,
    /// When a token was last issued for it, to the minute.
    #[schema(example = "2026-05-02T07:30:00Z", format = DateTime)]
    last_used: Option<String>,
}

/// A new API key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuedApiKey {
    /// The key. It is shown this once; keep it secret.
    #[schema(example = "pgk_0JmVxq9nB3kRtYw6ZcLd2FhGs8Pa4uE1xK0Zq")]
    api_key: String,
    /// Its beginning, to recognise it by.
    #[schema(example = "pgk_0JmV")]
    hint: String,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// Read about the API key.
#[utoipa::path(get, path = "/api/account/apiKey", tag = "account", security(("session" = [])),
    responses((status = 200, description = "Whether there is a key, and what is known of it.", body = ApiKeyView)))]
pub async fn get_api_key(
    State(app): State<App>,
    signed_in: SessionCaller,
    params: Params,
) -> ApiResult<Reply<ApiKeyView>> {
    let caller = signed_in.caller;
    params.finish()?;
    caller.require(Privilege::Api)?;
    let key = find_self(&app, caller.user_id()).await?.api_key;
    Ok(caller.reply(ApiKeyView {
        active: key.is_some(),
        hint: key.as_ref().map(|key| key.hint.clone()),
        creation: key.as_ref().map(|key| key.creation.to_string()),
        last_used: key.and_then(|key| key.last_used).map(|at| at.to_string()),
    }))
}

/// Activate the API, or make a new key.
///
/// The key that was before dies at once, with every token made from it.
#[utoipa::path(post, path = "/api/account/apiKey", tag = "account", security(("session" = [])),
    responses((status = 201, description = "The key, shown this once.", body = IssuedApiKey)))]
pub async fn create_api_key(
    State(app): State<App>,
    signed_in: SessionCaller,
) -> ApiResult<Reply<IssuedApiKey>> {
    let caller = signed_in.caller;
    caller.require(Privilege::Api)?;
    let (key, now) = (ApiKey::generate(), caller.now());
    let kept = KeptKey {
        id: KeyId::random(now),
        hash: *key.hash().as_bytes(),
        hint: key.hint().to_owned(),
        creation: now,
        last_used: None,
    };
    app.store.put_api_key(&caller.origin(), caller.user_id(), kept).await?;
    app.identities.forget_user(caller.user_id());
    let body = IssuedApiKey {
        api_key: key.expose().to_owned(),
        hint: key.hint().to_owned(),
        creation: now.to_string(),
    };
    Ok(caller.reply(body).created(app.base_url.join("/api/account/apiKey")))
}

/// Deactivate the API.
///
/// The key dies at once, with every token made from it. Without a key nothing happens.
#[utoipa::path(delete, path = "/api/account/apiKey", tag = "account", security(("session" = [])),
    responses((status = 200, description = "There is no key any more.", body = Done)))]
pub async fn delete_api_key(State(app): State<App>, signed_in: SessionCaller) -> ApiResult<Reply<Done>> {
    let caller = signed_in.caller;
    caller.require(Privilege::Api)?;
    app.store.delete_api_key(&caller.origin(), caller.user_id()).await?;
    app.identities.forget_user(caller.user_id());
    Ok(caller.reply(Done {}))
}
