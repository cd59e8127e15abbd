//! Reading a device's history of alerts.

use perigee_core::alerts::alert::Alert;
use perigee_core::id::DeviceId;
use perigee_core::locations::place::Reader;

use super::view::{AlertList, AlertView};
use crate::http::history::{HistoryPart, answer_history};
use crate::http::place::place_param;
use crate::http::prelude::*;
use crate::http::routes::devices::find_device;

/// Answers a page of a device's alerts, all or those with one name.
pub(super) async fn answer_alerts(
    app: &App,
    caller: &Caller,
    device: DeviceId,
    name: Option<String>,
    part: HistoryPart,
    place: Option<Reader>,
) -> ApiResult<Response> {
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |request| {
        let (store, name) = (store.clone(), name.clone());
        async move { store.list_alerts(scope, device, name.as_deref(), request).await }
    };
    answer_history(app, caller, "alerts", part, fetch, move |alert| AlertView::described(alert, place)).await
}

/// Takes the name that selects alerts; a missing or empty one selects all.
pub(super) fn read_name(params: &mut Params) -> Option<String> {
    let name = params.text("alertName").filter(|name| !name.is_empty())?;
    if name.chars().count() > Alert::NAME_MAX {
        params.refuse("alertName", "The parameter \"alertName\" must have at most 100 characters.");
    }
    Some(name)
}

/// List alerts of a device
///
/// Returns the alerts of one device, sorted by `dateTime`. The device must be visible to the caller. The list is
/// complete unless `limit` or `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/devices/{deviceId}/alerts", tag = "alerts", params(
    ("from" = Option<String>, Query, description = "Only alerts whose `dateTime` is at or after this time. Default: no lower bound.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "Only alerts whose `dateTime` is at or before this time. Default: no upper bound.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("alertName" = Option<String>, Query, description = "Only alerts with this name, in any letter case. Default: all alerts; an empty value has the same effect.", example = "SOSButton", max_length = 100),
    ("order" = Option<crate::http::history::OrderName>, Query, description = "Order by `dateTime`: `asc` for oldest first, `desc` for newest first. Default: `asc`."),
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position in words. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
    ("limit" = Option<u32>, Query, description = "Maximum number of items in a page. Default: 10000 with `cursor`, no limit without.", minimum = 1, maximum = 10000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The alerts, sorted by `dateTime`.", body = AlertList)))]
pub async fn list_alerts(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiResult<Response> {
    let device = find_device(&app, &caller, device.as_ref()).await?.id;
    let name = read_name(&mut params);
    let place = place_param(&app, &caller, &mut params).await?;
    let part = HistoryPart::of_params(params, caller.zone(), "alerts", device)?;
    answer_alerts(&app, &caller, device, name, part, place).await
}
