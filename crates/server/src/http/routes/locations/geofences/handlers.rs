//! Listing, creating, changing and deleting geofences.

use perigee_core::id::GeofenceId;
use perigee_core::locations::geofence::{Geofence, GeofenceSettings};

use super::geometry::has_at_most;
use super::view::{GeofenceInput, GeofenceList, GeofenceView, read_geofence};
use crate::budget::Payer;
use crate::http::prelude::*;

/// Positions up to which a geometry is checked on the thread of its connection: some tens of microseconds.
const INLINE_POSITIONS: usize = 100;
/// Memory that checking the largest geometry takes.
const CHECK_BYTES: usize = 512 * 1024;

/// Reads the settings of a geofence. A geometry of many positions is checked on a blocking thread when it is the
/// account's turn, so that it does not delay other connections.
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

/// List geofences
///
/// Returns the geofences that the caller may see, sorted by ID. The list is complete unless `limit` or `cursor` is
/// given; with either, it is returned in pages. A user who may see only a group or a device may see the geofences that
/// were created within it, and those that its rules use. Any user may call this operation.
#[utoipa::path(get, path = "/api/geofences", tag = "geofences", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of geofences in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Only geofences whose name or description contains this text. Upper and lower case are not distinguished.", example = "harbour"),
), responses((status = 200, description = "Geofences that the caller may see, sorted by ID.", body = GeofenceList)))]
pub async fn list_geofences(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let text = params.text("q");
    let part = params.finish_list("geofences")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let (store, text) = (store.clone(), text.clone());
        async move { store.list_geofences(scope, text.as_deref(), page).await }
    };
    answer_list(&app, &caller, "geofences", part, fetch, GeofenceView::from).await
}

/// Create a geofence
///
/// Creates a geofence, against which rules can test positions. An account may have at most 10,000 geofences with
/// 200,000 positions in total. Requires the privilege `rules.write`.
#[utoipa::path(post, path = "/api/geofences", tag = "geofences", request_body = GeofenceInput,
    responses((status = 201, description = "The geofence was created.", body = GeofenceView)))]
pub async fn create_geofence(
    Call(app, caller): Call,
    once: Once,
    mut body: JsonBody,
) -> ApiReply<GeofenceView> {
    caller.require(Privilege::RulesWrite)?;
    let settings = read(&app, &caller, body.value.take()).await?;
    let held = once.hold(&app, &caller, &body)?;
    let created = app.store.create_geofence(&caller.actor(), settings, held.key.clone()).await;
    let geofence = created?.into_inner();
    let address = app.base_url.join(&format!("/api/geofences/{}", geofence.id));
    Ok(caller.reply_at(geofence.revision, GeofenceView::from(geofence)).created(address))
}

/// Retrieve a geofence
///
/// Returns a geofence as a GeoJSON feature. Any user who may see the geofence may call this operation.
#[utoipa::path(get, path = "/api/geofences/{geofenceId}", tag = "geofences",
    responses((status = 200, description = "The geofence with this ID.", body = GeofenceView)))]
pub async fn get_geofence(
    Call(app, caller): Call,
    IdPath(id): IdPath<GeofenceId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let geofence = find(&app, &caller, id).await?;
    Ok(caller.reply_unless_known(&preconditions, geofence.revision, GeofenceView::from(geofence)))
}

change_handlers! {
    path: "/api/geofences/{geofenceId}", tag: "geofences", body: GeofenceInput, answer: GeofenceView, "The updated geofence.";
    /// Replace a geofence
    ///
    /// Replaces name, description and geometry of a geofence. Rules that use the geofence are evaluated with the new
    /// geometry from now on. Requires the privilege `rules.write`.
    replace_geofence,
    /// Update a geofence
    ///
    /// Changes the given settings of a geofence and leaves the others. Rules that use the geofence are evaluated with the
    /// new geometry from now on. Requires the privilege `rules.write`.
    update_geofence => change_geofence(id: IdPath<GeofenceId>)
}

async fn change_geofence(
    Call(app, caller): Call,
    IdPath(id): IdPath<GeofenceId>,
    change: Change,
) -> ApiReply<GeofenceView> {
    let geofence = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::RulesWrite)?;
        change.preconditions.check(Kind::Geofence, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let settings = read(&app, &caller, change.apply(&GeofenceView::from(present)).await?).await?;
        Ok(app.store.replace_geofence(&caller.actor(), id, seen, settings).await)
    })
    .await?;
    Ok(caller.reply_at(geofence.revision, GeofenceView::from(geofence)))
}

/// Delete a geofence
///
/// Deletes a geofence. The request fails with `in-use` while a rule uses the geofence. Requires the privilege
/// `rules.write`.
#[utoipa::path(delete, path = "/api/geofences/{geofenceId}", tag = "geofences",
    responses((status = 200, description = "The geofence was deleted.", body = Done)))]
pub async fn delete_geofence(
    Call(app, caller): Call,
    IdPath(id): IdPath<GeofenceId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::RulesWrite)?;
        preconditions.check(Kind::Geofence, present.revision)?;
        Ok(app.store.delete_geofence(&caller.actor(), present.id, Some(present.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}
