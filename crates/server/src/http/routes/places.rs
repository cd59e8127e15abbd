//! Positions in words, many at a time: for the console and for programs that have positions of their own.

use axum::extract::State;
use perigee_core::location::{Latitude, Longitude};
use perigee_core::place::{Form, describe, gazetteer};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, Params};
use crate::http::place::{read_reader, reader_of};
use crate::http::reply::Reply;

/// Positions of one request. More do not fit into a parameter.
const POSITIONS_MAX: usize = 50;

/// Positions in words.
#[derive(Serialize, ToSchema)]
pub struct PlaceList {
    /// The places, in the order of the positions.
    #[schema(max_items = 50)]
    places: Vec<PlaceView>,
}

/// A position in words, and the place by which it is described.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Place)]
pub struct PlaceView {
    /// Where the position is, in words.
    #[schema(example = "22 km SW of Vigo, Spain")]
    text: String,
    /// The name of the place.
    #[schema(example = "Vigo")]
    name: String,
    /// What the place is: `town`, `cape`, `island` or `port`.
    #[schema(example = "town", pattern = "^(town|cape|island|port)$")]
    kind: &'static str,
    /// The country of a town, by its two-letter code.
    #[schema(example = "ES", min_length = 2, max_length = 2)]
    country: Option<&'static str>,
    /// Metres from the place to the position; places are known to some 300 m.
    #[schema(example = 21_600, minimum = 0)]
    distance_metres: u32,
    /// Direction from the place to the position, in degrees from true north.
    #[schema(example = 221, minimum = 0, exclusive_maximum = 360)]
    bearing: u16,
}

/// Reads positions such as `42.24,-8.72;43.1,-10.5`.
fn read_positions(params: &mut Params) -> Vec<(Latitude, Longitude)> {
    let must_be = "1 to 50 positions such as \"42.24,-8.72;43.1,-10.5\": latitude and longitude in degrees";
    let Some(text) = params.text("at") else {
        params.refuse("at", format!("The parameter \"at\" is required: {must_be}."));
        return Vec::new();
    };
    let position = |pair: &str| {
        let (latitude, longitude) = pair.split_once(',')?;
        let latitude = Latitude::from_degrees(latitude.trim().parse().ok()?).ok()?;
        Some((latitude, Longitude::from_degrees(longitude.trim().parse().ok()?).ok()?))
    };
    let positions: Option<Vec<_>> = text.split(';').map(position).collect();
    let positions = positions.filter(|positions| positions.len() <= POSITIONS_MAX);
    if positions.is_none() {
        params.refuse("at", format!("The parameter \"at\" must be {must_be}."));
    }
    positions.unwrap_or_default()
}

/// Tell positions in words.
///
/// Each by its distance and direction from the town, cape, island or port by which it is best described. The names are part of
/// this server: nobody else is asked. `language` and `units` are the caller's own when left out.
#[utoipa::path(get, path = "/api/places", tag = "locations", params(
    ("at" = String, Query, description = "Positions with semicolons between, at most 50: latitude, comma, longitude, in degrees.", example = "42.09,-8.9;43.1,-10.5"),
    ("language" = Option<super::session_preferences::ConsoleLanguageName>, Query, description = "Language of the words."),
    ("units" = Option<super::alert_routing::view::UnitsName>, Query, description = "Units of the distances in words."),
), responses((status = 200, description = "The places.", body = PlaceList)))]
pub async fn list_places(
    State(app): State<App>,
    caller: Caller,
    mut params: Params,
) -> ApiResult<Reply<PlaceList>> {
    let positions = read_positions(&mut params);
    let given = read_reader(&mut params);
    params.finish()?;
    let reader = reader_of(&app, &caller, given).await?;
    let place = |(latitude, longitude): (Latitude, Longitude)| {
        let near = gazetteer().nearest(latitude, longitude)?;
        Some(PlaceView {
            text: describe((latitude, longitude), reader, Form::Full)?,
            name: near.place.name(reader.language).to_owned(),
            kind: near.place.kind.name(),
            country: near.place.country,
            distance_metres: whole(near.metres),
            bearing: u16::try_from(whole(near.bearing) % 360).unwrap_or_default(),
        })
    };
    Ok(caller.reply(PlaceList { places: positions.into_iter().filter_map(place).collect() }))
}

/// The nearest whole number to one that is neither negative nor large.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most half the earth's circumference"
)]
fn whole(number: f64) -> u32 {
    number.round() as u32
}
