//! Deliveries of a webhook: listing, testing and retrying.

use perigee_core::id::{DeliveryId, WebhookId};
use perigee_core::webhooks::webhook::{DeliveryState, NewDelivery};
use serde_json::json;

use super::read::find;
use super::view::{DeliveryList, DeliveryStateName, DeliveryView};
use crate::http::extract::IdsPath;
use crate::http::prelude::*;

const PAGE: u32 = 100;
/// The `type` of test messages, which are not events of the log.
pub const TEST: &str = "webhook.test";

/// List deliveries of a webhook
///
/// Returns the deliveries of one webhook, newest first. Requires the privilege `admin` and a caller who sees the whole
/// account. Deliveries that are `delivered` or `failed` are kept for seven days. The list is always returned in pages.
#[utoipa::path(get, path = "/api/webhooks/{webhookId}/deliveries", tag = "webhooks", params(
    ("state" = Option<DeliveryStateName>, Query, description = "Only deliveries in this state.", example = "failed"),
    ("limit" = Option<u32>, Query, description = "Maximum number of deliveries in a page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The deliveries, newest first.", body = DeliveryList)))]
pub async fn list_deliveries(
    Call(app, caller): Call,
    IdPath(id): IdPath<WebhookId>,
    mut params: Params,
) -> ApiResult<Response> {
    let webhook = find(&app, &caller, id).await?.id;
    let state = params.word("state", &DeliveryState::ALL.map(|state| (state.name(), state)));
    let part = params.finish_page("webhook deliveries", PAGE)?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_deliveries(scope, webhook, state, page).await }
    };
    answer_list(&app, &caller, "deliveries", part, fetch, DeliveryView::from).await
}

/// Send a test message to a webhook
///
/// Queues a message of the type `webhook.test`, which is signed and retried like every other. Requires the privilege
/// `admin` and a caller who sees the whole account. `GET /api/webhooks/{webhookId}/deliveries` shows its state. If the
/// webhook is disabled, the message is sent when it is enabled again.
#[utoipa::path(post, path = "/api/webhooks/{webhookId}/test", tag = "webhooks",
    responses((status = 200, description = "The test message was queued.", body = DeliveryView)))]
pub async fn test_webhook(
    Call(app, caller): Call,
    IdPath(id): IdPath<WebhookId>,
    params: Params,
) -> ApiReply<DeliveryView> {
    params.finish()?;
    let webhook = find(&app, &caller, id).await?.id;
    let message = format!("test_{}", DeliveryId::random(caller.now()));
    let body = json!({
        "id": message,
        "type": TEST,
        "at": caller.now().to_string(),
        "device": null,
        "data": { "id": webhook.to_string() },
    });
    let new = NewDelivery { message, kind: TEST.to_owned(), device: None, body: body.to_string() };
    let delivery = app.store.add_delivery(&caller.actor(), webhook, new).await?;
    Ok(caller.reply(DeliveryView::from(delivery)))
}

/// Retry a delivery
///
/// Queues a delivery to be sent at once, whatever its state is. Requires the privilege `admin` and a caller who sees
/// the whole account. It is sent with the same `webhook-id` and retried for up to 72 hours.
#[utoipa::path(post, path = "/api/webhooks/{webhookId}/deliveries/{deliveryId}/retry", tag = "webhooks",
    responses((status = 200, description = "The delivery was queued again.", body = DeliveryView)))]
pub async fn retry_delivery(
    Call(app, caller): Call,
    IdsPath(id, delivery): IdsPath<WebhookId, DeliveryId>,
    params: Params,
) -> ApiReply<DeliveryView> {
    params.finish()?;
    let webhook = find(&app, &caller, id).await?.id;
    let delivery = delivery.ok_or_else(|| not_found(Kind::Delivery))?;
    let delivery = app.store.retry_delivery(&caller.actor(), webhook, delivery).await?;
    Ok(caller.reply(DeliveryView::from(delivery)))
}
