//! Alerts of the whole account: listing, reading, acknowledging and ending.

use perigee_core::alerts::alert::{AlertFilter, AlertStage, StoredAlert};
use perigee_core::alerts::severity::Severity;
use perigee_core::id::AlertId;
use perigee_core::locations::place::Reader;

use super::read::read_name;
use super::view::{AlertAnswer, AlertList, AlertView};
use crate::http::history::{HistoryPart, answer_history};
use crate::http::names::{device_param, group_param};
use crate::http::place::place_param;
use crate::http::prelude::*;

/// Stage of an alert. `open`: nobody has acknowledged it and it has not ended. `acknowledged`: somebody has
/// acknowledged it and it has not ended. `ended`: it was ended by a user, its rule or its device.
#[derive(ToSchema)]
#[schema(as = AlertStage, rename_all = "lowercase")]
pub enum StageName {
    /// Not acknowledged and not ended.
    Open,
    /// Acknowledged and not ended.
    Acknowledged,
    /// Ended by a user, by its rule or by its device.
    Ended,
}

async fn read_filter(app: &App, caller: &Caller, params: &mut Params) -> ApiResult<AlertFilter> {
    let name = read_name(params);
    Ok(AlertFilter {
        group: group_param(app, caller, params, "group").await?,
        device: device_param(app, caller, params, "device").await?,
        name,
        severity: params.word("severity", &Severity::ALL.map(|severity| (severity.name(), severity))),
        stage: params.word(
            "stage",
            &[
                ("open", AlertStage::Open),
                ("acknowledged", AlertStage::Acknowledged),
                ("ended", AlertStage::Ended),
            ],
        ),
    })
}

/// List alerts
///
/// Returns the alerts of all devices that are visible to the caller, sorted by `dateTime`. The list is complete unless
/// `limit` or `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/alerts", tag = "alerts", params(
    ("from" = Option<String>, Query, description = "Only alerts whose `dateTime` is at or after this time. Default: no lower bound.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "Only alerts whose `dateTime` is at or before this time. Default: no upper bound.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("group" = Option<String>, Query, description = "Only alerts of devices in this group, by ID or name.", example = "grp_01jc2m8k4n5p6"),
    ("device" = Option<String>, Query, description = "Only alerts of this device, by ID, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("alertName" = Option<String>, Query, description = "Only alerts with this name, in any letter case. Default: all alerts; an empty value has the same effect.", example = "SOSButton", max_length = 100),
    ("severity" = Option<super::view::SeverityName>, Query, description = "Only alerts of this severity or higher."),
    ("stage" = Option<StageName>, Query, description = "Only alerts in this stage."),
    ("order" = Option<crate::http::history::OrderName>, Query, description = "Order by `dateTime`: `asc` for oldest first, `desc` for newest first. Default: `asc`."),
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position in words. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
    ("limit" = Option<u32>, Query, description = "Maximum number of items in a page. Default: 10000 with `cursor`, no limit without.", minimum = 1, maximum = 10000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The alerts, sorted by `dateTime`.", body = AlertList)))]
pub async fn list_all_alerts(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let filter = read_filter(&app, &caller, &mut params).await?;
    let place = place_param(&app, &caller, &mut params).await?;
    let part = HistoryPart::of_params(params, caller.zone(), "alerts", "account")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |request| {
        let (store, filter) = (store.clone(), filter.clone());
        async move { store.list_all_alerts(scope, &filter, request).await }
    };
    answer_history(&app, &caller, "alerts", part, fetch, move |alert| AlertView::described(alert, place))
        .await
}

pub(super) async fn find(app: &App, caller: &Caller, id: Option<AlertId>) -> ApiResult<StoredAlert> {
    let missing = || not_found(Kind::Alert);
    app.store.find_alert(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

fn answer(caller: &Caller, alert: StoredAlert, place: Option<Reader>) -> Reply<AlertAnswer> {
    caller.reply(AlertAnswer { alert: AlertView::described(alert, place) })
}

/// Retrieve an alert
///
/// Returns one alert. Its device must be visible to the caller.
#[utoipa::path(get, path = "/api/alerts/{alertId}", tag = "alerts",
    params(
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position in words. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
    ),
    responses((status = 200, description = "The alert with this ID.", body = AlertAnswer)))]
pub async fn get_alert(
    Call(app, caller): Call,
    IdPath(id): IdPath<AlertId>,
    mut params: Params,
) -> ApiReply<AlertAnswer> {
    let place = place_param(&app, &caller, &mut params).await?;
    params.finish()?;
    let alert = find(&app, &caller, id).await?;
    Ok(answer(&caller, alert, place))
}

/// Acknowledge an alert
///
/// Records that the caller takes care of the alert. Requires the privilege `alerts.write`. The first acknowledgement is
/// kept; repeating the request changes nothing. The escalation of the alert stops, and an event `alert.acknowledged` is
/// created. Notes can be added with `POST /api/alerts/{alertId}/notes`.
#[utoipa::path(post, path = "/api/alerts/{alertId}/acknowledge", tag = "alerts",
    responses((status = 200, description = "The updated alert.", body = AlertAnswer)))]
pub async fn acknowledge_alert(
    Call(app, caller): Call,
    IdPath(id): IdPath<AlertId>,
    params: Params,
) -> ApiReply<AlertAnswer> {
    params.finish()?;
    let alert = find(&app, &caller, id).await?;
    caller.require(Privilege::AlertsWrite)?;
    let alert = app.store.acknowledge_alert(&caller.actor(), alert.id, None).await?;
    Ok(answer(&caller, alert, None))
}

/// End an alert
///
/// Sets `endedAt` of the alert to the current time. Requires the privilege `alerts.write`. The escalation of the alert
/// stops, and an event `alert.ended` is created. Repeating the request changes nothing: `endedAt` keeps its first
/// value.
#[utoipa::path(post, path = "/api/alerts/{alertId}/end", tag = "alerts",
    responses((status = 200, description = "The updated alert.", body = AlertAnswer)))]
pub async fn end_alert(
    Call(app, caller): Call,
    IdPath(id): IdPath<AlertId>,
    params: Params,
) -> ApiReply<AlertAnswer> {
    params.finish()?;
    let alert = find(&app, &caller, id).await?;
    caller.require(Privilege::AlertsWrite)?;
    let alert = app.store.end_alert(&caller.actor(), alert.id).await?;
    Ok(answer(&caller, alert, None))
}
