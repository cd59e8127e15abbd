//! What a rescue service needs about a plan: people, craft, last positions and messages, as JSON and as a printable page.

use http::{HeaderValue, header};
use perigee_core::devices::conversation::Direction;
use perigee_core::devices::device::{Device, DeviceRef};
use perigee_core::id::PlanId;
use perigee_core::locations::location::{
    Degrees, HistoryRequest, Order, StoredLocation, Thousandths, TimeRange,
};
use perigee_core::page::PageRequest;
use perigee_core::plans::Plan;

use super::handlers::{find, view};
use super::rescue_pdf;
use super::view::PlanView;
use crate::http::prelude::*;

/// Positions of each device.
const POSITIONS: u32 = 50;
/// Messages of all devices together.
const MESSAGES: usize = 20;

/// What a rescue service needs about a plan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RescueSheet)]
pub struct RescueView {
    /// The plan with its travellers, its vessel or vehicle, its route and its last check-in.
    plan: PlanView,
    /// Name of the account.
    #[schema(example = "Castro Fishing")]
    account_name: String,
    /// Devices of the plan with their last positions.
    devices: Vec<RescueDeviceView>,
    /// Last texts of the devices, newest first: up to 20.
    messages: Vec<RescueMessageView>,
    /// Time at which this was made.
    #[schema(example = "2026-05-01T19:00:00Z", format = DateTime)]
    printed_at: String,
}

/// Device of a plan, for a rescue service.
#[derive(Serialize, ToSchema)]
#[schema(as = RescueDevice)]
pub struct RescueDeviceView {
    /// ID of the device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    id: String,
    /// Name of the device.
    #[schema(example = "Northern Star")]
    name: String,
    /// Identifier of the device, such as its IMEI. Null if not set.
    #[schema(example = "300434030012340")]
    identifier: Option<String>,
    /// Model of the device. Null if not set.
    #[schema(example = "inReach Mini 2")]
    model: Option<String>,
    /// Last positions, newest first: up to 50. Suspect ones are left out.
    positions: Vec<RescuePositionView>,
}

/// Position of a device, for a rescue service.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RescuePosition)]
pub struct RescuePositionView {
    /// Time at which the position was measured.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    pub(super) date_time: String,
    /// Latitude, in degrees north (WGS 84).
    #[schema(value_type = f64, example = 42.2406, minimum = -90, maximum = 90)]
    latitude: Degrees,
    /// Longitude, in degrees east (WGS 84).
    #[schema(value_type = f64, example = -8.7207, minimum = -180, maximum = 180)]
    longitude: Degrees,
    /// Speed over ground, in km/h. Null if the device did not report it.
    #[schema(value_type = Option<f64>, example = 9.3)]
    speed: Option<Thousandths>,
    /// Direction of travel, in degrees clockwise from true north. Null if the device did not report it.
    #[schema(value_type = Option<f64>, example = 270.0)]
    course: Option<Thousandths>,
    /// Accuracy in metres. Null if it is not known.
    #[schema(value_type = Option<f64>, example = 10.0)]
    accuracy: Option<Thousandths>,
}

/// Text of a device, for a rescue service.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RescueMessage)]
pub struct RescueMessageView {
    /// Time at which the device sent it.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// ID of the device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Text that the device sent.
    #[schema(example = "Engine trouble, sailing back")]
    text: String,
}

/// What was read for the sheet.
pub(super) struct Found {
    pub(super) plan: Plan,
    pub(super) devices: Vec<(Device, Vec<StoredLocation>)>,
    pub(super) texts: Vec<(perigee_core::time::Timestamp, usize, String)>,
}

async fn read(app: &App, caller: &Caller, plan: Plan) -> ApiResult<Found> {
    let scope = caller.scope();
    let (mut devices, mut texts) = (Vec::new(), Vec::new());
    for id in &plan.settings.devices {
        // It may have been deleted meanwhile.
        let Some(device) = app.store.find_device(scope, &DeviceRef::Id(*id)).await? else { continue };
        let request =
            HistoryRequest { range: TimeRange::ALL, order: Order::Descending, after: None, limit: POSITIONS };
        let positions = app.store.list_locations(scope, *id, request).await?.items;
        let positions = positions.into_iter().filter(|stored| !stored.trust.suspect).collect();
        let messages = app.store.list_conversation(scope, *id, PageRequest::first(50)).await?.items;
        let index = devices.len();
        let received = messages.into_iter().filter(|message| message.direction == Direction::In);
        texts.extend(received.map(|message| (message.time, index, message.text)));
        devices.push((device, positions));
    }
    texts.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    texts.truncate(MESSAGES);
    Ok(Found { plan, devices, texts })
}

impl From<StoredLocation> for RescuePositionView {
    fn from(stored: StoredLocation) -> Self {
        let location = stored.location;
        Self {
            date_time: location.time.to_string(),
            latitude: location.latitude.into(),
            longitude: location.longitude.into(),
            speed: location.readings.speed.map(Thousandths::from),
            course: location.readings.course.map(Thousandths::from),
            accuracy: location.readings.accuracy.map(Thousandths::from),
        }
    }
}

fn to_view(caller: &Caller, found: Found) -> RescueView {
    let ids: Vec<String> = found.devices.iter().map(|(device, _)| device.id.to_string()).collect();
    let message = |(at, index, text): (perigee_core::time::Timestamp, usize, String)| RescueMessageView {
        date_time: at.to_string(),
        device_id: ids.get(index).cloned().unwrap_or_default(),
        text,
    };
    let messages = found.texts.into_iter().map(message).collect();
    let device = |(device, positions): (Device, Vec<StoredLocation>)| RescueDeviceView {
        id: device.id.to_string(),
        name: device.settings.name,
        identifier: device.settings.identifier,
        model: device.settings.model,
        positions: positions.into_iter().map(RescuePositionView::from).collect(),
    };
    RescueView {
        plan: view(caller, found.plan),
        account_name: caller.account().settings.name.clone(),
        devices: found.devices.into_iter().map(device).collect(),
        messages,
        printed_at: caller.now().to_string(),
    }
}

/// Retrieve the sheet for a rescue service
///
/// Returns what a rescue service needs: the plan, the travellers, the vessel or vehicle with its equipment, the last positions and
/// the last texts of the devices. With `format=pdf` it is a page to print, in English and with nautical units. Any user who may see
/// all devices of the plan may call this operation.
#[utoipa::path(get, path = "/api/plans/{planId}/rescue", tag = "plans", params(
    ("format" = Option<String>, Query, description = "Format: `json` or `pdf`. Default: `json`.", example = "json", pattern = "^(json|pdf)$"),
), responses((status = 200, description = "The sheet for a rescue service.", content(
    (RescueView = "application/json"),
    (String = "application/pdf", example = json!("the bytes of the document")),
))))]
pub async fn get_rescue_sheet(
    Call(app, caller): Call,
    IdPath(id): IdPath<PlanId>,
    mut params: Params,
) -> ApiResult<Response> {
    let is_pdf = params.word("format", &[("json", false), ("pdf", true)]).unwrap_or_default();
    params.finish()?;
    let plan = find(&app, &caller, id).await?;
    let found = read(&app, &caller, plan).await?;
    if !is_pdf {
        return Ok(caller.reply(to_view(&caller, found)).into_response());
    }
    let sheet = rescue_pdf::sheet(&found, caller.account(), caller.now());
    // Held while the document is made, as for reports.
    let _slot = app.budget.reports.acquire(caller.payer(), 0).await?;
    let made = tokio::task::spawn_blocking(move || sheet.to_pdf()).await.map_err(internal)?;
    let mut response = Response::new(axum::body::Body::from(made.map_err(internal)?));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/pdf"));
    let name = format!("attachment; filename=\"rescue-{}.pdf\"", found.plan.id);
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_str(&name).map_err(internal)?);
    Ok(response)
}
