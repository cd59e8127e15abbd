//! Creating, changing and deleting gateways.

use axum::extract::State;
use perigee_core::account_gateway::Gateway;
use perigee_core::error::Kind;
use perigee_core::id::GatewayId;
use perigee_core::privilege::Privilege;
use perigee_core::time::Timestamp;

use super::input::{GatewayChangeInput, GatewayInput, NAMES, read_change, read_gateway};
use super::read::find;
use super::view::GatewayView;
use crate::app::App;
use crate::auth::{Secret, gateway_secret};
use crate::http::edit::{place_reference, retry_changed};
use crate::http::error::{ApiError, ApiResult, invalid_parameter};
use crate::http::error_code::ErrorCode;
use crate::http::extract::{Caller, Change, IdPath, JsonBody, Once, Params, Preconditions};
use crate::http::names::resolve_names;
use crate::http::reply::{Done, Reply};

/// How long the address before the present one is answered.
const OVERLAP_S: i64 = 24 * 60 * 60;

/// The address that the holder of a secret sends messages to.
fn url_of(app: &App, gateway: &Gateway, secret: &Secret) -> String {
    app.base_url.join(&format!("/gateways/{}/{}", gateway.settings.feed, secret.expose()))
}

/// Create a gateway.
///
/// Feeds that the service fetches (`garmin-history`, `garmin-mapshare`, `spot-feed`) have their addresses and passwords in
/// `options`. Of the others the answer has the `url` to enter at the provider or in the app; it cannot be read again.
/// `options` are checked against the feed: an unknown name, a missing option and a wrong value each give 400 with their
/// place. Needs `devices.write` and a user who sees the whole account.
#[utoipa::path(post, path = "/api/gateways", tag = "gateways", request_body = GatewayInput,
    responses((status = 201, description = "The gateway that was made.", body = GatewayView)))]
pub async fn create_gateway(
    State(app): State<App>,
    caller: Caller,
    once: Once,
    mut body: JsonBody,
) -> ApiResult<Reply<GatewayView>> {
    caller.require(Privilege::DevicesWrite)?;
    caller.require_whole_account()?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let secret = Secret::generate();
    let new = read_gateway(&body.value, &secret, app.webhooks.guard())?;
    let (hash, held) = (new.secret_hash, once.hold(&app, &caller, &body)?);
    let made = app.store.create_gateway(&caller.actor(), new, held.key.clone()).await;
    let gateway = place_reference(made, "deviceId")??.into_inner();
    let address = app.base_url.join(&format!("/api/gateways/{}", gateway.id));
    // A repeated request gets the gateway that the first one made, whose secret is no longer known.
    let is_new = gateway.settings.secret_hash == hash;
    let url = (is_new && !gateway.settings.polled).then(|| url_of(&app, &gateway, &secret));
    let revision = gateway.revision;
    Ok(caller.reply(GatewayView::of(gateway, url, app.clock.now())).created(address).revision(revision))
}

/// Replace a gateway.
///
/// Changes name, device and options. The feed and the address stay; see `renewAddress` for another address. Options that are
/// left out are removed; a password, key or token that is null stays as it is. The new settings count for messages from now
/// on, and for those that are reprocessed. A feed that the service fetches is fetched at once. Sends the event
/// `gateway.updated`. Needs `devices.write` and a user who sees the whole account.
#[utoipa::path(put, path = "/api/gateways/{gatewayId}", tag = "gateways", request_body = GatewayChangeInput,
    params(("gatewayId" = String, Path, description = "The gateway's id.", example = "gtw_01jc2m8k4n5p6")),
    responses((status = 200, description = "The gateway as it is now.", body = GatewayView)))]
pub async fn replace_gateway(
    state: State<App>,
    caller: Caller,
    id: IdPath<GatewayId>,
    change: Change,
) -> ApiResult<Reply<GatewayView>> {
    change_gateway(state, caller, id, change).await
}

/// Change part of a gateway.
///
/// Changes name, device and options as PUT does. In a merge patch, `"options": {"mapping": {...}}` changes one option and
/// leaves the others, and an option that is null is removed.
#[utoipa::path(patch, path = "/api/gateways/{gatewayId}", tag = "gateways", request_body = GatewayChangeInput,
    params(("gatewayId" = String, Path, description = "The gateway's id.", example = "gtw_01jc2m8k4n5p6")),
    responses((status = 200, description = "The gateway as it is now.", body = GatewayView)))]
pub async fn update_gateway(
    state: State<App>,
    caller: Caller,
    id: IdPath<GatewayId>,
    change: Change,
) -> ApiResult<Reply<GatewayView>> {
    change_gateway(state, caller, id, change).await
}

async fn change_gateway(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GatewayId>,
    change: Change,
) -> ApiResult<Reply<GatewayView>> {
    let now = app.clock.now();
    let gateway = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        change.preconditions.check(Kind::Gateway, present.revision)?;
        let mut body = change.apply(&GatewayView::of(present.clone(), None, now)).await?;
        resolve_names(&app, &caller, &mut body, NAMES).await?;
        let settings = read_change(&body, &present, app.webhooks.guard())?;
        let (actor, seen) = (caller.actor(), present.revision);
        place_reference(app.store.replace_gateway(&actor, present.id, seen, settings).await, "deviceId")
    })
    .await?;
    let revision = gateway.revision;
    Ok(caller.reply(GatewayView::of(gateway, None, now)).revision(revision))
}

/// Renew the address of a gateway.
///
/// The answer has the new `url`, shown this once. The address before it is answered for 24 hours too, until
/// `previousUrlUntil`, so that nothing is lost until the new one is entered at the provider. Renewed again within that time,
/// the address before the previous one is not answered any longer. Refused (409) for feeds that the service fetches: they
/// have no address. Sends the event `gateway.updated`. Needs `devices.write` and a user who sees the whole account.
#[utoipa::path(post, path = "/api/gateways/{gatewayId}/renewAddress", tag = "gateways",
    params(("gatewayId" = String, Path, description = "The gateway's id.", example = "gtw_01jc2m8k4n5p6")),
    responses(
        (status = 200, description = "The gateway with its new address.", body = GatewayView),
        (status = 409, description = "The feed is fetched by the service: the gateway has no address."),
    ))]
pub async fn renew_gateway_address(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GatewayId>,
    params: Params,
) -> ApiResult<Reply<GatewayView>> {
    params.finish()?;
    let present = find(&app, &caller, id).await?;
    caller.require(Privilege::DevicesWrite)?;
    if present.settings.polled {
        let message =
            "The service fetches this feed, so that the gateway has no address. Change its options instead.";
        return Err(ApiError::new(ErrorCode::NoAddress, message));
    }
    let secret = Secret::generate();
    let hash = *gateway_secret::hash(&secret).as_bytes();
    let until = app.clock.now().plus_seconds(OVERLAP_S);
    let gateway = app.store.renew_gateway_secret(&caller.actor(), present.id, hash, until).await?;
    let (url, revision) = (url_of(&app, &gateway, &secret), gateway.revision);
    Ok(caller.reply(GatewayView::of(gateway, Some(url), app.clock.now())).revision(revision))
}

/// Delete a gateway.
///
/// Its address is not answered from then on. If messages came by it within the time that raw messages are kept, the request
/// is refused (409) unless it has `messages=keep`. The messages then stay, and are reprocessed with the settings that the
/// gateway had. To correct a gateway, change it instead. Sends the event `gateway.deleted`. Needs `devices.write` and a user
/// who sees the whole account.
#[utoipa::path(delete, path = "/api/gateways/{gatewayId}", tag = "gateways",
    params(
        ("gatewayId" = String, Path, description = "The gateway's id.", example = "gtw_01jc2m8k4n5p6"),
        ("messages" = inline(Option<KeptMessages>), Query, description = "What becomes of the messages that came by it: `keep` lets them stay. Needed if there are any."),
    ),
    responses(
        (status = 200, description = "The gateway was deleted.", body = Done),
        (status = 409, description = "Messages came by the gateway, and `messages` is not given."),
    ))]
pub async fn delete_gateway(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GatewayId>,
    preconditions: Preconditions,
    mut params: Params,
) -> ApiResult<Reply<Done>> {
    let keeps = match params.text("messages").as_deref() {
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
        let (actor, seen, since) = (caller.actor(), Some(present.revision), (!keeps).then_some(kept_since));
        Ok(app.store.delete_gateway(&actor, present.id, seen, since).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}

/// The value of `messages`.
#[derive(utoipa::ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum KeptMessages {
    /// They stay until their retention ends, and can be reprocessed.
    Keep,
}

/// The instant from which on raw messages are still stored.
fn messages_kept_since(app: &App) -> Timestamp {
    match app.config.retention.raw_message_days {
        0 => Timestamp::MIN,
        days => app.clock.now().plus_seconds(-86_400 * i64::from(days)),
    }
}
