//! Submitting locations. The same path answers a time range, as clients of the original API expect.

use perigee_core::devices::device::DeviceRef;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::Location;
use serde_json::Map;
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

use super::input::{read_location, scan_location};
use super::view::{LocationInput, LocationList, LocationView};
#[cfg(feature = "bench")]
use crate::http::extract::SUBMISSION_MAX;
use crate::http::extract::{Submission, Submitter};
use crate::http::format::{Shape, Subject, answer_track, answer_track_after};
use crate::http::history::{HistoryPart, RangeInput, check_range};
use crate::http::input::Schemas;
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::admit::{Admitted, AdmittedBody, admit_body, refused};
#[cfg(feature = "bench")]
use crate::http::submission::BodyContent;
use crate::http::submission::{Batch, BodySchema, ItemKind, Rejection, Stored};

static KIND: ItemKind<Location> = ItemKind {
    one: "location",
    many: "locations",
    most: Location::BATCH_MAX,
    beside: check_range,
    validate: read_location,
    scan: scan_location,
};

/// Locations to store, or a time range of which to return the locations.
#[derive(Debug)]
pub struct LocationsBody;

const BODY: BodySchema =
    BodySchema { item: "LocationInput", range: RangeInput::schema, answers_range_beside_items: true };

impl PartialSchema for LocationsBody {
    fn schema() -> RefOr<Schema> {
        BODY.schema(&KIND)
    }
}

impl ToSchema for LocationsBody {
    fn schemas(schemas: &mut Schemas) {
        schemas.push((LocationInput::name().into(), LocationInput::schema()));
        LocationInput::schemas(schemas);
        schemas.extend(BODY.schemas(&KIND));
    }
}

/// Result of submitting locations, with the locations of a time range if the request had one.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct StoredLocations {
    /// Number of submitted locations that are new and were stored.
    #[schema(example = 2, minimum = 0, maximum = 10000)]
    accepted: usize,
    /// Number of submitted locations that had been stored before. They are not stored again.
    #[schema(example = 0, minimum = 0, maximum = 10000)]
    duplicates: usize,
    /// Submitted locations that are invalid and were not stored, sorted by index.
    #[schema(max_items = 10000, example = json!([]))]
    rejected: Vec<Rejection>,
    /// Locations of the requested time range, oldest first. Absent if the request has no time range.
    #[schema(value_type = Option<Vec<LocationView>>)]
    locations: Option<Vec<LocationView>>,
    /// Cursor of the next page of the time range. Absent on the last page, and without a time range.
    next_cursor: Option<String>,
}

/// Result of submitting locations, or the locations of a time range.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum LocationsAnswered {
    /// All submitted locations had been stored before.
    Stored(StoredLocations),
    /// Locations of the requested time range.
    Range(LocationList),
}

/// Submit locations of a device
///
/// Stores locations. The body is one location, an array of locations, `{"locations": [...]}` or `{"location": {...}}`.
/// As `application/x-ndjson` it has one location per line. It may be compressed with `Content-Encoding: gzip` or
/// `zstd`. A body has at most 10,000 locations and 8 MiB. Each location is validated by itself: valid ones are stored,
/// invalid ones are listed in `rejected`. If none is valid, the request fails with 400. A location that was stored
/// before is counted in `duplicates`, so that a request can safely be repeated. Requires the privilege
/// `locations.write`. Sends the event `location.created` for each location that is stored. The request fails with
/// `device-expired` if the device is expired.
///
/// A body with `from` and `to` returns the stored locations of this time range: both ends included, oldest first,
/// complete unless `limit` is given. This requires no privilege. Together with `location` or `locations`, the answer
/// has both: the result of storing, and the `locations` of the time range.
#[utoipa::path(post, path = "/api/devices/{deviceId}/locations", tag = "locations",
    request_body(content(
        (LocationsBody = "application/json", examples(
            ("One location" = (value = json!({"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207, "speed": 18.5}))),
            ("Several" = (value = json!([
                {"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207},
                {"dateTime": "2026-05-01T12:10:00Z", "latitude": 42.2391, "longitude": -8.7533}]))),
            ("Several, wrapped" = (value = json!({"locations": [{"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207}]}))),
            ("One, wrapped" = (value = json!({"location": {"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207}}))),
            ("A time range" = (value = json!({"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z"}))))),
        (String = "application/x-ndjson", example = json!("{\"dateTime\":\"2026-05-01T12:00:00Z\",\"latitude\":42.2406,\"longitude\":-8.7207}\n")))),
    responses(
        (status = 201, description = "New locations were stored.", body = StoredLocations),
        (status = 200, description = "All submitted locations had been stored before; or the locations of the requested time range.", body = LocationsAnswered,
            example = json!({"success": true, "apiUsage": 42, "apiDailyUsage": 42, "locations": [
                {"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207, "receivedAt": "2026-05-01T12:00:03Z"}]})),
    ))]
pub async fn submit_locations(
    State(app): State<App>,
    submitter: Submitter,
    DevicePath(device): DevicePath,
    submission: Result<Submission, ApiError>,
) -> ApiResult<Response> {
    let AdmittedBody { caller, admitted, permit: _held } =
        admit_body(&app, submitter, device.as_ref(), submission, &KIND, Privilege::LocationsWrite).await?;
    match admitted {
        Admitted::Range(device, body) => {
            let part = read_part(&caller, &body, device.id)?;
            let subject = Subject { device: *device, scope: caller.scope() };
            // Boxed, as below: requests that only store are far more common, and should not need the memory of this
            // future.
            Box::pin(answer_track(&app, &caller, subject, part, Shape::PLAIN)).await
        }
        Admitted::Store(device, batch) => {
            let stored = store(&app, &caller, &device, batch).await?;
            let status = stored.status();
            Ok(caller.reply(stored).status(status).into_response())
        }
        Admitted::StoreAndRange(device, batch, range) => {
            // Read before anything is stored, so that an invalid time range stores nothing.
            let part = read_part(&caller, &range, device.id)?;
            let stored = store(&app, &caller, &DeviceRef::Id(device.id), batch).await?;
            let before = members(&stored)?;
            let subject = Subject { device: *device, scope: caller.scope() };
            let answer = answer_track_after(&app, &caller, subject, part, Shape::PLAIN, before);
            let mut answer = Box::pin(answer).await?;
            *answer.status_mut() = stored.status();
            Ok(answer)
        }
    }
}

/// The time range in the members of a body.
fn read_part(caller: &Caller, body: &Map<String, Value>, device: DeviceId) -> ApiResult<HistoryPart> {
    let fields = Fields::of_object(body, Pointer::root()).in_zone(caller.zone());
    HistoryPart::of_body(fields, "locations", device)
}

async fn store(app: &App, caller: &Caller, device: &DeviceRef, batch: Batch<Location>) -> ApiResult<Stored> {
    let stored = app.store.submit_locations(&caller.actor(), device, batch.good).await;
    let outcomes = stored.map_err(|error| refused(app, caller, error))?;
    Ok(Stored::of(outcomes, batch.rejected))
}

/// The result of storing as JSON members that continue an object.
fn members(stored: &Stored) -> ApiResult<Vec<u8>> {
    let mut written = serde_json::to_vec(stored).map_err(internal)?;
    written.pop();
    if let Some(brace) = written.first_mut() {
        *brace = b',';
    }
    Ok(written)
}

/// Authenticates, parses, validates and answers as if the locations were stored.
#[cfg(feature = "bench")]
pub async fn discard_locations(Call(app, caller): Call, submission: Submission) -> ApiResult<Response> {
    caller.require(Privilege::LocationsWrite)?;
    let read = submission.receive(&app, SUBMISSION_MAX).await?.read(&app, &KIND, caller.zone()).await?;
    let BodyContent::Store(batch) = read.content else {
        return Ok(http::StatusCode::NO_CONTENT.into_response());
    };
    let batch = batch?;
    let stored = Stored { accepted: batch.good.len(), duplicates: 0, rejected: batch.rejected };
    let status = stored.status();
    Ok(caller.reply(stored).status(status).into_response())
}

/// Authenticates and answers.
#[cfg(feature = "bench")]
pub async fn answer_nothing(caller: Caller) -> Response {
    caller.reply(Stored { accepted: 0, duplicates: 0, rejected: Vec::new() }).into_response()
}
