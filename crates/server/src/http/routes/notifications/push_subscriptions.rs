//! Push subscriptions: the browsers in which the signed-in user is notified.

use http::{HeaderMap, StatusCode};
use perigee_core::id::PushSubscriptionId;
use perigee_core::notifications::push::PushSubscription;
use perigee_notify::push::PushKey;

use crate::http::prelude::*;
use crate::http::routes::notifications::push_views::{
    PushKeyView, PushSettingsInput, PushSubscriptionInput, PushSubscriptionList, PushSubscriptionView,
    read_new, read_settings,
};

/// The keys of this server by their public keys: the first is for new subscriptions.
async fn keys(app: &App) -> ApiResult<Vec<PushKey>> {
    let stored = app.store.list_push_keys().await?;
    stored.iter().map(|key| PushKey::from_pkcs8(&key.pkcs8).map_err(internal)).collect()
}

async fn find(app: &App, caller: &Caller, id: Option<PushSubscriptionId>) -> ApiResult<PushSubscription> {
    let missing = || not_found(Kind::PushSubscription);
    let (scope, user) = (caller.scope(), caller.user_id());
    app.store.find_push_subscription(scope, user, id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// A view of subscriptions for the caller: which of them is of this session and of the current key.
struct Viewer {
    session: perigee_core::id::SessionId,
    current_key: Option<String>,
}

impl Viewer {
    async fn of(app: &App, signed_in: &SessionCaller) -> ApiResult<Self> {
        let current_key = app.store.list_push_keys().await?.into_iter().next().map(|key| key.kid);
        Ok(Self { session: signed_in.session.id, current_key })
    }

    fn view(&self, subscription: PushSubscription) -> PushSubscriptionView {
        let is_current = self.current_key.as_ref() == Some(&subscription.key_id);
        PushSubscriptionView::of(subscription, self.session, is_current)
    }
}

/// Retrieve the key of Web Push
///
/// Returns the public key with which a browser subscribes: the option `applicationServerKey` of
/// `PushManager.subscribe()`. The operator can rotate it; a browser that is subscribed with an older key must subscribe
/// again. Requires a console session.
#[utoipa::path(get, path = "/api/account/pushKey", tag = "account", security(("session" = [])),
    responses((status = 200, description = "The key, and whether the server sends to browsers.", body = PushKeyView)))]
pub async fn get_push_key(
    State(app): State<App>,
    SessionCaller { caller, .. }: SessionCaller,
    params: Params,
) -> ApiReply<PushKeyView> {
    params.finish()?;
    let key = keys(&app).await?.into_iter().next();
    let public_key =
        key.as_ref().map(PushKey::public).ok_or_else(|| internal("there is no key of Web Push"))?;
    Ok(caller.reply(PushKeyView { public_key: public_key.to_owned(), enabled: app.config.push.enabled }))
}

/// List your push subscriptions
///
/// Returns the browsers in which the signed-in user is notified of alerts, sorted by ID. Whoever names the user in a
/// routing, a rule or an escalation notifies these browsers too, and so does the watch list of the user. Requires a
/// console session.
#[utoipa::path(get, path = "/api/account/pushSubscriptions", tag = "account", security(("session" = [])),
    responses((status = 200, description = "Push subscriptions of the user, sorted by ID.", body = PushSubscriptionList)))]
pub async fn list_push_subscriptions(
    State(app): State<App>,
    signed_in: SessionCaller,
    params: Params,
) -> ApiReply<PushSubscriptionList> {
    params.finish()?;
    let viewer = Viewer::of(&app, &signed_in).await?;
    let caller = signed_in.caller;
    let all = app.store.list_push_subscriptions(caller.scope(), caller.user_id()).await?;
    let push_subscriptions = all.into_iter().map(|one| viewer.view(one)).collect();
    Ok(caller.reply(PushSubscriptionList { push_subscriptions }))
}

/// Create a push subscription
///
/// Subscribes a browser of the signed-in user, with the values of `PushSubscription.toJSON()`. If the user has a
/// subscription with the same `endpoint`, that one is replaced and keeps its ID; one of another user of the account is
/// deleted. A user may have up to 20. The subscription ends when the user signs out of the session, is disabled or
/// deleted, gets access to other devices or sets a new password in another session, and when the push service reports
/// that the browser is no longer subscribed. Requires a console session.
#[utoipa::path(post, path = "/api/account/pushSubscriptions", tag = "account", security(("session" = [])),
    request_body = PushSubscriptionInput,
    responses((status = 201, description = "The push subscription was created.", body = PushSubscriptionView)))]
pub async fn create_push_subscription(
    State(app): State<App>,
    signed_in: SessionCaller,
    headers: HeaderMap,
    once: Once,
    body: JsonBody,
) -> ApiReply<PushSubscriptionView> {
    let viewer = Viewer::of(&app, &signed_in).await?;
    let keys = keys(&app).await?;
    let SessionCaller { caller, session } = signed_in;
    let new = read_new(&body.value, &headers, app.webhooks.guard(), &keys, session.id)?;
    let held = once.hold(&app, &caller, &body)?;
    let (actor, user) = (caller.actor(), caller.user_id());
    let created = app.store.create_push_subscription(&actor, user, new, held.key.clone()).await?.into_inner();
    let address = app.base_url.join(&format!("/api/account/pushSubscriptions/{}", created.id));
    Ok(caller.reply_at(created.revision, viewer.view(created)).created(address))
}

/// Retrieve a push subscription
///
/// Returns one push subscription of the signed-in user. Requires a console session.
#[utoipa::path(get, path = "/api/account/pushSubscriptions/{pushSubscriptionId}", tag = "account",
    security(("session" = [])),
    responses((status = 200, description = "The push subscription.", body = PushSubscriptionView)))]
pub async fn get_push_subscription(
    State(app): State<App>,
    signed_in: SessionCaller,
    IdPath(id): IdPath<PushSubscriptionId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let viewer = Viewer::of(&app, &signed_in).await?;
    let caller = signed_in.caller;
    let present = find(&app, &caller, id).await?;
    Ok(caller.reply_unless_known(&preconditions, present.revision, viewer.view(present)))
}

/// Replace a push subscription
///
/// Sets the name, the severities and the quiet hours of a push subscription. Requires a console session.
#[utoipa::path(put, path = "/api/account/pushSubscriptions/{pushSubscriptionId}", tag = "account",
    security(("session" = [])), request_body = PushSettingsInput,
    responses((status = 200, description = "The updated push subscription.", body = PushSubscriptionView)))]
pub async fn replace_push_subscription(
    state: State<App>,
    signed_in: SessionCaller,
    id: IdPath<PushSubscriptionId>,
    change: Change,
) -> ApiReply<PushSubscriptionView> {
    change_subscription(state, signed_in, id, change).await
}

/// Update a push subscription
///
/// Changes the members that the body contains and keeps the others. Requires a console session.
#[utoipa::path(patch, path = "/api/account/pushSubscriptions/{pushSubscriptionId}", tag = "account",
    security(("session" = [])), request_body = PushSettingsInput,
    responses((status = 200, description = "The updated push subscription.", body = PushSubscriptionView)))]
pub async fn update_push_subscription(
    state: State<App>,
    signed_in: SessionCaller,
    id: IdPath<PushSubscriptionId>,
    change: Change,
) -> ApiReply<PushSubscriptionView> {
    change_subscription(state, signed_in, id, change).await
}

async fn change_subscription(
    State(app): State<App>,
    signed_in: SessionCaller,
    IdPath(id): IdPath<PushSubscriptionId>,
    change: Change,
) -> ApiReply<PushSubscriptionView> {
    let viewer = Viewer::of(&app, &signed_in).await?;
    let caller = signed_in.caller;
    let changed = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        change.preconditions.check(Kind::PushSubscription, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let settings = read_settings(&change.apply(&viewer.view(present)).await?)?;
        let (actor, user) = (caller.actor(), caller.user_id());
        Ok(app.store.replace_push_subscription(&actor, user, id, seen, settings).await)
    })
    .await?;
    Ok(caller.reply_at(changed.revision, viewer.view(changed)))
}

/// Delete a push subscription
///
/// Deletes the push subscription: the browser is no longer notified. Requires a console session.
#[utoipa::path(delete, path = "/api/account/pushSubscriptions/{pushSubscriptionId}", tag = "account",
    security(("session" = [])),
    responses((status = 200, description = "The push subscription was deleted.", body = Done)))]
pub async fn delete_push_subscription(
    State(app): State<App>,
    SessionCaller { caller, .. }: SessionCaller,
    IdPath(id): IdPath<PushSubscriptionId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        preconditions.check(Kind::PushSubscription, present.revision)?;
        let (actor, seen) = (caller.actor(), Some(present.revision));
        Ok(app.store.delete_push_subscription(&actor, caller.user_id(), present.id, seen).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}

/// Send a test to a browser
///
/// Queues a test notification to the browser, whatever its severities and quiet hours are. `GET /api/notifications`
/// shows its delivery state. It counts against the daily cap of the account, and against the test messages that an
/// account may send in an hour. Requires a console session.
#[utoipa::path(post, path = "/api/account/pushSubscriptions/{pushSubscriptionId}/test", tag = "account",
    security(("session" = [])),
    responses((status = 202, description = "The test notification was queued.", body = Done)))]
pub async fn test_push_subscription(
    State(app): State<App>,
    SessionCaller { caller, .. }: SessionCaller,
    IdPath(id): IdPath<PushSubscriptionId>,
    params: Params,
) -> ApiReply<Done> {
    let present = find(&app, &caller, id).await?;
    params.finish()?;
    if !app.store.test_push_subscription(&caller.actor(), caller.user_id(), present.id).await? {
        return Err(ApiError::new(
            ErrorCode::RateLimited,
            "The account has sent too many test messages in the last hour. Wait an hour and try again.",
        ));
    }
    Ok(caller.reply(Done {}).status(StatusCode::ACCEPTED))
}
