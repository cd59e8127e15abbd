//! Submitting alerts. The same path answers a time range, as clients of the original API expect.

use perigee_core::alerts::alert::Alert;
use perigee_core::id::DeviceId;
use perigee_core::text::Line;
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

use super::input::read_alert;
use super::read::answer_alerts;
use super::view::{AlertInput, AlertList};
use crate::http::extract::{Submission, Submitter};
use crate::http::history::{HistoryPart, RangeInput};
use crate::http::input::{Input as _, Schemas};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::admit::{Admitted, AdmittedBody, admit_body, device_of_items, refused};
use crate::http::submission::{Batch, BodySchema, ItemKind, Rejection, Stored, ignore_range};

static KIND: ItemKind<Alert> = ItemKind {
    one: "alert",
    many: "alerts",
    most: Alert::BATCH_MAX,
    beside: ignore_range,
    validate: read_alert,
    // Alerts are rare, so there is no fast path.
    scan: |_, _| None,
};

/// Alerts to store, or a time range of alerts to return.
#[derive(Debug)]
pub struct AlertsBody;

input! {
    /// Filter of the alerts in a time range.
    struct NameFilter {
        /// Only alerts with this name, in any letter case. Default: all alerts; an empty value has the same effect.
        alert_name as "alertName": Line<0, { Alert::NAME_MAX }>, nullable, example "SOSButton";
    }
}

const BODY: BodySchema =
    BodySchema { item: "AlertInput", range: range_schema, answers_range_beside_items: false };

fn range_schema() -> RefOr<Schema> {
    let mut range = RangeInput::schema();
    if let (RefOr::T(Schema::Object(range)), RefOr::T(Schema::Object(filter))) =
        (&mut range, NameFilter::schema())
    {
        range.properties.extend(filter.properties);
    }
    range
}

impl PartialSchema for AlertsBody {
    fn schema() -> RefOr<Schema> {
        BODY.schema(&KIND)
    }
}

impl ToSchema for AlertsBody {
    fn schemas(schemas: &mut Schemas) {
        schemas.push((AlertInput::name().into(), AlertInput::schema()));
        AlertInput::schemas(schemas);
        schemas.extend(BODY.schemas(&KIND));
    }
}

/// Result of submitting alerts.
#[derive(Serialize, ToSchema)]
pub struct AlertsStored {
    /// Number of alerts that are new and were stored.
    #[schema(example = 1, minimum = 0, maximum = 10000)]
    accepted: usize,
    /// Number of alerts that were stored before.
    #[schema(example = 0, minimum = 0, maximum = 10000)]
    duplicates: usize,
    /// Alerts that were not stored, with their index in the request and the reason.
    #[schema(max_items = 10000, example = json!([]))]
    rejected: Vec<Rejection>,
    /// IDs of the alerts that were not rejected, in the order of the request. Duplicates have the ID of the stored
    /// alert.
    #[schema(max_items = 10000, example = json!(["alr_01jc2m8k4n5p9"]))]
    ids: Vec<String>,
}

/// Result of submitting alerts, or the alerts of a time range.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum AlertsAnswered {
    /// The result, if all alerts were duplicates or rejected.
    Stored(AlertsStored),
    /// The alerts of the time range.
    Range(AlertList),
}

/// Submit alerts for a device
///
/// Stores an alert, an array of alerts, `{"alerts": [...]}` or `{"alert": {...}}`. Requires the privilege
/// `alerts.write`. The body may have up to 10,000 alerts and 8 MiB. It can also have one alert per line as
/// `application/x-ndjson`, and can be compressed with `Content-Encoding: gzip` or `zstd`. Invalid alerts are listed in
/// `rejected`; the others are stored. Alerts with the same `dateTime`, `alertName` and `text` are duplicates, so
/// repeating a request is safe. Each new alert creates an event `alert.created` and notifies the recipients of the
/// routing in force.
///
/// With `{"from": ..., "to": ...}` nothing is stored, and `alerts.write` is not needed: the answer has the alerts of the
/// time range, all or those with one `alertName`.
#[utoipa::path(post, path = "/api/devices/{deviceId}/alerts", tag = "alerts",
    request_body(content(
        (AlertsBody = "application/json", examples(
            ("One alert" = (value = json!({"dateTime": "2026-05-01T12:00:00Z", "alertName": "SOSButton", "latitude": 42.2406, "longitude": -8.7207}))),
            ("Several" = (value = json!([{"dateTime": "2026-05-01T12:00:00Z", "alertName": "SpeedLimit", "text": "Faster than 20 km/h"}]))),
            ("Several, wrapped" = (value = json!({"alerts": [{"dateTime": "2026-05-01T12:00:00Z", "alertName": "LowBattery"}]}))),
            ("One, wrapped" = (value = json!({"alert": {"dateTime": "2026-05-01T12:00:00Z", "alertName": "LowBattery"}}))),
            ("A time range" = (value = json!({"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z", "alertName": "SOSButton"}))))),
        (String = "application/x-ndjson", example = json!("{\"dateTime\":\"2026-05-01T12:00:00Z\",\"alertName\":\"SOSButton\"}\n")))),
    responses(
        (status = 201, description = "At least one new alert was stored.", body = AlertsStored),
        (status = 200, description = "All submitted alerts had been stored before or were rejected; or the alerts of the requested time range.", body = AlertsAnswered,
            example = json!({"success": true, "apiUsage": 42, "apiDailyUsage": 42, "accepted": 0, "duplicates": 1, "rejected": [], "ids": ["alr_01jc2m8k4n5p9"]})),
    ))]
pub async fn submit_alerts(
    State(app): State<App>,
    submitter: Submitter,
    DevicePath(device): DevicePath,
    submission: Result<Submission, ApiError>,
) -> ApiResult<Response> {
    let AdmittedBody { caller, admitted, permit: _held } =
        admit_body(&app, submitter, device.as_ref(), submission, &KIND, Privilege::AlertsWrite).await?;
    match admitted {
        Admitted::Range(device, body) => {
            let mut fields = Fields::of_object(&body, Pointer::root()).in_zone(caller.zone());
            let name = NameFilter::read(&mut fields).alert_name.filter(|name| !name.is_empty());
            let part = HistoryPart::of_body(fields, "alerts", device.id)?;
            answer_alerts(&app, &caller, device.id, name, part, None).await
        }
        Admitted::Store(device, batch) => {
            let device = device_of_items(&app, &caller, &device).await?;
            store(&app, &caller, device, batch).await
        }
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
