//! Listing and reading gateways.

use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::id::GatewayId;
use perigee_core::page::PageRequest;

use super::view::{GatewayList, GatewayView};
use crate::http::prelude::*;

/// Finds a gateway that the caller may see.
pub(in crate::http::routes) async fn find(
    app: &App,
    caller: &Caller,
    id: Option<GatewayId>,
) -> ApiResult<Gateway> {
    let missing = || not_found(Kind::Gateway);
    let id = id.ok_or_else(missing)?;
    // Reads the first gateway from this id on. If it is another gateway, this one is not visible.
    let page = PageRequest { after: Some(id.as_i64() - 1), limit: 1 };
    let found = app.store.list_gateways(caller.scope(), page).await?.items.into_iter().next();
    found.filter(|gateway| gateway.id == id).ok_or_else(missing)
}

/// List gateways
///
/// Returns the gateways of the account, sorted by ID. The list is complete unless `limit` or `cursor` is given; with
/// either, it is returned in pages. Requires a caller who sees the whole account.
#[utoipa::path(get, path = "/api/gateways", tag = "gateways", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of gateways in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Gateways of the account, sorted by ID.", body = GatewayList)))]
pub async fn list_gateways(Call(app, caller): Call, params: Params) -> ApiResult<Response> {
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
/// Returns a gateway with the health of its messages. Requires a caller who sees the whole account.
#[utoipa::path(get, path = "/api/gateways/{gatewayId}", tag = "gateways",
    responses((status = 200, description = "The gateway with this ID.", body = GatewayView)))]
pub async fn get_gateway(
    Call(app, caller): Call,
    IdPath(id): IdPath<GatewayId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let gateway = find(&app, &caller, id).await?;
    Ok(caller.reply_unless_known(
        &preconditions,
        gateway.revision,
        GatewayView::of(gateway, None, app.clock.now()),
    ))
}
