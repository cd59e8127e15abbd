//! Submitting locations. The same path answers a time range, as clients of the original API expect.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use perigee_core::id::DeviceId;
use perigee_core::location::Location;
use perigee_core::privilege::Privilege;
use serde_json::{Map, Value};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::input::{read_location, scan_location};
use super::view::{LocationInput, LocationList, LocationView};
use crate::app::App;
use crate::http::error::{ApiError, ApiResult, internal};
#[cfg(feature = "bench")]
use crate::http::extract::SUBMISSION_MAX;
use crate::http::extract::{Caller, DevicePath, Submission, Submitter};
use crate::http::format::{Shape, Subject, answer_track, answer_track_after};
use crate::http::history::{HistoryPart, RangeInput, check_range};
use crate::http::input::Schemas;
use crate::http::json::{Fields, Pointer};
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

/// Locations to store, or a time range to answer.
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

/// What became of the locations sent, and the locations of the span of time asked for beside them.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct StoredLocations {
    /// How many are new and kept.
    #[schema(example = 2, minimum = 0, maximum = 10000)]
    accepted: usize,
    /// How many were there already.
    #[schema(example = 0, minimum = 0, maximum = 10000)]
    duplicates: usize,
    /// Those that were not stored, by their place.
    #[schema(max_items = 10000, example = json!([]))]
    rejected: Vec<Rejection>,
    /// The locations asked for; absent when none were asked for.
    #[schema(value_type = Option<Vec<LocationView>>)]
    locations: Option<Vec<LocationView>>,
    /// Where to go on, when there is more.
    next_cursor: Option<String>,
}

/// What became of the locations sent, or the locations asked for.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum LocationsAnswered {
    /// Nothing was new.
    Stored(StoredLocations),
    /// The locations asked for.
    Range(LocationList),
}

/// Submit locations for a device.
///
/// Stores a location, an array of them, `{"locations": [...]}` or `{"location": {...}}`; up to 10,000 in up to
/// 8 MiB, also one a line as `application/x-ndjson`, also packed with `Content-Encoding: gzip` or `zstd`. Good ones
/// are stored beside bad ones; sending one again changes nothing. Storing needs `locations.write`.
///
/// Answers a span of time for `{"from", "to"}`: both included, oldest first, complete unless `limit` is given. Given
/// beside `location` or `locations`, the answer has both: what became of those sent, and the `locations` of the span.
#[utoipa::path(post, path = "/api/devices/{deviceId}/locations", tag = "locations",
    params(("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7")),
    request_body(content(
        (LocationsBody = "application/json", examples(
            ("One location" = (value = json!({"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207, "speed": 18.5}))),
            ("Several" = (value = json!([
                {"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207},
                {"dateTime": "2026-05-01T12:10:00Z", "latitude": 42.2391, "longitude": -8.7533}]))),
            ("Several, wrapped" = (value = json!({"locations": [{"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207}]}))),
            ("One, wrapped" = (value = json!({"location": {"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207}}))),
            ("A span of time" = (value = json!({"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z"}))))),
        (String = "application/x-ndjson", example = json!("{\"dateTime\":\"2026-05-01T12:00:00Z\",\"latitude\":42.2406,\"longitude\":-8.7207}\n")))),
    responses(
        (status = 201, description = "New locations were stored.", body = StoredLocations),
        (status = 200, description = "All of them were there already; or the locations asked for.", body = LocationsAnswered,
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
            // Boxed, as below: what stores is far more common, and should not take the memory of this while it waits.
            Box::pin(answer_track(&app, &caller, subject, part, Shape::PLAIN)).await
        }
        Admitted::Store(device, batch) => {
            let stored = store(&app, &caller, device, batch).await?;
            let status = stored.status();
            Ok(caller.reply(stored).status(status).into_response())
        }
        Admitted::StoreAndRange(device, batch, range) => {
            // Read before anything is stored, so that an invalid time range stores nothing.
            let part = read_part(&caller, &range, device.id)?;
            let stored = store(&app, &caller, device.id, batch).await?;
            let before = members(&stored)?;
            let subject = Subject { device: *device, scope: caller.scope() };
            let answer = answer_track_after(&app, &caller, subject, part, Shape::PLAIN, before);
            let mut answer = Box::pin(answer).await?;
            *answer.status_mut() = stored.status();
            Ok(answer)
        }
    }
}

/// The span of time that the members of a body tell.
fn read_part(caller: &Caller, body: &Map<String, Value>, device: DeviceId) -> ApiResult<HistoryPart> {
    let fields = Fields::of_object(body, Pointer::root()).in_zone(caller.zone());
    HistoryPart::of_body(fields, "locations", device)
}

async fn store(app: &App, caller: &Caller, device: DeviceId, batch: Batch<Location>) -> ApiResult<Stored> {
    let stored = app.store.store_locations(&caller.actor(), device, batch.good).await;
    let outcomes = stored.map_err(|error| refused(app, caller, error))?;
    Ok(Stored::of(outcomes, batch.rejected))
}

/// What became of the locations, as members that go on an object which has some.
fn members(stored: &Stored) -> ApiResult<Vec<u8>> {
    let mut written = serde_json::to_vec(stored).map_err(internal)?;
    written.pop();
    if let Some(brace) = written.first_mut() {
        *brace = b',';
    }
    Ok(written)
}

/// Authenticates, parses, judges and answers as if it had stored.
#[cfg(feature = "bench")]
pub async fn discard_locations(
    State(app): State<App>,
    caller: Caller,
    submission: Submission,
) -> ApiResult<Response> {
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
