//! Saved reports: reports with a name, which can be run again and mailed by a schedule.

use perigee_core::id::SavedReportId;
use perigee_core::reports::{SavedReport, SavedReportSettings};
use perigee_core::text::Name;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::input::{NAMES, ReportInput, read_stored};
use super::run::{FormatName, ReportView, answer, check_visible, choose};
use super::schedule::{ReportRunView, ReportScheduleInput, ReportScheduleView};
use crate::http::input::Object;
use crate::http::prelude::*;
use crate::http::routes::notifications::alert_routing::{ask_to_confirm, named_addresses};
use crate::reports::ReadReport;

/// Reads the report of a saved report.
pub const READ_REPORT: ReadReport = read_stored;

/// A report with a name.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SavedReport)]
pub struct SavedReportView {
    /// Unique identifier of the saved report, assigned by the server. It never changes.
    #[schema(example = "rpt_01jc2m8k4n5p6")]
    id: String,
    /// Name of the saved report, shown in lists and e-mails.
    #[schema(example = "Week of the vans")]
    name: String,
    /// The report, as `POST /api/reports/run` takes it.
    #[schema(value_type = ReportInput)]
    report: Value,
    /// When the report is made and mailed. Null if it is not.
    schedule: Option<ReportScheduleView>,
    /// ID of the user who created the saved report. Scheduled reports show what this user may see when they are made. Null
    /// if the operator of the server created it.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    owner: Option<String>,
    /// URL of the page of the report in the console, which requires signing in.
    #[schema(example = "https://track.example.com/reports/rpt_01jc2m8k4n5p6")]
    url: String,
    /// Time at which the report is made next, or tried again. Null without a schedule, and while it is paused.
    #[schema(example = "2026-05-11T05:00:00Z", format = DateTime)]
    next_run: Option<String>,
    /// Why the schedule makes nothing at present. `off`: it is not enabled. `ownerDeleted`, `ownerInactive`: the owner was
    /// deleted, or is disabled, has expired or is not valid yet. Null if it makes reports, or if there is none.
    #[schema(value_type = Option<String>, example = json!(null), pattern = "^(off|ownerDeleted|ownerInactive)$")]
    paused: Option<&'static str>,
    /// The latest run of the schedule. Null before the first.
    last_run: Option<ReportRunView>,
    /// Time at which the saved report was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the saved report.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

list! {
    /// A list of saved reports.
    pub struct SavedReportList;
    /// The saved reports, sorted by ID.
    reports: SavedReportView,
}

list! {
    /// Runs of a scheduled report.
    pub struct ReportRunList;
    /// The runs, the latest first.
    runs: ReportRunView,
}

input! {
    /// Settings of a saved report.
    #[example({
        "name": "Week of the vans",
        "report": { "kind": "totals", "period": "lastWeek", "interval": "day", "groupBy": "device" },
        "schedule": {
            "frequency": "weekly", "weekdays": ["monday"], "time": "07:00", "timeZone": "Europe/Madrid", "format": "xlsx",
            "recipients": [{ "channel": "email", "address": "ana@example.com" }]
        }
    })]
    struct SavedReportInput {
        /// Name of the saved report, shown in lists and e-mails.
        name: Name, required, example "Week of the vans";
        /// The report, as `POST /api/reports/run` takes it, but with a `period` instead of `from` and `to`.
        report: Object<ReportInput>, required;
        /// When the report is made and mailed. Default: not at all.
        schedule: Object<ReportScheduleInput>, nullable;
    }
}

impl SavedReportView {
    fn new(app: &App, saved: SavedReport) -> Self {
        Self {
            url: app.base_url.join(&format!("/reports/{}", saved.id)),
            id: saved.id.to_string(),
            name: saved.settings.name,
            report: saved.settings.report,
            schedule: saved.settings.schedule.map(ReportScheduleView::from),
            owner: saved.owner.map(|owner| owner.to_string()),
            next_run: saved.next_run.map(|at| at.to_string()),
            paused: saved.paused.map(perigee_core::reports::Paused::name),
            last_run: saved.last_run.map(ReportRunView::from),
            creation: saved.creation.to_string(),
            last_modified: saved.last_modified.to_string(),
        }
    }
}

/// Members of the view that a client does not set.
const READ_ONLY: &[&str] =
    &["id", "owner", "url", "nextRun", "paused", "lastRun", "creation", "lastModified"];

/// Replaces names in the report by IDs.
async fn resolve(app: &App, caller: &Caller, body: &mut Value) -> ApiResult<()> {
    match body.get_mut("report") {
        Some(report) => resolve_names(app, caller, report, NAMES).await,
        None => Ok(()),
    }
}

fn read_saved(body: &Value, zone: &Zone) -> ApiResult<SavedReportSettings> {
    let report = body.get("report").cloned();
    read_body(body, &[ENVELOPE, READ_ONLY], |input: SavedReportInput, _| {
        input.report?;
        let mut report = report?;
        if let Value::Object(members) = &mut report {
            members.retain(|_, value| !value.is_null());
        }
        let schedule = input.schedule.map(|schedule| schedule.in_zone(zone));
        Some(SavedReportSettings { name: input.name?, report, schedule })
    })
}

/// Refuses devices and groups that do not exist or that the caller may not see.
async fn check(app: &App, caller: &Caller, settings: &SavedReportSettings) -> ApiResult<()> {
    let wanted = read_stored(&settings.report, caller.zone(), caller.now());
    let wanted = wanted.map_err(|problem| ApiError::new(ErrorCode::InvalidBody, problem))?;
    check_visible(app, caller.scope(), &wanted.selection).await.map_err(|refused| refused.within("report"))
}

async fn find(app: &App, caller: &Caller, id: Option<SavedReportId>) -> ApiResult<SavedReport> {
    let missing = || not_found(Kind::SavedReport);
    let found =
        app.store.find_saved_report(caller.scope(), caller.user_id(), id.ok_or_else(missing)?).await?;
    found.ok_or_else(missing)
}

/// Asks recipients to confirm that they want e-mail, if the server requires that.
async fn ask(app: &App, caller: &Caller, saved: &SavedReport) -> ApiResult<()> {
    let schedule = saved.settings.schedule.iter();
    let recipients = schedule.flat_map(|schedule| named_addresses(&schedule.recipients));
    ask_to_confirm(app, caller, recipients).await
}

/// Attributes an unknown user or contact group to the schedule.
fn attribute<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    attribute_reference(outcome, "schedule")
}

/// List saved reports
///
/// Returns the saved reports, sorted by ID, each with the next and the latest run of its schedule. A caller who sees only a
/// group or a device gets the reports that the caller created. The list is complete unless `limit` or `cursor` is given;
/// with either, it is returned in pages.
#[utoipa::path(get, path = "/api/reports", tag = "reports", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The saved reports that are visible to the caller, sorted by ID.", body = SavedReportList)))]
pub async fn list_saved_reports(Call(app, caller): Call, params: Params) -> ApiResult<Response> {
    let part = params.finish_list("reports")?;
    let (store, scope, user) = (app.store.clone(), caller.scope(), caller.user_id());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_saved_reports(scope, user, page).await }
    };
    let shown = app.clone();
    answer_list(&app, &caller, "reports", part, fetch, move |saved| SavedReportView::new(&shown, saved)).await
}

/// Create a saved report
///
/// Saves a report under a name and, with `schedule`, mails it at the times of the schedule. Requires the privilege
/// `rules.write`. An account may have up to 200 saved reports. Files of up to 10 MiB are attached to the e-mails; larger
/// ones are linked. Scheduled reports show what the owner, who is the caller, may see when they are made. Recipients who
/// are not users of the account may be asked by e-mail to confirm that they want messages. A caller who sees only a group
/// or a device may name addresses and the caller as recipients.
#[utoipa::path(post, path = "/api/reports", tag = "reports", request_body(content = SavedReportInput, example = json!({
    "name": "Week of the vans",
    "report": { "kind": "totals", "period": "lastWeek", "interval": "day", "groupBy": "device" },
    "schedule": { "frequency": "weekly", "weekdays": ["monday"], "time": "07:00", "timeZone": "Europe/Madrid", "format": "xlsx",
        "recipients": [{ "channel": "email", "address": "ana@example.com" }] }
})), responses((status = 201, description = "The report was saved.", body = SavedReportView)))]
pub async fn create_saved_report(
    Call(app, caller): Call,
    once: Once,
    mut body: JsonBody,
) -> ApiReply<SavedReportView> {
    caller.require(Privilege::RulesWrite)?;
    resolve(&app, &caller, &mut body.value).await?;
    let settings = read_saved(&body.value, &caller.account().settings.time_zone)?;
    check(&app, &caller, &settings).await?;
    let held = once.hold(&app, &caller, &body)?;
    let created = app.store.create_saved_report(&caller.actor(), settings, held.key.clone()).await;
    let saved = attribute(created)??.into_inner();
    ask(&app, &caller, &saved).await?;
    let address = app.base_url.join(&format!("/api/reports/{}", saved.id));
    Ok(caller.reply_at(saved.revision, SavedReportView::new(&app, saved)).created(address))
}

/// Retrieve a saved report
///
/// Returns one saved report, with the next and the latest run of its schedule. A caller who sees only a group or a device
/// gets only reports that the caller created. Runs do not change the entity tag.
#[utoipa::path(get, path = "/api/reports/{savedReportId}", tag = "reports",
    responses((status = 200, description = "The saved report.", body = SavedReportView)))]
pub async fn get_saved_report(
    Call(app, caller): Call,
    IdPath(id): IdPath<SavedReportId>,
    params: Params,
) -> ApiReply<SavedReportView> {
    params.finish()?;
    let saved = find(&app, &caller, id).await?;
    Ok(caller.reply_at(saved.revision, SavedReportView::new(&app, saved)))
}

change_handlers! {
    path: "/api/reports/{savedReportId}", tag: "reports", body: SavedReportInput, answer: SavedReportView, "The updated saved report.";
    /// Replace a saved report
    ///
    /// Sets the name, the report and the schedule of a saved report. Requires the privilege `rules.write`. The owner stays
    /// the same. A run that is due or waits for another attempt is made with the new settings; times that have passed are
    /// not made up for. New recipients may be asked by e-mail to confirm that they want messages.
    replace_saved_report,
    /// Update a saved report
    ///
    /// Changes the members that the body contains and keeps the others. Requires the privilege `rules.write`. The owner
    /// stays the same. A run that is due or waits for another attempt is made with the new settings; times that have
    /// passed are not made up for.
    update_saved_report => change_saved_report(id: IdPath<SavedReportId>)
}

async fn change_saved_report(
    Call(app, caller): Call,
    IdPath(id): IdPath<SavedReportId>,
    change: Change,
) -> ApiReply<SavedReportView> {
    let saved = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::RulesWrite)?;
        change.preconditions.check(Kind::SavedReport, present.revision)?;
        let (id, seen, before) = (present.id, present.revision, present.settings.report.clone());
        let mut wanted = change.apply(&SavedReportView::new(&app, present)).await?;
        resolve(&app, &caller, &mut wanted).await?;
        let settings = read_saved(&wanted, &caller.account().settings.time_zone)?;
        // Devices that were deleted since may stay named, so that the rest can be changed.
        if settings.report != before {
            check(&app, &caller, &settings).await?;
        }
        attribute(app.store.replace_saved_report(&caller.actor(), id, seen, settings).await)
    })
    .await?;
    ask(&app, &caller, &saved).await?;
    Ok(caller.reply_at(saved.revision, SavedReportView::new(&app, saved)))
}

/// Delete a saved report
///
/// Deletes the saved report, its schedule and the list of its runs. Requires the privilege `rules.write`. E-mails that were
/// not sent yet and have an attached file fail.
#[utoipa::path(delete, path = "/api/reports/{savedReportId}", tag = "reports",
    responses((status = 200, description = "The saved report was deleted.", body = Done)))]
pub async fn delete_saved_report(
    Call(app, caller): Call,
    IdPath(id): IdPath<SavedReportId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::RulesWrite)?;
        preconditions.check(Kind::SavedReport, present.revision)?;
        Ok(app.store.delete_saved_report(&caller.actor(), present.id, Some(present.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}

/// List runs of a saved report
///
/// Returns the latest 100 runs of the schedule of a saved report, the latest first. The list is complete unless `limit` or
/// `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/reports/{savedReportId}/runs", tag = "reports", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The runs, the latest first.", body = ReportRunList)))]
pub async fn list_report_runs(
    Call(app, caller): Call,
    IdPath(id): IdPath<SavedReportId>,
    params: Params,
) -> ApiResult<Response> {
    let id = find(&app, &caller, id).await?.id;
    let part = params.finish_list("reportRuns")?;
    let (store, scope, user) = (app.store.clone(), caller.scope(), caller.user_id());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_report_runs(scope, user, id, page).await }
    };
    answer_list(&app, &caller, "runs", part, fetch, ReportRunView::from).await
}

/// Run a saved report
///
/// Makes the report as `POST /api/reports/run` does, of the devices that the caller may see, and returns it. Named periods
/// are those of the present. Any user who sees the saved report may call this operation.
#[utoipa::path(post, path = "/api/reports/{savedReportId}/run", tag = "reports", params(
    ("format" = Option<FormatName>, Query, description = "Format of the answer. Takes precedence over `Accept`. Default: `json`.", example = "csv"),
), responses((status = 200, description = "The report in the format that was requested.", content(
    (ReportView = "application/json"),
    (String = "application/x-ndjson", example = json!("{\"device\":\"Northern Star\",\"distance\":43.215}\n")),
    (String = "text/csv", example = json!("Device,Distance (km)\r\nNorthern Star,43.215\r\n")),
    (String = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", example = json!("the bytes of the workbook")),
    (String = "application/pdf", example = json!("the bytes of the document")),
))))]
pub async fn run_saved_report(
    Call(app, caller): Call,
    IdPath(id): IdPath<SavedReportId>,
    headers: http::HeaderMap,
    mut params: Params,
) -> ApiResult<Response> {
    let saved = find(&app, &caller, id).await?;
    let format = choose(&mut params, &headers)?;
    params.finish()?;
    let now: Timestamp = caller.now();
    let wanted = read_stored(&saved.settings.report, caller.zone(), now);
    let mut wanted = wanted.map_err(|problem| ApiError::new(ErrorCode::InvalidBody, problem))?;
    wanted.title.get_or_insert(saved.settings.name);
    answer(&app, &caller, wanted, format).await
}
