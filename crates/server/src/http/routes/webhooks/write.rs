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

/// The members that name other things.
const NAMES: &[(&str, Named)] = &[("devices", Named::Device), ("groups", Named::Group)];

/// Create a webhook.
///
/// It is told of what happens from now on. The answer shows its secret, this once.
#[utoipa::path(post, path = "/api/webhooks", tag = "webhooks", request_body = WebhookInput,
    responses((status = 201, description = "The webhook that was made, with its secret.", body = WebhookWithSecret)))]
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

/// Replace a webhook.
#[utoipa::path(put, path = "/api/webhooks/{webhookId}", tag = "webhooks", request_body = WebhookInput,
    params(("webhookId" = String, Path, description = "The webhook's id.", example = "whk_01jc2m8k4n5p6")),
    responses((status = 200, description = "The webhook as it is now.", body = WebhookView)))]
pub async fn replace_webhook(
    state: State<App>,
    caller: Caller,
    id: IdPath<WebhookId>,
    change: Change,
) -> ApiResult<Reply<WebhookView>> {
    change_webhook(state, caller, id, change).await
}

/// Change part of a webhook.
#[utoipa::path(patch, path = "/api/webhooks/{webhookId}", tag = "webhooks", request_body = WebhookInput,
    params(("webhookId" = String, Path, description = "The webhook's id.", example = "whk_01jc2m8k4n5p6")),
    responses((status = 200, description = "The webhook as it is now.", body = WebhookView)))]
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

/// Delete a webhook.
///
/// What was on its way to it is not sent any more.
#[utoipa::path(delete, path = "/api/webhooks/{webhookId}", tag = "webhooks",
    params(("webhookId" = String, Path, description = "The webhook's id.", example = "whk_01jc2m8k4n5p6")),
    responses((status = 200, description = "The webhook is gone.", body = Done)))]
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

/// Puts an unknown device or group at the member that names it.
fn place_named<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    match outcome {
        Err(StoreError::UnknownReference { kind, id }) => {
            let member = if kind == Kind::Group { "groups" } else { "devices" };
            Err(ApiError::from(StoreError::UnknownReference { kind, id }).at_member(member))
        }
        outcome => Ok(outcome),
    }
}
