//! Places of positions: for the console and for programs that have positions of their own.

use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::locations::place::{Form, describe, gazetteer};

use crate::http::place::{read_reader, reader_of};
use crate::http::prelude::*;

/// The most positions of a request. More do not fit into a parameter.
const POSITIONS_MAX: usize = 50;

/// Descriptions of positions in words.
#[derive(Serialize, ToSchema)]
pub struct PlaceList {
    /// Places, one for each position, in the order of `at`.
    #[schema(max_items = 50)]
    places: Vec<PlaceView>,
}

/// Place of a position: a description in words, and the named place that it refers to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Place)]
pub struct PlaceView {
    /// Description of the position in words: distance and direction from the named place.
    #[schema(example = "22 km SW of Vigo, Spain")]
    text: String,
    /// Name of the town, cape, island or port, in the requested language if there is one.
    #[schema(example = "Vigo")]
    name: String,
    /// Kind of the named place: `town`, `cape`, `island` or `port`.
    #[schema(example = "town", pattern = "^(town|cape|island|port)$")]
    kind: &'static str,
    /// Country of a town, as a two-letter code (ISO 3166-1). Null for other kinds of places.
    #[schema(example = "ES", min_length = 2, max_length = 2)]
    country: Option<&'static str>,
    /// Distance from the named place to the position, in metres. The named places are accurate to about 300 m.
    #[schema(example = 21_600, minimum = 0)]
    distance_metres: u32,
    /// Direction from the named place to the position, in degrees clockwise from true north.
    #[schema(example = 221, minimum = 0, exclusive_maximum = 360)]
    bearing: u16,
}

/// Reads positions such as `42.24,-8.72;43.1,-10.5`.
fn read_positions(params: &mut Params) -> Vec<(Latitude, Longitude)> {
    let must_be =
        "1 to 50 positions such as \"42.24,-8.72;43.1,-10.5\": each a latitude and a longitude in degrees";
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

/// Describe positions in words
///
/// Describes up to 50 positions in words: by the distance and direction from the town, cape, island or port that
/// describes each best. The names are part of the server; no other service is called. Any user may call this operation.
#[utoipa::path(get, path = "/api/places", tag = "locations", params(
    ("at" = String, Query, description = "Positions, at most 50, separated by semicolons. A position is a latitude and a longitude in degrees, separated by a comma.", example = "42.09,-8.9;43.1,-10.5"),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of the descriptions. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in the descriptions. Default: the units of the caller's preferences."),
), responses((status = 200, description = "A place for each position, in the order of `at`.", body = PlaceList)))]
pub async fn list_places(Call(app, caller): Call, mut params: Params) -> ApiReply<PlaceList> {
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
