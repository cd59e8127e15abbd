//! Reference data for user profiles: countries and time zones.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header;
use perigee_core::accounts::country::Country;
use perigee_core::zone::Zone;
use sha2::{Digest as _, Sha256};

use crate::http::prelude::*;
use crate::http::reply::not_modified;

/// Countries that a user profile can have.
#[derive(Serialize, ToSchema)]
pub struct CountryList {
    /// English names by two-letter code (ISO 3166-1), sorted by name.
    #[schema(value_type = BTreeMap<String, String>, example = json!({ "ES": "Spain", "PT": "Portugal" }))]
    countries: serde_json::Map<String, Value>,
}

/// Time zones that users and accounts can have.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeZoneList {
    /// Labels by IANA identifier. A label has the current offset from UTC and the identifier.
    #[schema(
        value_type = BTreeMap<String, String>,
        example = json!({ "Europe/Madrid": "(UTC+02:00) Europe/Madrid" })
    )]
    time_zones: BTreeMap<&'static str, String>,
}

/// Answers with data that changes rarely, or with 304 if the client has it.
fn answer_reference<T: Serialize>(caller: &Caller, known: &Preconditions, body: T) -> ApiResult<Response> {
    let digest = Sha256::digest(serde_json::to_vec(&body).map_err(internal)?);
    let tag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(&digest[..12]));
    if let Some(tag) = known.known(&tag) {
        return Ok(not_modified(&tag));
    }
    Ok(caller.reply(body).header(header::ETAG, tag).into_response())
}

/// List countries
///
/// Returns the countries that a user profile can have. Send the `ETag` of an earlier response as `If-None-Match` to get
/// 304 while nothing has changed.
#[utoipa::path(get, path = "/api/users/countries", tag = "users", responses(
    (status = 200, description = "Every country, sorted by name.", body = CountryList),
    (status = 304, description = "Nothing has changed since the response with this entity tag."),
))]
pub async fn list_countries(
    caller: Caller,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let countries = Country::all().map(|(code, name)| (code.to_owned(), Value::from(name))).collect();
    answer_reference(&caller, &preconditions, CountryList { countries })
}

/// List time zones
///
/// Returns the IANA time zones that users and accounts can have, with their current offsets from UTC. Send the `ETag` of
/// an earlier response as `If-None-Match` to get 304 while nothing has changed.
#[utoipa::path(get, path = "/api/users/timeZones", tag = "users", responses(
    (status = 200, description = "Every time zone, sorted by identifier.", body = TimeZoneList),
    (status = 304, description = "Nothing has changed since the response with this entity tag."),
))]
pub async fn list_time_zones(
    Call(app, caller): Call,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let now = app.clock.now();
    let labelled = |id: &'static str| Some((id, id.parse::<Zone>().ok()?.label(now)));
    let time_zones = Zone::all().filter_map(labelled).collect();
    answer_reference(&caller, &preconditions, TimeZoneList { time_zones })
}
