//! Locations as the document describes their GeoJSON.

use perigee_core::locations::location::Field;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::view::LocationView;

/// Locations as a GeoJSON feature collection (RFC 7946). `success`, usage counts and cursor are foreign members of it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationFeatures {
    /// Always `true` in a successful answer.
    #[schema(example = true)]
    success: bool,
    /// Number of API calls by the account since the API was activated.
    #[schema(example = 42, minimum = 0)]
    api_usage: u64,
    /// Number of API calls by the account on its current day.
    #[schema(example = 42, minimum = 0)]
    api_daily_usage: u64,
    /// Type of the GeoJSON object: always `FeatureCollection`.
    #[schema(rename = "type", value_type = String, example = "FeatureCollection", pattern = "^FeatureCollection$")]
    kind: &'static str,
    /// Locations of the device, sorted by `dateTime` in the requested order.
    features: Vec<LocationFeature>,
    /// Cursor of the next page. Absent on the last page.
    #[schema(required = false, value_type = String)]
    next_cursor: Option<String>,
}

/// Location as a GeoJSON feature.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationFeature {
    /// Type of the GeoJSON object: always `Feature`.
    #[schema(rename = "type", value_type = String, example = "Feature", pattern = "^Feature$")]
    kind: &'static str,
    /// Position of the device.
    geometry: LocationPoint,
    /// All other members of the location. `altitude` is here as well as in the coordinates.
    #[schema(value_type = LocationProperties)]
    properties: LocationProperties,
}

/// Position as a GeoJSON point.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationPoint {
    /// Type of the GeoJSON geometry: always `Point`.
    #[schema(rename = "type", value_type = String, example = "Point", pattern = "^Point$")]
    kind: &'static str,
    /// Longitude and latitude in degrees (WGS 84), in this order, and the altitude in metres if it is known.
    #[schema(example = json!([-8.7207, 42.2406, 12.5]), min_items = 2, max_items = 3)]
    coordinates: Vec<f64>,
}

/// The members of a location other than its position.
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
        object.description = Some("Members of a location other than latitude and longitude.".to_owned());
        RefOr::T(Schema::Object(object))
    }
}

impl ToSchema for LocationProperties {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        LocationView::schemas(schemas);
    }
}
