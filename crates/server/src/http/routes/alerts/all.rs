//! Alerts of the whole account: listing, reading, acknowledging and ending.

use axum::extract::State;
use axum::response::Response;
use perigee_core::alert::{AlertFilter, AlertStage, StoredAlert};
use perigee_core::error::Kind;
use perigee_core::id::AlertId;
use perigee_core::place::Reader;
use perigee_core::privilege::Privilege;
use perigee_core::severity::Severity;
use utoipa::ToSchema;

use super::read::read_name;
use super::view::{AlertAnswer, AlertList, AlertView};
use crate::app::App;
use crate::http::error::{ApiResult, not_found};
use crate::http::extract::{Caller, IdPath, Params};
use crate::http::history::{HistoryPart, answer_history};
use crate::http::names::{device_param, group_param};
use crate::http::place::place_param;
use crate::http::reply::Reply;

/// How far an alert has come.
#[derive(ToSchema)]
#[schema(as = AlertStage, rename_all = "lowercase")]
pub enum StageName {
    /// Nobody has taken note of it, and it is not over.
    Open,
    /// Somebody has taken note of it, and it is not over.
    Acknowledged,
    /// Ended by somebody, or by its rule.
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

/// List alerts.
///
/// Of every device in sight, between `from` and `to`, both included. Complete unless `limit` or `cursor` is given.
#[utoipa::path(get, path = "/api/alerts", tag = "alerts", params(
    ("from" = Option<String>, Query, description = "The first instant; the beginning of time when left out.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "The last instant; the end of time when left out.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("group" = Option<String>, Query, description = "Only of devices in this group, by its id or name.", example = "grp_01jc2m8k4n5p6"),
    ("device" = Option<String>, Query, description = "Only of this device, by its id, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("alertName" = Option<String>, Query, description = "Only alerts of this name, in any letter case; empty for every alert.", example = "SOSButton", max_length = 100),
    ("severity" = Option<super::view::SeverityName>, Query, description = "Only alerts that matter at least so much."),
    ("stage" = Option<StageName>, Query, description = "Only alerts that have come so far."),
    ("order" = Option<crate::http::history::OrderName>, Query, description = "Oldest first (`asc`, the default) or newest first (`desc`)."),
    ("place" = Option<bool>, Query, description = "`true` to also tell positions in words, as `place`.", example = true),
    ("language" = Option<crate::http::routes::session_preferences::ConsoleLanguageName>, Query, description = "Language of the words; the caller's own when left out."),
    ("units" = Option<crate::http::routes::alert_routing::view::UnitsName>, Query, description = "Units of the distances in words; the caller's own when left out."),
    ("limit" = Option<u32>, Query, description = "Maximum number of items; the list is then paged.", minimum = 1, maximum = 10000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
), responses((status = 200, description = "The alerts.", body = AlertList)))]
pub async fn list_all_alerts(
    State(app): State<App>,
    caller: Caller,
    mut params: Params,
) -> ApiResult<Response> {
    let filter = read_filter(&app, &caller, &mut params).await?;
    let place = place_param(&app, &caller, &mut params).await?;
    let part = HistoryPart::of_params(params, caller.zone(), "alerts", "account")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |request| {
        let (store, filter) = (store.clone(), filter.clone());
        async move { store.list_all_alerts(scope, &filter, request).await }
    };
    answer_history(&app, &caller, "alerts", part, fetch, move |alert| AlertView::told(alert, place)).await
}

pub(super) async fn find(app: &App, caller: &Caller, id: Option<AlertId>) -> ApiResult<StoredAlert> {
    let missing = || not_found(Kind::Alert);
    app.store.find_alert(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

fn answer(caller: &Caller, alert: StoredAlert, place: Option<Reader>) -> Reply<AlertAnswer> {
    caller.reply(AlertAnswer { alert: AlertView::told(alert, place) })
}

/// Read an alert.
#[utoipa::path(get, path = "/api/alerts/{alertId}", tag = "alerts",
    params(("alertId" = String, Path, description = "The alert's id.", example = "alr_01jc2m8k4n5p9"),
    ("place" = Option<bool>, Query, description = "`true` to also tell positions in words, as `place`.", example = true),
    ("language" = Option<crate::http::routes::session_preferences::ConsoleLanguageName>, Query, description = "Language of the words; the caller's own when left out."),
    ("units" = Option<crate::http::routes::alert_routing::view::UnitsName>, Query, description = "Units of the distances in words; the caller's own when left out."),
    ),
    responses((status = 200, description = "The alert.", body = AlertAnswer)))]
pub async fn get_alert(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<AlertId>,
    mut params: Params,
) -> ApiResult<Reply<AlertAnswer>> {
    let place = place_param(&app, &caller, &mut params).await?;
    params.finish()?;
    let alert = find(&app, &caller, id).await?;
    Ok(answer(&caller, alert, place))
}

/// Take note of an alert.
///
/// The first to do so stays named; doing it again changes nothing. It ends the escalation of the alert. A note can be added
/// with `POST /api/alerts/{alertId}/notes`, before or after. Needs `alerts.write`.
#[utoipa::path(post, path = "/api/alerts/{alertId}/acknowledge", tag = "alerts",
    params(("alertId" = String, Path, description = "The alert's id.", example = "alr_01jc2m8k4n5p9")),
    responses((status = 200, description = "The alert as it is now.", body = AlertAnswer)))]
pub async fn acknowledge_alert(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<AlertId>,
    params: Params,
) -> ApiResult<Reply<AlertAnswer>> {
    params.finish()?;
    let alert = find(&app, &caller, id).await?;
    caller.require(Privilege::AlertsWrite)?;
    let alert = app.store.acknowledge_alert(&caller.actor(), alert.id, None).await?;
    Ok(answer(&caller, alert, None))
}

/// End an alert.
///
/// It stays over since when it first was; doing it again changes nothing. Needs `alerts.write`.
#[utoipa::path(post, path = "/api/alerts/{alertId}/end", tag = "alerts",
    params(("alertId" = String, Path, description = "The alert's id.", example = "alr_01jc2m8k4n5p9")),
    responses((status = 200, description = "The alert as it is now.", body = AlertAnswer)))]
pub async fn end_alert(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<AlertId>,
    params: Params,
) -> ApiResult<Reply<AlertAnswer>> {
    params.finish()?;
    let alert = find(&app, &caller, id).await?;
    caller.require(Privilege::AlertsWrite)?;
    let alert = app.store.end_alert(&caller.actor(), alert.id).await?;
    Ok(answer(&caller, alert, None))
}
