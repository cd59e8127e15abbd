//! Reporting that the work of a plan was done, and the history of that.

use perigee_core::id::MaintenancePlanId;
use perigee_core::maintenance::MaintenanceRecord;

use super::handlers::find;
use super::input::{MaintenanceDoneInput, read_done};
use super::view::{hours, kilometres};
use crate::http::prelude::*;

/// How often a change is tried while others change the same plan.
const TRIES: usize = 16;

/// A record of maintenance: a finished cycle of a plan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MaintenanceRecord)]
pub struct RecordView {
    /// Unique identifier of the record, assigned by the server.
    #[schema(example = "mrc_01jc2m8k4n5p6")]
    id: String,
    /// ID of the maintenance plan.
    #[schema(example = "mnt_01jc2m8k4n5p6")]
    maintenance_id: String,
    /// ID of the device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Time at which the work was done.
    #[schema(example = "2026-05-01T08:00:00Z", format = DateTime)]
    date_time: String,
    /// Time at which the work was done the time before: the beginning of the cycle.
    #[schema(example = "2025-04-12T08:00:00Z", format = DateTime)]
    previous: String,
    /// Kilometres of trips in the cycle.
    #[schema(example = 14_620.4, minimum = 0)]
    distance: f64,
    /// Hours with the engine on in the cycle.
    #[schema(example = 212.5, minimum = 0)]
    engine_hours: f64,
    /// Reading of the odometer, in kilometres. Null if it is not known.
    #[schema(example = 135_120.4, minimum = 0)]
    odometer: Option<f64>,
    /// Reading of the hour meter of the engine, in hours. Null if it is not known.
    #[schema(example = json!(null), minimum = 0)]
    hour_meter: Option<f64>,
    /// Free text about the work. Null if there is none.
    #[schema(example = "Filter replaced too")]
    note: Option<String>,
    /// Amount that was paid. Null if it is not known.
    #[schema(example = 120.5, minimum = 0)]
    cost: Option<f64>,
    /// Currency of `cost`, as a code of ISO 4217. Null without `cost`.
    #[schema(example = "EUR")]
    currency: Option<String>,
    /// ID of the user who reported it. Null if the operator did.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    user_id: Option<String>,
    /// Time at which the record was stored.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

list! {
    /// A list of records of maintenance.
    pub struct MaintenanceRecordList;
    /// Records of the plan, oldest first.
    records: RecordView,
}

impl From<MaintenanceRecord> for RecordView {
    fn from(record: MaintenanceRecord) -> Self {
        let (cost, currency) = record.cost.map(|cost| (kilometres(cost.thousandths), cost.currency)).unzip();
        Self {
            id: record.id.to_string(),
            maintenance_id: record.plan.to_string(),
            device_id: record.device.to_string(),
            date_time: record.at.to_string(),
            previous: record.began.to_string(),
            distance: kilometres(record.distance_m),
            engine_hours: hours(record.engine_s),
            odometer: record.odometer_m.map(kilometres),
            hour_meter: record.hour_meter_s.map(hours),
            note: record.note,
            cost,
            currency,
            user_id: record.user.map(|user| user.to_string()),
            creation: record.creation.to_string(),
        }
    }
}

/// Record completed maintenance
///
/// Ends the present cycle of a maintenance plan with a record, and begins the next one: kilometres, engine hours and periods
/// count from `dateTime`. The alerts of the plan end. A fixed `date` of the plan is replaced by `nextDate`, or else cleared. A
/// plan may have up to 1,000 records. Requires the privilege `devices.write`.
#[utoipa::path(post, path = "/api/maintenance/{maintenanceId}/done", tag = "maintenance", request_body = MaintenanceDoneInput,
    responses((status = 201, description = "The record was stored, and the next cycle began.", body = RecordView)))]
pub async fn finish_maintenance(
    Call(app, caller): Call,
    once: Once,
    IdPath(id): IdPath<MaintenancePlanId>,
    body: JsonBody,
) -> ApiReply<RecordView> {
    let plan = find(&app, &caller, id).await?.plan;
    caller.require(Privilege::DevicesWrite)?;
    let held = once.hold(&app, &caller, &body)?;
    let address = app.base_url.join(&format!("/api/maintenance/{}/history", plan.id));
    let mut plan = plan;
    for _ in 0..TRIES {
        let done = read_done(&body.value, caller.zone(), caller.now(), &plan)?;
        let (actor, key) = (caller.actor(), held.key.clone());
        match app.store.finish_maintenance(&actor, plan.id, plan.revision, done, key).await {
            Err(StoreError::RevisionMismatch(_)) => plan = find(&app, &caller, id).await?.plan,
            made => return Ok(caller.reply(RecordView::from(made?.into_inner())).created(address)),
        }
    }
    Err(StoreError::RevisionMismatch(Kind::MaintenancePlan).into())
}

/// List records of maintenance
///
/// Returns the records of a maintenance plan, oldest first. The list is complete unless `limit` or `cursor` is given; with
/// either, it is returned in pages. Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/maintenance/{maintenanceId}/history", tag = "maintenance", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of records in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Records of the plan, oldest first.", body = MaintenanceRecordList)))]
pub async fn list_maintenance_records(
    Call(app, caller): Call,
    IdPath(id): IdPath<MaintenancePlanId>,
    params: Params,
) -> ApiResult<Response> {
    let plan = find(&app, &caller, id).await?.plan;
    let part = params.finish_list("maintenance history")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_maintenance_records(scope, plan.id, page).await }
    };
    answer_list(&app, &caller, "records", part, fetch, RecordView::from).await
}
