//! Running a report, as a document in one of several formats.

use axum::body::Body;
use http::{HeaderMap, HeaderValue, header};
use perigee_core::access::actor::{Reach, Scope};
use perigee_core::devices::device::DeviceRef;
use perigee_core::error::StoreError;
use perigee_core::id::GroupId;
use perigee_reports::{Format, WriteError};

use super::input::{KindName, NAMES, ReportInput, read_report};
use super::stream::{PART_BYTES, of_file, part, sent};
use crate::http::accept::Accept;
use crate::http::held_answer::{hold, hold_parts};
use crate::http::input::{Word, words};
use crate::http::place::reader_of;
use crate::http::prelude::*;
use crate::http::reply::Envelope;
use crate::reports::{Report, ReportError, ReportParts, Selection, Wanted};

words! {
    "ReportFormat", "Format of a report. `json`: one JSON object. `ndjson`: one JSON object per line and row. `csv`: a table with a line of \
     titles. `xlsx`: a workbook with a sheet of rows and a sheet of totals. `pdf`: pages with totals, a chart, a map and the rows." => Format;
}

/// A format, as the API describes it.
pub type FormatName = Word<Format>;

/// A column of a report that was run.
#[derive(Serialize, ToSchema)]
#[schema(as = ReportResultColumn)]
pub struct ResultColumn {
    /// Name of the column, and of its member in rows.
    #[schema(example = "distance")]
    id: String,
    /// Title of the column in the language of the report.
    #[schema(example = "Distance")]
    title: String,
    /// Type of its values, as in `GET /api/reports/kinds`.
    #[serde(rename = "type")]
    #[schema(example = "distance")]
    kind: String,
    /// Unit of its numbers. Null if they have none.
    #[schema(example = "km")]
    unit: Option<String>,
}

/// A report in the format `json`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Report)]
pub struct ReportView {
    /// What the report is about.
    #[schema(value_type = KindName, example = "trips")]
    kind: String,
    /// Title of the report.
    #[schema(example = "Trips")]
    title: String,
    /// Beginning of the period.
    #[schema(example = "2026-05-01T00:00:00Z", format = DateTime)]
    from: String,
    /// End of the period, which does not belong to it.
    #[schema(example = "2026-05-08T00:00:00Z", format = DateTime)]
    to: String,
    /// Time zone of dates.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Language of titles and words.
    #[schema(example = "en")]
    language: String,
    /// Units of distances and speeds.
    #[schema(example = "metric")]
    units: String,
    /// Columns, in order.
    columns: Vec<ResultColumn>,
    /// Rows, sorted by device or group, then by time. Each is an object with a member for each column: times in UTC,
    /// dates as `YYYY-MM-DD`, durations in seconds, distances and speeds in the units of the report.
    #[schema(value_type = Vec<Object>, example = json!([{"device": "Northern Star", "distance": 43.215}]))]
    rows: Vec<Value>,
    /// Totals of each device or group (`id`, `name`, `rows`, and the sums of columns; of `maxSpeed` the greatest), and at last
    /// of the whole report, with null as `id` and `name`.
    #[schema(value_type = Vec<Object>, example = json!([{"id": null, "name": null, "rows": 1, "distance": 43.215}]))]
    totals: Vec<Value>,
}

/// Run a report
///
/// Makes a report of the devices that the caller may see, and returns it as it is made, so that it may have any length; a
/// workbook has at most 250000 rows, and a PDF document at most 5000. The format is that of `format`, or else the one that `Accept` prefers. The work ends when
/// the client closes the connection. A format that is complete only at its end (`xlsx`, `pdf`) is made by one request of an account
/// at a time; others wait. Any user may call this operation.
#[utoipa::path(post, path = "/api/reports/run", tag = "reports", params(
    ("format" = Option<FormatName>, Query, description = "Format of the answer. Takes precedence over `Accept`. Default: `json`.", example = "csv"),
), request_body(content = ReportInput, example = json!({
    "kind": "totals", "period": "lastWeek", "interval": "day", "groupBy": "device", "units": "metric"
})), responses((status = 200, description = "The report in the format that was requested.", content(
    (ReportView = "application/json"),
    (String = "application/x-ndjson", example = json!("{\"device\":\"Northern Star\",\"distance\":43.215}\n")),
    (String = "text/csv", example = json!("Device,Distance (km)\r\nNorthern Star,43.215\r\n")),
    (String = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", example = json!("the bytes of the workbook")),
    (String = "application/pdf", example = json!("the bytes of the document")),
))))]
pub async fn run_report(
    Call(app, caller): Call,
    headers: HeaderMap,
    mut params: Params,
    mut body: JsonBody,
) -> ApiResult<Response> {
    let format = choose(&mut params, &headers)?;
    params.finish()?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let wanted = read_report(&body.value, caller.zone(), caller.now())?;
    drop(body);
    check_visible(&app, caller.scope(), &wanted.selection).await?;
    answer(&app, &caller, wanted, format).await
}

/// Makes a report that the caller asked for.
pub(super) async fn answer(
    app: &App,
    caller: &Caller,
    wanted: Wanted,
    format: Format,
) -> ApiResult<Response> {
    for fence in &wanted.geofences {
        if app.store.find_geofence(caller.scope(), *fence).await?.is_none() {
            let error = StoreError::UnknownReference { kind: Kind::Geofence, id: fence.to_string() };
            return Err(ApiError::from(error).at_member("geofences"));
        }
    }
    let reader = reader_of(app, caller, (wanted.language, wanted.units)).await?;
    let file = wanted.kind.name();
    let prices = app.config.notifications.message_prices();
    let (plan, mut heading) = wanted.planned(caller.scope(), reader, caller.account(), caller.now(), prices);
    let envelope = serde_json::to_string(&Envelope::of(Some(caller.usage()))).map_err(internal)?;
    heading.envelope = envelope.trim_start_matches('{').trim_end_matches('}').into();
    let parts = ReportParts { store: app.store.clone(), budget: app.budget.clone(), payer: caller.payer() };
    let report = Report::open(parts, plan, format, heading).map_err(api_error)?;
    let mut length = None;
    let body = if format.is_file() {
        // Held while the document is made, and not while it is sent.
        let _slot = app.budget.reports.acquire(caller.payer(), 0).await?;
        let (document, bytes, _) = report.into_file().await.map_err(api_error)?;
        length = Some(bytes);
        of_file(document)
    } else {
        // Refused if the account has too many reads waiting; later parts wait for their turn.
        drop(app.budget.reads.acquire(caller.payer(), 0).await?);
        let permit = hold_parts(app, caller.payer(), PART_BYTES)?;
        match part(report).await.map_err(api_error)? {
            (Some(rest), first) => sent(first, rest, caller.request_id().to_owned(), permit),
            (None, whole) => {
                drop(permit);
                Body::from(hold(app, caller.payer(), whole)?)
            }
        }
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(format)));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if let Some(length) = length {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    if format != Format::Json {
        let name = format!("attachment; filename=\"{file}.{}\"", format.name());
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_str(&name).map_err(internal)?);
    }
    Ok(response)
}

const fn content_type(format: Format) -> &'static str {
    match format {
        Format::Csv => "text/csv; charset=utf-8; header=present",
        other => other.media_type(),
    }
}

/// Reads `format` from a query, or evaluates `Accept`.
pub(super) fn choose(params: &mut Params, headers: &HeaderMap) -> ApiResult<Format> {
    if params.has("format") {
        let named = params.word("format", &Format::ALL.map(|format| (format.name(), format)));
        return Ok(named.unwrap_or(Format::Json));
    }
    let accept = Accept::of(headers);
    let mut best = None;
    for format in Format::ALL {
        let quality = accept.quality(format.media_type());
        if quality > best.map_or(0, |(quality, _)| quality) {
            best = Some((quality, format));
        }
    }
    best.map(|(_, format)| format).ok_or_else(|| {
        let types = Format::ALL.map(Format::media_type).join(", ");
        let message = format!(
            "None of the media types in Accept is available here. Send one of {types}, or use \"?format=\"."
        );
        ApiError::new(ErrorCode::NotAcceptable, message)
    })
}

/// Refuses devices and groups that do not exist or that the caller may not see.
pub(super) async fn check_visible(app: &App, scope: Scope, selection: &Selection) -> ApiResult<()> {
    let Selection::Some(devices, groups) = selection else { return Ok(()) };
    let unknown = |member: &str, kind, id: String| {
        Err(ApiError::from(StoreError::UnknownReference { kind, id }).at_member(member))
    };
    for device in devices {
        if app.store.find_device_id(scope, &DeviceRef::Id(*device)).await?.is_none() {
            return unknown("devices", Kind::Device, device.to_string());
        }
    }
    let names = app.store.group_names(scope.account, groups.clone()).await?;
    let sees = |group: GroupId| match scope.reach {
        Reach::Account => true,
        Reach::Group(own) => own == group,
        Reach::Device(_) => false,
    };
    match groups.iter().find(|group| !sees(**group) || !names.contains_key(group)) {
        Some(group) => unknown("groups", Kind::Group, group.to_string()),
        None => Ok(()),
    }
}

/// The answer when the parts of a report cannot be read.
pub(in crate::http::routes) fn api_error(error: ReportError) -> ApiError {
    match error {
        ReportError::Exhausted(exhausted) => exhausted.into(),
        ReportError::Store(error) => error.into(),
        ReportError::Write(WriteError::TooManyRows(most)) => ApiError::new(
            ErrorCode::InvalidBody,
            format!(
                "The report has more than {most} rows, which this format does not hold. Choose a shorter period, fewer devices, or the format \"csv\"."
            ),
        ),
        ReportError::Write(error) => internal(error),
        ReportError::Lost(error) => error.into(),
    }
}
