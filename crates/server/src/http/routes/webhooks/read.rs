//! Listing and reading webhooks.

use perigee_core::access::actor::Reach;
use perigee_core::id::WebhookId;
use perigee_core::webhooks::webhook::Webhook;

use super::view::{WebhookList, WebhookView};
use crate::http::prelude::*;

/// A webhook of the caller's account, if the caller may manage it. The lookup comes before the check of privileges, so
/// that an id of another account is "not found" for everybody. Users who are limited to a group or a device see no
/// webhook, so that they cannot find out which ids exist.
pub(super) async fn find(app: &App, caller: &Caller, id: Option<WebhookId>) -> ApiResult<Webhook> {
    let missing = || not_found(Kind::Webhook);
    if caller.scope().reach != Reach::Account {
        return Err(missing());
    }
    let webhook =
        app.store.find_webhook(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)?;
    require_manager(caller)?;
    Ok(webhook)
}

/// Requires an admin who sees the whole account, because a webhook sends all events of the account to any address.
pub(super) fn require_manager(caller: &Caller) -> ApiResult<()> {
    caller.require(Privilege::Admin)?;
    caller.require_whole_account()
}

/// List webhooks
///
/// Returns the webhooks of the account, sorted by ID. Requires the privilege `admin` and a caller who sees the whole
/// account. The list is complete unless `limit` or `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/webhooks", tag = "webhooks", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The webhooks of the account, sorted by ID.", body = WebhookList)))]
pub async fn list_webhooks(Call(app, caller): Call, params: Params) -> ApiResult<Response> {
    require_manager(&caller)?;
    let part = params.finish_list("webhooks")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_webhooks(scope, page).await }
    };
    answer_list(&app, &caller, "webhooks", part, fetch, WebhookView::from).await
}

/// Retrieve a webhook
///
/// Returns one webhook, without its secret. Requires the privilege `admin` and a caller who sees the whole account.
#[utoipa::path(get, path = "/api/webhooks/{webhookId}", tag = "webhooks",
    responses((status = 200, description = "The webhook with this ID.", body = WebhookView)))]
pub async fn get_webhook(
    Call(app, caller): Call,
    IdPath(id): IdPath<WebhookId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let webhook = find(&app, &caller, id).await?;
    Ok(caller.reply_unless_known(&preconditions, webhook.revision, WebhookView::from(webhook)))
}
