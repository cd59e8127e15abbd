//! The API key of the signed-in user: shown once when it is created, later only by its first characters.

use perigee_core::access::credential::ApiKey as StoredKey;
use perigee_core::id::KeyId;

use crate::auth::api_key::ApiKey;
use crate::http::prelude::*;
use crate::http::routes::access::session::find_self;

/// The API key of a user, without its secret part.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub struct ApiKeyView {
    /// Whether the user has an API key.
    #[schema(example = true)]
    active: bool,
    /// First characters of the key, to recognise it. Null if there is no key.
    #[schema(example = "pgk_0JmV")]
    hint: Option<String>,
    /// Time at which the key was created. Null if there is no key.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: Option<String>,
    /// Time at which a token was last issued for the key, accurate to a minute. Null if none was issued yet.
    #[schema(example = "2026-05-02T07:30:00Z", format = DateTime)]
    last_used: Option<String>,
}

/// A new API key, with its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuedApiKey {
    /// The API key. It is shown only once; store it securely.
    #[schema(example = "pgk_0JmVxq9nB3kRtYw6ZcLd2FhGs8Pa4uE1xK0Zq")]
    api_key: String,
    /// First characters of the key, to recognise it.
    #[schema(example = "pgk_0JmV")]
    hint: String,
    /// Time at which the key was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// Retrieve your API key
///
/// Returns whether the signed-in user has an API key, its first characters and when it was last used. The key itself is
/// not returned. Requires a console session and the privilege `api`.
#[utoipa::path(get, path = "/api/account/apiKey", tag = "account", security(("session" = [])),
    responses((status = 200, description = "The API key, without its secret.", body = ApiKeyView)))]
pub async fn get_api_key(
    State(app): State<App>,
    signed_in: SessionCaller,
    params: Params,
) -> ApiReply<ApiKeyView> {
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

/// Create your API key
///
/// Creates an API key for the signed-in user and returns it once. A user has one key: a previous key and every token
/// issued for it are revoked immediately. Requires a console session and the privilege `api`.
#[utoipa::path(post, path = "/api/account/apiKey", tag = "account", security(("session" = [])),
    responses((status = 201, description = "The API key was created. It is shown only once.", body = IssuedApiKey)))]
pub async fn create_api_key(State(app): State<App>, signed_in: SessionCaller) -> ApiReply<IssuedApiKey> {
    let caller = signed_in.caller;
    caller.require(Privilege::Api)?;
    let (key, now) = (ApiKey::generate(), caller.now());
    let stored = StoredKey {
        id: KeyId::random(now),
        hash: *key.hash().as_bytes(),
        hint: key.hint().to_owned(),
        creation: now,
        last_used: None,
    };
    app.store.put_api_key(&caller.origin(), caller.user_id(), stored).await?;
    app.access.identities.invalidate_user(caller.user_id());
    let body = IssuedApiKey {
        api_key: key.expose().to_owned(),
        hint: key.hint().to_owned(),
        creation: now.to_string(),
    };
    Ok(caller.reply(body).created(app.base_url.join("/api/account/apiKey")))
}

/// Revoke your API key
///
/// Revokes the API key of the signed-in user and every token issued for it, immediately. Succeeds without effect if there
/// is no key. Requires a console session and the privilege `api`.
#[utoipa::path(delete, path = "/api/account/apiKey", tag = "account", security(("session" = [])),
    responses((status = 200, description = "The API key was revoked.", body = Done)))]
pub async fn delete_api_key(State(app): State<App>, signed_in: SessionCaller) -> ApiReply<Done> {
    let caller = signed_in.caller;
    caller.require(Privilege::Api)?;
    app.store.delete_api_key(&caller.origin(), caller.user_id()).await?;
    app.access.identities.invalidate_user(caller.user_id());
    Ok(caller.reply(Done {}))
}
