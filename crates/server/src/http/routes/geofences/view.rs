//! The JSON of geofences.

use perigee_core::geofence::{Geofence, GeofenceSettings, Shape};
use perigee_core::text::{DESCRIPTION_MAX, NAME_MAX};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::geometry::{self, GeometryKind, KINDS};
use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::json::Fields;

/// A geofence as a GeoJSON feature (RFC 7946).
#[derive(Serialize, ToSchema)]
#[schema(as = Geofence)]
pub struct GeofenceView {
    /// Always `Feature`.
    #[serde(rename = "type")]
    #[schema(example = "Feature", pattern = "^Feature$")]
    kind: String,
    /// The geofence's id; never changes.
    #[schema(example = "geo_01jc2m8k4n5p6")]
    id: String,
    /// The area, the centre of a circle, or the line of a corridor.
    geometry: GeometryView,
    /// What else is set of it.
    properties: PropertiesView,
}

/// An area (`Polygon`, `MultiPolygon`), the middle of a circle (`Point`) or the line of a corridor (`LineString`).
/// Edges go the shorter way round the earth, so that an area may cross the antimeridian; a ring that goes once round
/// the earth encloses the pole of its hemisphere.
#[derive(Serialize, ToSchema)]
#[schema(as = GeofenceGeometry)]
pub struct GeometryView {
    /// `Polygon`, `MultiPolygon`, `Point` or `LineString`.
    #[serde(rename = "type")]
    #[schema(example = "Polygon", pattern = "^(Polygon|MultiPolygon|Point|LineString)$")]
    kind: String,
    /// Positions of longitude and latitude in degrees, at most 2000 in all.
    #[schema(value_type = Vec<Value>, example = json!([[[-8.9, 42.1], [-8.6, 42.1], [-8.6, 42.3], [-8.9, 42.1]]]))]
    coordinates: Value,
}

/// What is set of a geofence beside where it is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GeofenceProperties)]
pub struct PropertiesView {
    /// The geofence's name, shown in lists and messages.
    #[schema(example = "Ría de Vigo", min_length = 1, max_length = 200)]
    name: String,
    /// A note about it.
    #[schema(example = "Inner harbour", max_length = 2000)]
    description: Option<String>,
    /// The radius of a circle in metres.
    #[schema(example = json!(null), minimum = 0, maximum = 1_000_000)]
    radius: Option<f64>,
    /// The width of a corridor in metres, from edge to edge.
    #[schema(example = json!(null), minimum = 0, maximum = 1_000_000)]
    width: Option<f64>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When a client last changed it.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// A list of geofences.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GeofenceList {
    /// The geofences, by id.
    geofences: Vec<GeofenceView>,
    /// Where to go on, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// What a client sets of a geofence: a GeoJSON feature.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is read")]
pub struct GeofenceInput {
    /// Always `Feature`.
    #[schema(rename = "type", example = "Feature", pattern = "^Feature$")]
    kind: String,
    /// The area, the centre of a circle, or the line of a corridor.
    geometry: GeometryView,
    /// What else is set of it.
    properties: PropertiesInput,
}

/// What a client sets of a geofence beside where it is.
#[derive(ToSchema)]
#[schema(as = GeofencePropertiesInput, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct PropertiesInput {
    /// The geofence's name, shown in lists and messages.
    #[schema(example = "Ría de Vigo", min_length = 1, max_length = 200)]
    name: String,
    /// A note about it.
    #[schema(example = "Inner harbour", max_length = 2000)]
    description: Option<String>,
    /// The radius of a circle in metres; required for a `Point`, and only there.
    #[schema(example = json!(null), minimum = 0, maximum = 1_000_000)]
    radius: Option<f64>,
    /// The width of a corridor in metres, from edge to edge; required for a `LineString`, and only there.
    #[schema(example = json!(null), minimum = 0, maximum = 1_000_000)]
    width: Option<f64>,
}

impl From<Geofence> for GeofenceView {
    fn from(fence: Geofence) -> Self {
        let settings = fence.settings;
        let (kind, coordinates) = geometry::write(&settings.shape);
        let (radius, width) = match settings.shape {
            Shape::Areas(_) => (None, None),
            Shape::Circle { radius_m, .. } => (Some(radius_m), None),
            Shape::Corridor { width_m, .. } => (None, Some(width_m)),
        };
        Self {
            kind: "Feature".to_owned(),
            id: fence.id.to_string(),
            geometry: GeometryView { kind: kind.to_owned(), coordinates },
            properties: PropertiesView {
                name: settings.name,
                description: settings.description,
                radius,
                width,
                creation: fence.creation.to_string(),
                last_modified: fence.last_modified.to_string(),
            },
        }
    }
}

/// The properties as they are read: name, description, radius and width.
type Properties = (String, Option<String>, Option<f64>, Option<f64>);

fn read_properties(fields: &mut Fields<'_>, kind: Option<GeometryKind>) -> Option<Properties> {
    fields.ignore(&["creation", "lastModified"]);
    let name = fields.text("name").chars(1..=NAME_MAX).required();
    let description = fields.multiline_text("description").chars(0..=DESCRIPTION_MAX).nullable();
    let radius = fields.number("radius").nullable();
    let width = fields.number("width").nullable();
    for (member, given, owner, of) in [
        ("radius", radius.is_some(), GeometryKind::Point, "Point"),
        ("width", width.is_some(), GeometryKind::LineString, "LineString"),
    ] {
        if kind == Some(owner) && !given {
            fields
                .refuse(member, &format!("is required for a {of}: metres, more than 0 and at most 1000000"));
        } else if kind.is_some_and(|kind| kind != owner) && given {
            fields.refuse(member, &format!("belongs to a {of} alone; leave it out"));
        }
    }
    Some((name?, description, radius, width))
}

/// Reads what a client sets of a geofence.
pub(super) fn read_geofence(body: &Value) -> ApiResult<GeofenceSettings> {
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    fields.ignore(ENVELOPE);
    fields.ignore(&["id"]);
    let _feature = fields.text("type").one_of(&[("Feature", ())]).required();
    let mut kind = None;
    let geometry = fields.object("geometry", |geometry| {
        kind = geometry.text("type").one_of(KINDS).required();
        let coordinates = geometry.raw("coordinates").required();
        Some((kind?, coordinates?))
    });
    let geometry = geometry.required();
    let properties = fields.object("properties", |inner| read_properties(inner, kind)).required();
    let metres = properties.as_ref().and_then(|(_, _, radius, width)| radius.or(*width));
    let shape = geometry.zip(properties.as_ref()).and_then(|((kind, coordinates), _)| {
        match geometry::read(kind, coordinates, metres.unwrap_or(0.0)) {
            Ok(shape) => Some(shape),
            Err(refusal) => {
                fields.refuse("geometry", &refusal);
                None
            }
        }
    });
    let settings = fields.finish(|| {
        let (name, description, ..) = properties?;
        Some(GeofenceSettings { name, description, shape: shape? })
    });
    settings.map_err(invalid_body)
}
