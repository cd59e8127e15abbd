//! Submitting alerts. The same path answers a time range, as clients of the original API expect.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use perigee_core::alert::Alert;
use perigee_core::id::DeviceId;
use perigee_core::privilege::Privilege;
use serde::Serialize;
use utoipa::ToSchema;

use super::input::read_alert;
use super::read::answer_alerts;
use super::view::{AlertInput, AlertList};
use crate::app::App;
use crate::http::error::{ApiError, ApiResult};
use crate::http::extract::{Caller, DevicePath, Submission, Submitter};
use crate::http::history::HistoryPart;
use crate::http::json::{Fields, Pointer, check_chars};
use crate::http::routes::admit::{Admitted, AdmittedBody, admit_body, refused};
use crate::http::submission::{Batch, Forms, Rejection, Stored};

static FORMS: Forms<Alert> = Forms {
    one: "alert",
    many: "alerts",
    most: Alert::BATCH_MAX,
    judge: read_alert,
    // Alerts are rare, so there is no fast path.
    scan: |_, _| None,
};

/// Alerts to store, or a span of time to answer.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum AlertsBody {
    /// One alert.
    One(AlertInput),
    /// Several alerts.
    Several(Vec<AlertInput>),
    /// Several alerts, wrapped.
    Alerts(AlertsWrapped),
    /// One alert, wrapped.
    Alert(AlertWrapped),
    /// A span of time to answer.
    Range(AlertRange),
}

/// Several alerts, wrapped. `from` and `to` beside them mean nothing.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read")]
pub struct AlertsWrapped {
    /// The alerts to store.
    #[schema(value_type = Vec<AlertInput>, max_items = 10000, min_items = 1)]
    alerts: Vec<AlertInput>,
    /// Ignored in a body that brings alerts.
    #[schema(example = json!(null))]
    from: Option<serde_json::Value>,
    /// Ignored in a body that brings alerts.
    #[schema(example = json!(null))]
    to: Option<serde_json::Value>,
}

/// One alert, wrapped. `from` and `to` beside it mean nothing.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read")]
pub struct AlertWrapped {
    /// The alert to store.
    #[schema(value_type = AlertInput)]
    alert: AlertInput,
    /// Ignored in a body that brings alerts.
    #[schema(example = json!(null))]
    from: Option<serde_json::Value>,
    /// Ignored in a body that brings alerts.
    #[schema(example = json!(null))]
    to: Option<serde_json::Value>,
}

/// A span of time, both ends included.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct AlertRange {
    /// The beginning of the time range, inclusive.
    #[schema(example = "2026-05-01T00:00:00Z", format = DateTime)]
    from: String,
    /// The end of the time range, inclusive.
    #[schema(example = "2026-05-02T00:00:00Z", format = DateTime)]
    to: String,
    /// Only alerts of this name, in any letter case; null or empty for every alert.
    #[schema(example = "SOSButton", max_length = 100)]
    alert_name: Option<String>,
    /// Items at the most; the answer is paged then.
    #[schema(example = 1000, minimum = 1, maximum = 10000)]
    limit: Option<u32>,
    /// Where to go on: `nextCursor` of the page before.
    #[schema(max_length = 1000)]
    cursor: Option<String>,
}

/// What became of the alerts sent.
#[derive(Serialize, ToSchema)]
pub struct AlertsStored {
    /// How many are new and kept.
    #[schema(example = 1, minimum = 0, maximum = 10000)]
    accepted: usize,
    /// How many were there already.
    #[schema(example = 0, minimum = 0, maximum = 10000)]
    duplicates: usize,
    /// Those that were not stored, by their place.
    #[schema(max_items = 10000, example = json!([]))]
    rejected: Vec<Rejection>,
    /// The ids of the others in the order they were sent, those that were there already included.
    #[schema(max_items = 10000, example = json!(["alr_01jc2m8k4n5p9"]))]
    ids: Vec<String>,
}

/// What became of the alerts sent, or the alerts asked for.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum AlertsAnswered {
    /// Nothing was new.
    Stored(AlertsStored),
    /// The alerts asked for.
    Range(AlertList),
}

/// Submit alerts for a device.
///
/// Stores an alert, an array of them, `{"alerts": [...]}` or `{"alert": {...}}`; up to 10,000 in up to 8 MiB, also
/// one a line as `application/x-ndjson`, also packed with `Content-Encoding: gzip` or `zstd`. Good ones are stored
/// beside bad ones; two with the same `dateTime`, `alertName` and `text` are one. Storing needs `alerts.write`.
///
/// Answers a span of time for `{"from", "to"}`, all of it or the alerts of one `alertName`.
#[utoipa::path(post, path = "/api/devices/{deviceId}/alerts", tag = "alerts",
    params(("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7")),
    request_body(content(
        (AlertsBody = "application/json", examples(
            ("One alert" = (value = json!({"dateTime": "2026-05-01T12:00:00Z", "alertName": "SOSButton", "latitude": 42.2406, "longitude": -8.7207}))),
            ("Several" = (value = json!([{"dateTime": "2026-05-01T12:00:00Z", "alertName": "SpeedLimit", "text": "Faster than 20 km/h"}]))),
            ("Several, wrapped" = (value = json!({"alerts": [{"dateTime": "2026-05-01T12:00:00Z", "alertName": "LowBattery"}]}))),
            ("One, wrapped" = (value = json!({"alert": {"dateTime": "2026-05-01T12:00:00Z", "alertName": "LowBattery"}}))),
            ("A span of time" = (value = json!({"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z", "alertName": "SOSButton"}))))),
        (String = "application/x-ndjson", example = json!("{\"dateTime\":\"2026-05-01T12:00:00Z\",\"alertName\":\"SOSButton\"}\n")))),
    responses(
        (status = 201, description = "New alerts were stored.", body = AlertsStored),
        (status = 200, description = "All of them were there already; or the alerts asked for.", body = AlertsAnswered,
            example = json!({"success": true, "apiUsage": 42, "apiDailyUsage": 42, "accepted": 0, "duplicates": 1, "rejected": [], "ids": ["alr_01jc2m8k4n5p9"]})),
    ))]
pub async fn submit_alerts(
    State(app): State<App>,
    submitter: Submitter,
    DevicePath(device): DevicePath,
    submission: Result<Submission, ApiError>,
) -> ApiResult<Response> {
    let AdmittedBody { caller, admitted, permit: _held } =
        admit_body(&app, submitter, device.as_ref(), submission, &FORMS, Privilege::AlertsWrite).await?;
    match admitted {
        Admitted::Range(device, body) => {
            let mut fields = Fields::of_object(&body, Pointer::root()).in_zone(caller.zone());
            let name = fields.text("alertName").check(|name| check_chars(name, &(0..=Alert::NAME_MAX)));
            let name = name.nullable().filter(|name| !name.is_empty());
            let part = HistoryPart::of_body(fields, "alerts", device.id)?;
            answer_alerts(&app, &caller, device.id, name, part).await
        }
        Admitted::Store(device, batch) => store(&app, &caller, device, batch).await,
        // A time range beside alerts is ignored.
        Admitted::StoreAndRange(device, batch, _range) => store(&app, &caller, device.id, batch).await,
    }
}

async fn store(app: &App, caller: &Caller, device: DeviceId, batch: Batch<Alert>) -> ApiResult<Response> {
    let stored = app.store.store_alerts(&caller.actor(), device, batch.good).await;
    let outcomes = stored.map_err(|error| refused(app, caller, error))?;
    let ids = outcomes.iter().map(|(_, id)| id.to_string()).collect();
    let stored = Stored::of(outcomes.into_iter().map(|(outcome, _)| outcome), batch.rejected);
    let status = stored.status();
    Ok(caller.reply(AlertsStored::of(stored, ids)).status(status).into_response())
}

impl AlertsStored {
    fn of(stored: Stored, ids: Vec<String>) -> Self {
        let Stored { accepted, duplicates, rejected } = stored;
        Self { accepted, duplicates, rejected, ids }
    }
}
