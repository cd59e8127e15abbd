//! Reading locations: a device's history and its last location.

use axum::body::Body;
use http::{HeaderMap, HeaderValue, header};
use perigee_core::devices::device::DeviceRef;
use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::place::Reader;

use super::features::LocationFeatures;
use super::view::{LastLocation, LocationList};
use crate::http::format::{Format, Selection, Shape, Subject, answer_track, json};
use crate::http::history::HistoryPart;
use crate::http::place::place_param;
use crate::http::prelude::*;
use crate::http::reply::{Envelope, not_modified};
use crate::http::routes::devices::{find_device, find_device_id};

/// List locations of a device
///
/// Returns the stored locations of a device with a `dateTime` between `from` and `to`, both included. The list is
/// complete unless `limit` or `cursor` is given; with either, it is returned in pages. Any user who may see the device
/// may call this operation.
///
/// The format is the one given in `format`, or else the one that `Accept` prefers. All formats contain every member of
/// a location. Members that a format does not define are in the properties of a GeoJSON feature, in the extensions of a
/// GPX point (namespace `urn:perigee:location:1`) and in the extended data of a KML placemark. In CSV, GPX and KML,
/// lists and objects are written as JSON.
#[utoipa::path(get, path = "/api/devices/{deviceId}/locations", tag = "locations", params(
    ("from" = Option<String>, Query, description = "Start of the time range, inclusive. Default: the oldest location.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "End of the time range, inclusive. Must not be before `from`. Default: the newest location.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("order" = Option<crate::http::history::OrderName>, Query, description = "Order by `dateTime`: `asc` for oldest first, `desc` for newest first. Default: `asc`."),
    ("limit" = Option<u32>, Query, description = "Maximum number of locations in a page. Default: 10000 with `cursor`, no limit without.", minimum = 1, maximum = 10000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page. The `Link` header of that page has the complete URL."),
    ("format" = Option<Format>, Query, description = "Format of the answer. Takes precedence over `Accept`. Default: `json`."),
    ("fields" = Option<String>, Query, description = "JSON names of the members to return, separated by commas. Supported by the formats `json`, `ndjson` and `csv`. Default: all members.", example = "dateTime,latitude,longitude,speed"),
    ("simplify" = Option<f64>, Query, description = "Tolerance for simplifying the track, in metres: locations are omitted while the line through the remaining ones passes within this distance of them. The first and the last location are always returned. Must not be combined with `limit` or `cursor`.", exclusive_minimum = 0, maximum = 1_000_000),
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position in words, to each location. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
), responses((status = 200, description = "Locations of the device.", content(
    (LocationList = "application/json"),
    (String = "application/x-ndjson", example = json!("{\"dateTime\":\"2026-05-01T12:00:00Z\",\"latitude\":42.2406,\"longitude\":-8.7207,\"receivedAt\":\"2026-05-01T12:00:03Z\"}\n")),
    (LocationFeatures = "application/geo+json"),
    (String = "text/csv", example = json!("dateTime,latitude,longitude,speed\r\n2026-05-01T12:00:00Z,42.2406,-8.7207,18.5\r\n")),
    (String = "application/gpx+xml", example = json!("<gpx version=\"1.1\" creator=\"Perigee\" xmlns=\"http://www.topografix.com/GPX/1/1\" xmlns:perigee=\"urn:perigee:location:1\"><trk><name>Northern Star</name><trkseg></trkseg></trk></gpx>")),
    (String = "application/vnd.google-earth.kml+xml", example = json!("<kml xmlns=\"http://www.opengis.net/kml/2.3\" version=\"2.3\"><Document><name>Northern Star</name></Document></kml>")),
))))]
pub async fn list_locations(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    headers: HeaderMap,
    mut params: Params,
) -> ApiResult<Response> {
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let place = place_param(&app, &caller, &mut params).await?;
    let shape = Shape { place, ..Shape::of_params(&mut params, &headers)? };
    let part = HistoryPart::of_params(params, caller.zone(), "locations", device.id)?;
    let subject = Subject { device, scope: caller.scope() };
    answer_track(&app, &caller, subject, part, shape).await
}

/// Retrieve the last location of a device
///
/// Returns the location with the newest `dateTime` that is not suspect. A coarse position of a network does not replace
/// a position that the device measured within the 24 hours before. If the device has no such location yet, the request
/// fails with `no-location` (404). Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/lastLocation", tag = "locations",
    params(
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position in words, to the location. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
    ),
    responses(
        (status = 200, description = "The last location of the device.", body = LastLocation),
        (status = 304, description = "The last location is still the one whose entity tag is given in `If-None-Match`."),
    ))]
pub async fn get_last_location(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    preconditions: Preconditions,
    mut params: Params,
) -> ApiResult<Response> {
    let place = place_param(&app, &caller, &mut params).await?;
    params.finish()?;
    let device = match device {
        // The store checks that the device exists.
        Some(DeviceRef::Id(id)) => id,
        device => find_device_id(&app, &caller, device.as_ref()).await?,
    };
    let last = app.store.find_last_location(caller.scope(), device).await?.ok_or_else(|| {
        ApiError::new(
            ErrorCode::NoLocation,
            "The device has no location yet. Wait until it reports, or submit one with POST /api/devices/{deviceId}/locations.",
        )
    })?;
    // A stored location never changes, so its number identifies the answer.
    let words = place.map(|reader| format!("-{}-{}", reader.language.name(), reader.units.name()));
    let tag = format!("\"l{}{}\"", last.number, words.unwrap_or_default());
    if let Some(tag) = preconditions.known(&tag) {
        return Ok(not_modified(&tag));
    }
    let mut response = Response::new(Body::from(write_last(&caller, &last, place)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ETAG, HeaderValue::from_str(&tag).map_err(internal)?);
    Ok(response)
}

fn write_last(caller: &Caller, last: &StoredLocation, place: Option<Reader>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    json::open_envelope(&mut bytes, Envelope::of(Some(caller.usage())));
    bytes.extend_from_slice(b",\"lastLocation\":");
    json::write_described_location(&mut bytes, None, last, Selection::ALL, place);
    bytes.push(b'}');
    bytes
}
