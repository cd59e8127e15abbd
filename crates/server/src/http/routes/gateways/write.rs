//! Creating, changing and deleting gateways.

use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::id::GatewayId;
use perigee_core::time::Timestamp;
use perigee_gateways::{Delivery, find_feed};

use super::input::{GatewayChangeInput, GatewayInput, NAMES, read_change, read_gateway};
use super::read::find;
use super::view::GatewayView;
use crate::auth::{Secret, gateway_secret};
use crate::http::prelude::*;

/// Seconds for which the previous address is still accepted.
const OVERLAP_S: i64 = 24 * 60 * 60;

/// The address of a gateway, which contains its secret.
fn url_of(app: &App, gateway: &Gateway, secret: &Secret) -> String {
    app.base_url.join(&format!("/gateways/{}/{}", gateway.settings.feed, secret.expose()))
}

/// Create a gateway
///
/// Creates a gateway. The answer has the `url` to enter at the provider or in the app; it contains a secret and cannot
/// be retrieved again. Feeds that the server fetches (`garmin-history`, `garmin-mapshare`, `spot-feed`), and
/// `directip`, by which it only sends, have no `url`; addresses and passwords are in `options`. The options are checked against the feed: an unknown option, a missing
/// option and an invalid value each fail with 400 and the JSON pointer of the option. An account may have at most 1000
/// gateways. Requires the privilege `devices.write` and a caller who sees the whole account. Sends the event
/// `gateway.created`.
#[utoipa::path(post, path = "/api/gateways", tag = "gateways", request_body = GatewayInput,
    responses((status = 201, description = "The gateway was created.", body = GatewayView)))]
pub async fn create_gateway(
    Call(app, caller): Call,
    once: Once,
    mut body: JsonBody,
) -> ApiReply<GatewayView> {
    caller.require(Privilege::DevicesWrite)?;
    caller.require_whole_account()?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let secret = Secret::generate();
    let new = read_gateway(&body.value, &secret, app.webhooks.guard())?;
    let (hash, held) = (new.secret_hash, once.hold(&app, &caller, &body)?);
    let made = app.store.create_gateway(&caller.actor(), new, held.key.clone()).await;
    let gateway = attribute_reference(made, "deviceId")??.into_inner();
    let address = app.base_url.join(&format!("/api/gateways/{}", gateway.id));
    // A repeated request gets the gateway that the first one created, whose secret is no longer known.
    let is_new = gateway.settings.secret_hash == hash;
    let url = (is_new && has_address(&gateway)).then(|| url_of(&app, &gateway, &secret));
    Ok(caller.reply_at(gateway.revision, GatewayView::of(gateway, url, app.clock.now())).created(address))
}

/// Whether a provider or a phone sends to the URL of the gateway.
fn has_address(gateway: &Gateway) -> bool {
    find_feed(&gateway.settings.feed).is_none_or(|feed| feed.delivery == Delivery::Push)
}

change_handlers! {
    path: "/api/gateways/{gatewayId}", tag: "gateways", body: GatewayChangeInput, answer: GatewayView, "The updated gateway.";
    /// Replace a gateway
    ///
    /// Replaces name, device and options of a gateway. Its feed and URL do not change; `POST
    /// /api/gateways/{gatewayId}/renewAddress` creates a new URL. An option that is omitted is removed; a `password`,
    /// `apiKey` or `token` that is null keeps its value. The new settings apply to messages received from now on, and
    /// to raw messages that are reprocessed. A feed that the server fetches is fetched immediately. Requires the
    /// privilege `devices.write` and a caller who sees the whole account. Sends the event `gateway.updated`.
    replace_gateway,
    /// Update a gateway
    ///
    /// Changes the given settings of a gateway and leaves the others; privileges, effects and events are those of
    /// `PUT /api/gateways/{gatewayId}`. In a merge patch, `"options": {"mapping": {...}}` changes one option and leaves the
    /// others, and an option that is null is removed.
    update_gateway => change_gateway(id: IdPath<GatewayId>)
}

async fn change_gateway(
    Call(app, caller): Call,
    IdPath(id): IdPath<GatewayId>,
    change: Change,
) -> ApiReply<GatewayView> {
    let now = app.clock.now();
    let gateway = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        change.preconditions.check(Kind::Gateway, present.revision)?;
        let mut body = change.apply(&GatewayView::of(present.clone(), None, now)).await?;
        resolve_names(&app, &caller, &mut body, NAMES).await?;
        let settings = read_change(&body, &present, app.webhooks.guard())?;
        let (actor, seen) = (caller.actor(), present.revision);
        attribute_reference(app.store.replace_gateway(&actor, present.id, seen, settings).await, "deviceId")
    })
    .await?;
    Ok(caller.reply_at(gateway.revision, GatewayView::of(gateway, None, now)))
}

/// Renew the address of a gateway
///
/// Creates a new secret for a gateway and returns the new `url`, which cannot be retrieved again. Requests to the
/// previous URL are accepted for another 24 hours, until `previousUrlUntil`, so that no message is lost before the new
/// URL is entered at the provider. If the address is renewed again within that time, only the newest two URLs are
/// accepted. Requires the privilege `devices.write` and a caller who sees the whole account. Sends the event
/// `gateway.updated`.
#[utoipa::path(post, path = "/api/gateways/{gatewayId}/renewAddress", tag = "gateways",
    responses(
        (status = 200, description = "The gateway, with its new URL.", body = GatewayView),
        (status = 409, description = "The server fetches this feed or only sends messages by it, so the gateway has no URL."),
    ))]
pub async fn renew_gateway_address(
    Call(app, caller): Call,
    IdPath(id): IdPath<GatewayId>,
    params: Params,
) -> ApiReply<GatewayView> {
    params.finish()?;
    let present = find(&app, &caller, id).await?;
    caller.require(Privilege::DevicesWrite)?;
    if !has_address(&present) {
        let message = "Nothing is sent to this gateway: the server fetches its feed, or only sends messages by it. It has no address to renew. Change the options of the gateway instead.";
        return Err(ApiError::new(ErrorCode::NoAddress, message));
    }
    let secret = Secret::generate();
    let hash = *gateway_secret::hash(&secret).as_bytes();
    let until = app.clock.now().plus_seconds(OVERLAP_S);
    let gateway = app.store.renew_gateway_secret(&caller.actor(), present.id, hash, until).await?;
    let (url, revision) = (url_of(&app, &gateway, &secret), gateway.revision);
    Ok(caller.reply(GatewayView::of(gateway, Some(url), app.clock.now())).revision(revision))
}

/// Delete a gateway
///
/// Deletes a gateway. Requests to its URL are refused from then on. If raw messages that the gateway received are still
/// stored, the request fails with `in-use` unless it has `messages=keep`; the raw messages are then kept, and are
/// reprocessed with the last settings of the gateway. To correct a gateway, update it instead. Requires the privilege
/// `devices.write` and a caller who sees the whole account. Sends the event `gateway.deleted`.
#[utoipa::path(delete, path = "/api/gateways/{gatewayId}", tag = "gateways",
    params(
        ("messages" = inline(Option<KeptMessages>), Query, description = "`keep`: keep the stored raw messages that the gateway received. Required if there are any."),
    ),
    responses(
        (status = 200, description = "The gateway was deleted.", body = Done),
        (status = 409, description = "Raw messages of the gateway are stored, and `messages` is not given."),
    ))]
pub async fn delete_gateway(
    Call(app, caller): Call,
    IdPath(id): IdPath<GatewayId>,
    preconditions: Preconditions,
    mut params: Params,
) -> ApiReply<Done> {
    let keeps_messages = match params.text("messages").as_deref() {
        None => false,
        Some("keep") => true,
        Some(_) => return Err(invalid_parameter("messages", "The parameter \"messages\" must be \"keep\".")),
    };
    params.finish()?;
    let kept_since = messages_kept_since(&app);
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        preconditions.check(Kind::Gateway, present.revision)?;
        let (actor, seen, since) =
            (caller.actor(), Some(present.revision), (!keeps_messages).then_some(kept_since));
        Ok(app.store.delete_gateway(&actor, present.id, seen, since).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}

/// Treatment of stored raw messages when a gateway is deleted. `keep`: they are kept.
#[derive(utoipa::ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum KeptMessages {
    /// Raw messages are kept until their retention ends, and can be reprocessed.
    Keep,
}

/// The time from which on raw messages are still stored.
fn messages_kept_since(app: &App) -> Timestamp {
    match app.config.retention.raw_message_days {
        0 => Timestamp::MIN,
        days => app.clock.now().plus_seconds(-86_400 * i64::from(days)),
    }
}
