//! Visits of devices to geofences, computed from histories when they are asked for.

use perigee_core::devices::device::{DeviceFilter, DeviceRef};
use perigee_core::id::{DeviceId, GeofenceId};
use perigee_core::page::PageRequest;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use crate::http::cursor::Cursor;
use crate::http::names::{device_param, group_param};
use crate::http::prelude::*;
use crate::http::routes::devices::find_device_id;
use crate::http::routes::reports::run::api_error;
use crate::reports::{MeasuredVisit, ReportParts, VisitReader, fence_index};

/// Locations after which a page ends.
const LOCATIONS_PAGE: u64 = 500_000;
/// CPU steps after which a page ends: about two seconds.
const STEPS_PAGE: u64 = 400_000_000;
/// Visits after which a page ends.
const VISITS_PAGE: usize = 2_000;
/// Devices whose histories are read for a page, however few locations they have.
const DEVICES_PAGE: usize = 200;

/// A visit of a device to a geofence, or the part of one that falls into the requested period.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Visit)]
pub struct VisitView {
    /// ID of the device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// ID of the geofence.
    #[schema(example = "geo_01jc2m8k4n5p6")]
    geofence_id: String,
    /// Beginning of the visit, or of the period if the visit began before it.
    #[schema(example = "2026-05-01T08:12:00Z", format = DateTime)]
    from: String,
    /// End of the visit, or of the period if the visit ended after it. For a visit that has not ended, time of the last location
    /// within the geofence.
    #[schema(example = "2026-05-01T09:40:00Z", format = DateTime)]
    to: String,
    /// Time at which the device entered the geofence. Null if that was before the period.
    #[schema(example = "2026-05-01T08:12:00Z", format = DateTime)]
    entry: Option<String>,
    /// Time at which the device left the geofence. Null if that was after the period, or if it has not left.
    #[schema(example = "2026-05-01T09:40:00Z", format = DateTime)]
    exit: Option<String>,
    /// Seconds from `from` to `to`.
    #[schema(example = 5280, minimum = 0)]
    duration_seconds: u64,
    /// Kilometres of trips from `from` to `to`, as totals count them: a trip that goes on outside counts in proportion to time.
    #[schema(example = 1.25, minimum = 0)]
    distance: f64,
}

/// Visits of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeviceVisits)]
pub struct DeviceVisitsView {
    /// Visits in the period, sorted by `from`.
    visits: Vec<VisitView>,
    /// Time from which to continue, as `from` of the next request. A visit that is going on then continues in the next answer.
    /// Absent if there are no more visits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "2026-05-14T06:00:00Z", format = DateTime)]
    next_from: Option<String>,
}

/// Visits to a geofence.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GeofenceVisits {
    /// Visits in the period, sorted by device, then by `from`.
    visits: Vec<VisitView>,
    /// Cursor of the next page, for the parameter `cursor`. A visit may be divided between two pages. Absent on the last page;
    /// a page may be empty and have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl VisitView {
    fn of(device: DeviceId, MeasuredVisit { visit, distance_m }: MeasuredVisit) -> Self {
        let milliseconds = visit.to.as_millis().saturating_sub(visit.from.as_millis()).max(0);
        #[expect(clippy::cast_precision_loss, reason = "distances are far below 2^53 metres")]
        let distance = distance_m as f64 / 1_000.0;
        Self {
            device_id: device.to_string(),
            geofence_id: visit.geofence.to_string(),
            from: visit.from.to_string(),
            to: visit.to.to_string(),
            entry: visit.entry.map(|entry| entry.to_string()),
            exit: visit.exit.map(|exit| exit.to_string()),
            duration_seconds: milliseconds.unsigned_abs() / 1_000,
            distance,
        }
    }
}

/// Reads the period of a request, which ends now unless its end is given.
fn period(params: &mut Params, zone: &Zone, now: Timestamp) -> (Timestamp, Timestamp) {
    let from = params.required_instant("from", zone);
    let to = params.instant("to", zone).unwrap_or(now);
    if from.is_some_and(|from| to <= from) {
        params.refuse("to", "The parameter \"to\" must be later than \"from\".");
    }
    (from.unwrap_or(to), to)
}

/// What a page of visits is read with. Refused if the account has too many reads waiting.
async fn parts(app: &App, caller: &Caller) -> ApiResult<ReportParts> {
    drop(app.budget.reads.acquire(caller.payer(), 0).await?);
    Ok(ReportParts { store: app.store.clone(), budget: app.budget.clone(), payer: caller.payer() })
}

/// List visits of a device
///
/// Returns the times that a device spent in geofences. A visit begins at the first location inside and ends at the first one
/// outside, or at the last one inside if the device was silent for more than 30 minutes before that. Silence inside and
/// absences of up to a minute do not end it. Visits are computed from the stored locations, so that geofences that were drawn
/// later are included. They are cut to the period, so that the results of adjacent periods add up. The answer ends after
/// about 500,000 locations or 2,000 visits, and then has `nextFrom`. Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/visits", tag = "geofences", params(
    ("from" = String, Query, description = "Start of the period, inclusive.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "End of the period, exclusive. Must be later than `from`. Default: now.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("geofence" = Option<String>, Query, description = "Only visits to this geofence, by ID. Default: all geofences that the caller may see.", example = "geo_01jc2m8k4n5p6"),
), responses((status = 200, description = "Visits of the device, sorted by time.", body = DeviceVisitsView)))]
pub async fn list_device_visits(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiReply<DeviceVisitsView> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let period = period(&mut params, caller.zone(), caller.now());
    let fence: Option<GeofenceId> = params.parsed("geofence", "the ID of a geofence");
    params.finish()?;
    let parts = parts(&app, &caller).await?;
    let only = fence.map(|fence| vec![fence]);
    let (index, known) = fence_index(&parts, caller.scope(), only.as_deref()).await.map_err(api_error)?;
    if fence.is_some() && known.is_empty() {
        return Err(not_found(Kind::Geofence));
    }
    let mut reader = VisitReader::new(parts, caller.scope(), index);
    let (visits, next) = read_device(&mut reader, device, period, 0).await?;
    let visits = visits.into_iter().map(|visit| VisitView::of(device, visit)).collect();
    Ok(caller.reply(DeviceVisitsView { visits, next_from: next.map(|next| next.to_string()) }))
}

/// The visits of a device up to the end of the page, and the instant at which the rest begins.
async fn read_device(
    reader: &mut VisitReader,
    device: DeviceId,
    period: (Timestamp, Timestamp),
    found: usize,
) -> ApiResult<(Vec<MeasuredVisit>, Option<Timestamp>)> {
    let mut of = reader.begin(device, period).await.map_err(api_error)?;
    let mut next = None;
    while !of.is_done() {
        of = reader.step(of).await.map_err(api_error)?;
        let is_enough = reader.locations >= LOCATIONS_PAGE
            || of.steps() >= STEPS_PAGE
            || found + of.found() >= VISITS_PAGE;
        if is_enough && next.is_none() && !of.is_done() {
            next = of.end_here();
        }
    }
    Ok((reader.finish(of).await.map_err(api_error)?, next))
}

/// List visits to a geofence
///
/// Returns the times that the devices which the caller may see spent in a geofence. They are computed from the stored
/// locations, so that the answer for a new geofence includes the past; see `GET /api/devices/{deviceId}/visits` for what counts
/// as a visit. The answer is paged: a page ends after about 500,000 locations, 200 devices or 2,000 visits. Any user who may
/// see the geofence may call this operation.
#[utoipa::path(get, path = "/api/geofences/{geofenceId}/visits", tag = "geofences", params(
    ("from" = String, Query, description = "Start of the period, inclusive.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "End of the period, exclusive. Must be later than `from`. Default: now. Give it if you use `cursor`.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("device" = Option<String>, Query, description = "Only visits of this device, by ID, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("group" = Option<String>, Query, description = "Only visits of devices in this group, by ID or name.", example = "grp_01jc2m8k4n5p6"),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Visits to the geofence.", body = GeofenceVisits)))]
pub async fn list_geofence_visits(
    Call(app, caller): Call,
    IdPath(id): IdPath<GeofenceId>,
    mut params: Params,
) -> ApiReply<GeofenceVisits> {
    let missing = || not_found(Kind::Geofence);
    let fence =
        app.store.find_geofence(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)?.id;
    let (from, to) = period(&mut params, caller.zone(), caller.now());
    let device = device_param(&app, &caller, &mut params, "device").await?;
    let group = group_param(&app, &caller, &mut params, "group").await?;
    let cursor = params.text("cursor");
    params.finish()?;
    let bound_to = format!("visits {fence}");
    let cursor = cursor.map(|text| Cursor::read(&bound_to, &text)).transpose()?;
    let parts = parts(&app, &caller).await?;
    let (index, _) = fence_index(&parts, caller.scope(), Some(&[fence])).await.map_err(api_error)?;
    let mut reader = VisitReader::new(parts, caller.scope(), index);
    let mut visits: Vec<VisitView> = Vec::new();
    // A cursor has the device that is read next, and from when.
    let mut begins = cursor.map(|cursor| Timestamp::from_millis(cursor.time));
    let mut after = cursor.map(|cursor| cursor.number.saturating_sub(1));
    let mut count = 0;
    let next = 'page: loop {
        let devices = match device {
            Some(device) if after.is_none_or(|after| device.as_i64() > after) => {
                app.store.find_device(caller.scope(), &DeviceRef::Id(device)).await?.into_iter().collect()
            }
            Some(_) => Vec::new(),
            None => {
                let filter = DeviceFilter { group, ..DeviceFilter::default() };
                let request = PageRequest { after, limit: 100 };
                app.store.list_devices(caller.scope(), &filter, request).await?.items
            }
        };
        if devices.is_empty() {
            break None;
        }
        for device in devices {
            let from = begins.take().map_or(from, |begins| begins.max(from));
            if count >= DEVICES_PAGE || reader.locations >= LOCATIONS_PAGE || visits.len() >= VISITS_PAGE {
                break 'page Some(Cursor { number: device.id.as_i64(), time: from.as_millis() });
            }
            after = Some(device.id.as_i64());
            count += 1;
            if from >= to {
                continue;
            }
            let (found, rest) = read_device(&mut reader, device.id, (from, to), visits.len()).await?;
            visits.extend(found.into_iter().map(|visit| VisitView::of(device.id, visit)));
            if let Some(rest) = rest {
                break 'page Some(Cursor { number: device.id.as_i64(), time: rest.as_millis() });
            }
        }
    };
    let next_cursor = next.map(|next| next.write(&bound_to));
    Ok(caller.reply(GeofenceVisits { visits, next_cursor }))
}
