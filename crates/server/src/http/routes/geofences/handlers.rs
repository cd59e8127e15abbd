//! Listing, creating, changing and deleting geofences.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use perigee_core::error::Kind;
use perigee_core::geofence::{Geofence, GeofenceSettings};
use perigee_core::id::GeofenceId;
use perigee_core::privilege::Privilege;
use serde_json::Value;

use super::geometry::has_at_most;
use super::view::{GeofenceInput, GeofenceList, GeofenceView, read_geofence};
use crate::app::App;
use crate::budget::Payer;
use crate::http::edit::retry_changed;
use crate::http::error::{ApiResult, not_found};
use crate::http::extract::{Caller, Change, IdPath, JsonBody, Once, Params, Preconditions, entity_tag};
use crate::http::list::answer_list;
use crate::http::reply::{Done, Reply, not_modified};

/// Positions up to which a geometry is checked on the thread of its connection: some tens of microseconds.
const INLINE_POSITIONS: usize = 100;
/// Memory that checking the largest geometry takes.
const CHECK_BYTES: usize = 512 * 1024;

/// Reads what a client sets of a geofence. A geometry of many positions is checked off the threads that serve
/// connections, when it is the account's turn.
async fn read(app: &App, caller: &Caller, wanted: Value) -> ApiResult<GeofenceSettings> {
    if has_at_most(&wanted["geometry"]["coordinates"], INLINE_POSITIONS) {
        return read_geofence(&wanted);
    }
    let payer = Payer::account(caller.account().id);
    app.budget.run(payer, CHECK_BYTES, move || read_geofence(&wanted)).await?
}

async fn find(app: &App, caller: &Caller, id: Option<GeofenceId>) -> ApiResult<Geofence> {
    let missing = || not_found(Kind::Geofence);
    app.store.find_geofence(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List geofences.
///
/// Complete unless `limit` or `cursor` is given.
#[utoipa::path(get, path = "/api/geofences", tag = "geofences", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items; the list is then paged.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Part of the name or description, in any case."),
), responses((status = 200, description = "The geofences in sight.", body = GeofenceList)))]
pub async fn list_geofences(
    State(app): State<App>,
    caller: Caller,
    mut params: Params,
) -> ApiResult<Response> {
    let text = params.text("q");
    let part = params.finish_list("geofences")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let (store, text) = (store.clone(), text.clone());
        async move { store.list_geofences(scope, text.as_deref(), page).await }
    };
    answer_list(&app, &caller, "geofences", part, fetch, GeofenceView::from).await
}

/// Create a geofence.
#[utoipa::path(post, path = "/api/geofences", tag = "geofences", request_body = GeofenceInput,
    responses((status = 201, description = "The geofence that was made.", body = GeofenceView)))]
pub async fn create_geofence(
    State(app): State<App>,
    caller: Caller,
    once: Once,
    mut body: JsonBody,
) -> ApiResult<Reply<GeofenceView>> {
    caller.require(Privilege::RulesWrite)?;
    let settings = read(&app, &caller, body.value.take()).await?;
    let held = once.hold(&app, &caller, &body)?;
    let created = app.store.create_geofence(&caller.actor(), settings, held.key.clone()).await;
    let geofence = created?.into_inner();
    let address = app.base_url.join(&format!("/api/geofences/{}", geofence.id));
    let revision = geofence.revision;
    Ok(caller.reply(GeofenceView::from(geofence)).created(address).revision(revision))
}

/// Read a geofence.
#[utoipa::path(get, path = "/api/geofences/{geofenceId}", tag = "geofences",
    params(("geofenceId" = String, Path, description = "The geofence's id.", example = "geo_01jc2m8k4n5p6")),
    responses((status = 200, description = "The geofence.", body = GeofenceView)))]
pub async fn get_geofence(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GeofenceId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let geofence = find(&app, &caller, id).await?;
    let tag = entity_tag(geofence.revision);
    if let Some(tag) = preconditions.known(&tag) {
        return Ok(not_modified(&tag));
    }
    let revision = geofence.revision;
    Ok(caller.reply(GeofenceView::from(geofence)).revision(revision).into_response())
}

/// Replace a geofence.
#[utoipa::path(put, path = "/api/geofences/{geofenceId}", tag = "geofences", request_body = GeofenceInput,
    params(("geofenceId" = String, Path, description = "The geofence's id.", example = "geo_01jc2m8k4n5p6")),
    responses((status = 200, description = "The geofence as it is now.", body = GeofenceView)))]
pub async fn replace_geofence(
    state: State<App>,
    caller: Caller,
    id: IdPath<GeofenceId>,
    change: Change,
) -> ApiResult<Reply<GeofenceView>> {
    change_geofence(state, caller, id, change).await
}

/// Change part of a geofence.
#[utoipa::path(patch, path = "/api/geofences/{geofenceId}", tag = "geofences", request_body = GeofenceInput,
    params(("geofenceId" = String, Path, description = "The geofence's id.", example = "geo_01jc2m8k4n5p6")),
    responses((status = 200, description = "The geofence as it is now.", body = GeofenceView)))]
pub async fn update_geofence(
    state: State<App>,
    caller: Caller,
    id: IdPath<GeofenceId>,
    change: Change,
) -> ApiResult<Reply<GeofenceView>> {
    change_geofence(state, caller, id, change).await
}

async fn change_geofence(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GeofenceId>,
    change: Change,
) -> ApiResult<Reply<GeofenceView>> {
    let geofence = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::RulesWrite)?;
        change.preconditions.check(Kind::Geofence, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let settings = read(&app, &caller, change.apply(&GeofenceView::from(present)).await?).await?;
        Ok(app.store.replace_geofence(&caller.actor(), id, seen, settings).await)
    })
    .await?;
    let revision = geofence.revision;
    Ok(caller.reply(GeofenceView::from(geofence)).revision(revision))
}

/// Delete a geofence.
///
/// Refused while a rule looks at it.
#[utoipa::path(delete, path = "/api/geofences/{geofenceId}", tag = "geofences",
    params(("geofenceId" = String, Path, description = "The geofence's id.", example = "geo_01jc2m8k4n5p6")),
    responses((status = 200, description = "The geofence is gone.", body = Done)))]
pub async fn delete_geofence(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GeofenceId>,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::RulesWrite)?;
        preconditions.check(Kind::Geofence, present.revision)?;
        Ok(app.store.delete_geofence(&caller.actor(), present.id, Some(present.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}
