//! Creating, changing and deleting webhooks.

use axum::extract::State;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::WebhookId;

use super::input::{WebhookInput, read_webhook};
use super::read::{find, require_manager};
use super::view::{WebhookView, WebhookWithSecret};
use crate::app::App;
use crate::http::edit::retry_changed;
use crate::http::error::{ApiError, ApiResult};
use crate::http::extract::{Caller, Change, IdPath, JsonBody, Once, Preconditions};
use crate::http::names::{Named, resolve_names};
use crate::http::reply::{Done, Reply};
use crate::webhook::{generate_secret, show_secret};

/// The members that name devices and groups.
const NAMES: &[(&str, Named)] = &[("devices", Named::Device), ("groups", Named::Group)];

/// Create a webhook
///
/// Creates a webhook that receives events from now on. The caller needs `admin` and must see the whole account. The
/// answer has the secret with which messages are signed; it is returned only once. An account may have up to 100
/// webhooks.
#[utoipa::path(post, path = "/api/webhooks", tag = "webhooks", request_body = WebhookInput,
    responses((status = 201, description = "The webhook was created.", body = WebhookWithSecret)))]
pub async fn create_webhook(
    State(app): State<App>,
    caller: Caller,
    once: Once,
    mut body: JsonBody,
) -> ApiResult<Reply<WebhookWithSecret>> {
    require_manager(&caller)?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let settings = read_webhook(&body.value, app.webhooks.guard())?;
    let held = once.hold(&app, &caller, &body)?;
    let made = app.store.create_webhook(&caller.actor(), settings, generate_secret(), held.key.clone()).await;
    let webhook = place_named(made)??.into_inner();
    let address = app.base_url.join(&format!("/api/webhooks/{}", webhook.id));
    let (revision, secret) = (webhook.revision, show_secret(&webhook.secret));
    let view = WebhookWithSecret { webhook: webhook.into(), secret };
    Ok(caller.reply(view).created(address).revision(revision))
}

/// Replace a webhook
///
/// Sets all settings of a webhook; members that are left out get their defaults. The caller needs `admin` and must
/// see the whole account. The secret stays the same.
#[utoipa::path(put, path = "/api/webhooks/{webhookId}", tag = "webhooks", request_body = WebhookInput,
    params(("webhookId" = String, Path, description = "ID of the webhook.", example = "whk_01jc2m8k4n5p6")),
    responses((status = 200, description = "The webhook, updated.", body = WebhookView)))]
pub async fn replace_webhook(
    state: State<App>,
    caller: Caller,
    id: IdPath<WebhookId>,
    change: Change,
) -> ApiResult<Reply<WebhookView>> {
    change_webhook(state, caller, id, change).await
}

/// Update a webhook
///
/// Changes the members that the body contains and keeps the others. The caller needs `admin` and must see the whole
/// account. The secret stays the same.
#[utoipa::path(patch, path = "/api/webhooks/{webhookId}", tag = "webhooks", request_body = WebhookInput,
    params(("webhookId" = String, Path, description = "ID of the webhook.", example = "whk_01jc2m8k4n5p6")),
    responses((status = 200, description = "The webhook, updated.", body = WebhookView)))]
pub async fn update_webhook(
    state: State<App>,
    caller: Caller,
    id: IdPath<WebhookId>,
    change: Change,
) -> ApiResult<Reply<WebhookView>> {
    change_webhook(state, caller, id, change).await
}

async fn change_webhook(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<WebhookId>,
    change: Change,
) -> ApiResult<Reply<WebhookView>> {
    let webhook = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        change.preconditions.check(Kind::Webhook, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let mut body = change.apply(&WebhookView::from(present)).await?;
        resolve_names(&app, &caller, &mut body, NAMES).await?;
        let settings = read_webhook(&body, app.webhooks.guard())?;
        place_named(app.store.replace_webhook(&caller.actor(), id, seen, settings).await)
    })
    .await?;
    let revision = webhook.revision;
    Ok(caller.reply(WebhookView::from(webhook)).revision(revision))
}

/// Delete a webhook
///
/// Deletes the webhook and its deliveries; waiting messages are not sent. The caller needs `admin` and must see the
/// whole account. The request fails with 409 `in-use` while a routing or a rule names the webhook.
#[utoipa::path(delete, path = "/api/webhooks/{webhookId}", tag = "webhooks",
    params(("webhookId" = String, Path, description = "ID of the webhook.", example = "whk_01jc2m8k4n5p6")),
    responses((status = 200, description = "The webhook was deleted.", body = Done)))]
pub async fn delete_webhook(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<WebhookId>,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        preconditions.check(Kind::Webhook, present.revision)?;
        Ok(app.store.delete_webhook(&caller.actor(), present.id, Some(present.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}

/// Attributes an unknown device or group to the member that names it.
fn place_named<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    match outcome {
        Err(StoreError::UnknownReference { kind, id }) => {
            let member = if kind == Kind::Group { "groups" } else { "devices" };
            Err(ApiError::from(StoreError::UnknownReference { kind, id }).at_member(member))
        }
        outcome => Ok(outcome),
    }
}
