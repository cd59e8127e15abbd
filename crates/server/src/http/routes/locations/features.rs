//! Locations as the document describes their GeoJSON.

use perigee_core::location::Field;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::view::LocationView;

/// Locations as a GeoJSON feature collection (RFC 7946). What is not GeoJSON's own stands beside it as foreign
/// members.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationFeatures {
    /// Always true here.
    #[schema(example = true)]
    success: bool,
    /// Calls made by the account since the API was activated.
    #[schema(example = 42, minimum = 0)]
    api_usage: u64,
    /// Calls made on the account's present day.
    #[schema(example = 42, minimum = 0)]
    api_daily_usage: u64,
    /// What it is.
    #[schema(rename = "type", value_type = String, example = "FeatureCollection", pattern = "^FeatureCollection$")]
    kind: &'static str,
    /// The locations, in the order of their `dateTime`.
    features: Vec<LocationFeature>,
    /// Where to continue, when there is more.
    #[schema(required = false, value_type = String)]
    next_cursor: Option<String>,
}

/// A location as a GeoJSON feature.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationFeature {
    /// What it is.
    #[schema(rename = "type", value_type = String, example = "Feature", pattern = "^Feature$")]
    kind: &'static str,
    /// Where the device was.
    geometry: LocationPoint,
    /// Everything but the position; the altitude stands here and in the coordinates.
    #[schema(value_type = LocationProperties)]
    properties: LocationProperties,
}

/// A position as a GeoJSON point.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationPoint {
    /// What it is.
    #[schema(rename = "type", value_type = String, example = "Point", pattern = "^Point$")]
    kind: &'static str,
    /// Longitude and latitude in degrees (WGS 84), and the altitude in metres if it is known.
    #[schema(example = json!([-8.7207, 42.2406, 12.5]), min_items = 2, max_items = 3)]
    coordinates: Vec<f64>,
}

/// What a location has beside its position.
#[derive(Debug)]
pub struct LocationProperties;

impl PartialSchema for LocationProperties {
    fn schema() -> RefOr<Schema> {
        let RefOr::T(Schema::Object(mut object)) = LocationView::schema() else {
            return LocationView::schema();
        };
        for name in [Field::Latitude, Field::Longitude].map(Field::name) {
            object.properties.shift_remove(name);
            object.required.retain(|required| required != name);
        }
        object.description = Some("What a location has beside its position.".to_owned());
        RefOr::T(Schema::Object(object))
    }
}

impl ToSchema for LocationProperties {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        LocationView::schemas(schemas);
    }
}
