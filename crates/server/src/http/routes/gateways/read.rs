//! Listing and reading gateways.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use perigee_core::error::Kind;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::id::GatewayId;
use perigee_core::page::PageRequest;

use super::view::{GatewayList, GatewayView};
use crate::app::App;
use crate::http::error::{ApiResult, not_found};
use crate::http::extract::{Caller, IdPath, Params, Preconditions, entity_tag};
use crate::http::list::answer_list;
use crate::http::reply::not_modified;

/// Finds a gateway that the caller may see.
pub(in crate::http::routes) async fn find(
    app: &App,
    caller: &Caller,
    id: Option<GatewayId>,
) -> ApiResult<Gateway> {
    let missing = || not_found(Kind::Gateway);
    let id = id.ok_or_else(missing)?;
    // Lists one gateway after the preceding id: it is this one, or it is not visible.
    let page = PageRequest { after: Some(id.as_i64() - 1), limit: 1 };
    let found = app.store.list_gateways(caller.scope(), page).await?.items.into_iter().next();
    found.filter(|gateway| gateway.id == id).ok_or_else(missing)
}

/// List gateways
///
/// Returns the gateways of the account, sorted by ID. The list is complete unless `limit` or `cursor` is given; with
/// either, it is returned in pages. Requires a user who may see the whole account.
#[utoipa::path(get, path = "/api/gateways", tag = "gateways", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of gateways in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Gateways of the account.", body = GatewayList)))]
pub async fn list_gateways(State(app): State<App>, caller: Caller, params: Params) -> ApiResult<Response> {
    caller.require_whole_account()?;
    let part = params.finish_list("gateways")?;
    let now = app.clock.now();
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_gateways(scope, page).await }
    };
    answer_list(&app, &caller, "gateways", part, fetch, move |gateway| GatewayView::of(gateway, None, now))
        .await
}

/// Retrieve a gateway
///
/// Returns a gateway with the health of its messages. Requires a user who may see the whole account.
#[utoipa::path(get, path = "/api/gateways/{gatewayId}", tag = "gateways",
    params(("gatewayId" = String, Path, description = "ID of the gateway.", example = "gtw_01jc2m8k4n5p6")),
    responses((status = 200, description = "The gateway with this ID.", body = GatewayView)))]
pub async fn get_gateway(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GatewayId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let gateway = find(&app, &caller, id).await?;
    let tag = entity_tag(gateway.revision);
    if let Some(tag) = preconditions.known(&tag) {
        return Ok(not_modified(&tag));
    }
    let revision = gateway.revision;
    Ok(caller.reply(GatewayView::of(gateway, None, app.clock.now())).revision(revision).into_response())
}
