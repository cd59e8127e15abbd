//! Creating, changing and deleting webhooks.

use perigee_core::id::WebhookId;

use super::input::{WebhookInput, read_webhook};
use super::read::{find, require_manager};
use super::view::{WebhookView, WebhookWithSecret};
use crate::http::prelude::*;
use crate::webhook::{generate_secret, show_secret};

/// The members that name devices and groups.
const NAMES: &[(&str, Named)] = &[("devices", Named::Device), ("groups", Named::Group)];

/// Create a webhook
///
/// Creates a webhook that receives events from now on. Requires the privilege `admin` and a caller who sees the whole
/// account. The answer has the secret with which messages are signed; it is returned only once. An account may have up
/// to 100 webhooks.
#[utoipa::path(post, path = "/api/webhooks", tag = "webhooks", request_body = WebhookInput,
    responses((status = 201, description = "The webhook was created.", body = WebhookWithSecret)))]
pub async fn create_webhook(
    Call(app, caller): Call,
    once: Once,
    mut body: JsonBody,
) -> ApiReply<WebhookWithSecret> {
    require_manager(&caller)?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let settings = read_webhook(&body.value, app.webhooks.guard())?;
    let held = once.hold(&app, &caller, &body)?;
    let made = app.store.create_webhook(&caller.actor(), settings, generate_secret(), held.key.clone()).await;
    let webhook = attribute_named(made)??.into_inner();
    let address = app.base_url.join(&format!("/api/webhooks/{}", webhook.id));
    let (revision, secret) = (webhook.revision, show_secret(&webhook.secret));
    let view = WebhookWithSecret { webhook: webhook.into(), secret };
    Ok(caller.reply(view).created(address).revision(revision))
}

change_handlers! {
    path: "/api/webhooks/{webhookId}", tag: "webhooks", body: WebhookInput, answer: WebhookView, "The updated webhook.";
    /// Replace a webhook
    ///
    /// Sets all settings of a webhook; members that are left out get their defaults. Requires the privilege `admin` and
    /// a caller who sees the whole account. The secret stays the same.
    replace_webhook,
    /// Update a webhook
    ///
    /// Changes the members that the body contains and keeps the others. Requires the privilege `admin` and a caller who
    /// sees the whole account. The secret stays the same.
    update_webhook => change_webhook(id: IdPath<WebhookId>)
}

async fn change_webhook(
    Call(app, caller): Call,
    IdPath(id): IdPath<WebhookId>,
    change: Change,
) -> ApiReply<WebhookView> {
    let webhook = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        change.preconditions.check(Kind::Webhook, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let mut body = change.apply(&WebhookView::from(present)).await?;
        resolve_names(&app, &caller, &mut body, NAMES).await?;
        let settings = read_webhook(&body, app.webhooks.guard())?;
        attribute_named(app.store.replace_webhook(&caller.actor(), id, seen, settings).await)
    })
    .await?;
    Ok(caller.reply_at(webhook.revision, WebhookView::from(webhook)))
}

/// Delete a webhook
///
/// Deletes the webhook and its deliveries; waiting messages are not sent. Requires the privilege `admin` and a caller
/// who sees the whole account. The request fails with 409 `in-use` while a routing or a rule names the webhook.
#[utoipa::path(delete, path = "/api/webhooks/{webhookId}", tag = "webhooks",
    responses((status = 200, description = "The webhook was deleted.", body = Done)))]
pub async fn delete_webhook(
    Call(app, caller): Call,
    IdPath(id): IdPath<WebhookId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        preconditions.check(Kind::Webhook, present.revision)?;
        Ok(app.store.delete_webhook(&caller.actor(), present.id, Some(present.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}

/// Attributes an unknown device or group to the member that names it.
fn attribute_named<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    match outcome {
        Err(StoreError::UnknownReference { kind, id }) => {
            let member = if kind == Kind::Group { "groups" } else { "devices" };
            Err(ApiError::from(StoreError::UnknownReference { kind, id }).at_member(member))
        }
        outcome => Ok(outcome),
    }
}
