//! Rotation of a webhook's secret; both secrets sign messages for a while, so that no message is refused.

use perigee_core::id::WebhookId;

use super::read::find;
use super::view::WebhookWithSecret;
use crate::http::prelude::*;
use crate::webhook::{generate_secret, show_secret};

/// Time in which messages are also signed with the previous secret, in seconds: a day.
const OVERLAP_S: i64 = 24 * 60 * 60;

/// Rotate the secret of a webhook
///
/// Replaces the secret with which messages are signed, and returns the new one. Requires the privilege `admin` and a
/// caller who sees the whole account. The secret is returned only once. For 24 hours, until `previousSecretUntil`,
/// every message has two signatures, one with the new and one with the previous secret, so that the receiver can change
/// over without rejecting messages. If the secret is rotated again within that time, the older of the two previous
/// secrets is no longer used.
#[utoipa::path(post, path = "/api/webhooks/{webhookId}/rotateSecret", tag = "webhooks",
    responses((status = 200, description = "The webhook with its new secret.", body = WebhookWithSecret)))]
pub async fn rotate_webhook_secret(
    Call(app, caller): Call,
    IdPath(id): IdPath<WebhookId>,
    params: Params,
) -> ApiReply<WebhookWithSecret> {
    params.finish()?;
    let present = find(&app, &caller, id).await?;
    let until = caller.now().plus_seconds(OVERLAP_S);
    let rotated =
        app.store.rotate_webhook_secret(&caller.actor(), present.id, generate_secret(), until).await?;
    let (revision, secret) = (rotated.revision, show_secret(&rotated.secret));
    Ok(caller.reply(WebhookWithSecret { webhook: rotated.into(), secret }).revision(revision))
}
