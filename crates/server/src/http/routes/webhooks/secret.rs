//! Rotation of a webhook's secret; both secrets sign messages for a while, so that no message is refused.

use axum::extract::State;
use perigee_core::id::WebhookId;

use super::read::find;
use super::view::WebhookWithSecret;
use crate::app::App;
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, IdPath, Params};
use crate::http::reply::Reply;
use crate::webhook::{generate_secret, show_secret};

/// How long messages are signed with the previous secret too.
const OVERLAP_S: i64 = 24 * 60 * 60;

/// Replace the secret of a webhook.
///
/// The answer shows the new secret, this once. For 24 hours, until `previousSecretUntil`, every message has two
/// signatures, one by the new and one by the previous secret, so that a receiver can change over in its own time.
/// Replaced again within that time, the secret before the previous one counts no longer.
#[utoipa::path(post, path = "/api/webhooks/{webhookId}/rotateSecret", tag = "webhooks",
    params(("webhookId" = String, Path, description = "The webhook's id.", example = "whk_01jc2m8k4n5p6")),
    responses((status = 200, description = "The webhook with its new secret.", body = WebhookWithSecret)))]
pub async fn rotate_webhook_secret(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<WebhookId>,
    params: Params,
) -> ApiResult<Reply<WebhookWithSecret>> {
    params.finish()?;
    let present = find(&app, &caller, id).await?;
    let until = caller.now().plus_seconds(OVERLAP_S);
    let rotated =
        app.store.rotate_webhook_secret(&caller.actor(), present.id, generate_secret(), until).await?;
    let (revision, secret) = (rotated.revision, show_secret(&rotated.secret));
    Ok(caller.reply(WebhookWithSecret { webhook: rotated.into(), secret }).revision(revision))
}
