//! The JSON of geofences.

use perigee_core::locations::geofence::{Geofence, GeofenceSettings, Shape};
use perigee_core::text::{Description, Name};
use utoipa::PartialSchema;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

use super::geometry::{self, GeometryKind, KINDS};
use crate::http::input::{Input as _, Member, Schemas};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;

/// Geofence as a GeoJSON feature (RFC 7946).
#[derive(Serialize, ToSchema)]
#[schema(as = Geofence)]
pub struct GeofenceView {
    /// Type of the GeoJSON object: always `Feature`.
    #[serde(rename = "type")]
    #[schema(example = "Feature", pattern = "^Feature$")]
    kind: String,
    /// Unique identifier of the geofence, assigned by the server. It never changes.
    #[schema(example = "geo_01jc2m8k4n5p6")]
    id: String,
    /// Geometry of the geofence: an area, the centre of a circle, or the line of a corridor.
    geometry: GeometryView,
    /// Name and other properties of the geofence.
    properties: PropertiesView,
}

/// Geometry of a geofence: an area (`Polygon`, `MultiPolygon`), the centre of a circle (`Point`) or the line of a
/// corridor (`LineString`). An edge between two positions takes the shorter way around the earth, so that an area may
/// cross the antimeridian. A ring that goes around the earth encloses the pole of its hemisphere.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = GeofenceGeometry)]
pub struct GeometryView {
    /// Type of the geometry: `Polygon` for an area, `MultiPolygon` for several areas (at most 100), `Point` for the
    /// centre of a circle, `LineString` for the line of a corridor.
    #[serde(rename = "type")]
    #[schema(example = "Polygon", pattern = "^(Polygon|MultiPolygon|Point|LineString)$")]
    kind: String,
    /// Coordinates as GeoJSON defines them for the type: positions of longitude and latitude in degrees (WGS 84), at
    /// most 2000 in total. An altitude is ignored.
    #[schema(value_type = Vec<Value>, example = json!([[[-8.9, 42.1], [-8.6, 42.1], [-8.6, 42.3], [-8.9, 42.1]]]))]
    coordinates: Value,
}

/// Properties of a geofence.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GeofenceProperties)]
pub struct PropertiesView {
    /// Name of the geofence, shown in lists and notifications.
    #[schema(example = "Ría de Vigo")]
    name: String,
    /// Free text about the geofence. Null if not set.
    #[schema(example = "Inner harbour")]
    description: Option<String>,
    /// Radius of the circle, in metres. Null unless the geometry is a `Point`.
    #[schema(example = json!(null))]
    radius: Option<f64>,
    /// Width of the corridor from edge to edge, in metres. Null unless the geometry is a `LineString`.
    #[schema(example = json!(null))]
    width: Option<f64>,
    /// Time at which the geofence was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the geofence.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

list! {
    /// A list of geofences.
    pub struct GeofenceList;
    /// Geofences that the caller may see, sorted by ID.
    geofences: GeofenceView,
}

input! {
    /// Settings of a geofence, as a GeoJSON feature.
    pub(super) struct GeofenceInput {
        /// Type of the GeoJSON object: must be `Feature`.
        _feature as "type": Feature, required, example "Feature";
        /// Geometry of the geofence: an area, the centre of a circle, or the line of a corridor.
        geometry: Geometry, required;
        /// Name and other properties of the geofence.
        properties: Properties, required;
    }
}

input! {
    /// Properties of a geofence.
    pub(super) struct GeofencePropertiesInput {
        /// Name of the geofence, shown in lists and notifications.
        name: Name, required, example "Ría de Vigo";
        /// Free text about the geofence. Null for none.
        description: Description, nullable, example "Inner harbour";
        /// Radius of the circle, in metres: more than 0 and at most 1000000. Required for a `Point`, refused for other
        /// geometries.
        radius: Metres, nullable, example null;
        /// Width of the corridor from edge to edge, in metres: more than 0 and at most 1000000. Required for a
        /// `LineString`, refused for other geometries.
        width: Metres, nullable, example null;
    }
}

/// The type of a GeoJSON feature.
pub(super) enum Feature {}

impl Member for Feature {
    type Value = ();

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, ()> {
        fields.text(name).one_of(&[("Feature", ())])
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).pattern(Some("^Feature$")).into()
    }
}

/// A length in metres. Its bounds are checked with the shape it belongs to.
pub(super) enum Metres {}

impl Member for Metres {
    type Value = f64;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, f64> {
        fields.number(name)
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Number)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)))
            .minimum(Some(0))
            .maximum(Some(1_000_000))
            .into()
    }
}

/// A geometry of GeoJSON, its coordinates not read yet.
pub(super) enum Geometry {}

impl Member for Geometry {
    type Value = (GeometryKind, Value);

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Self::Value> {
        fields.object(name, |geometry| {
            let kind = geometry.text("type").one_of(KINDS).required();
            let coordinates = geometry.raw("coordinates").required();
            Some((kind?, coordinates?.clone()))
        })
    }

    fn schema() -> RefOr<Schema> {
        RefOr::Ref(Ref::from_schema_name(GeometryView::name()))
    }

    fn add_schemas(schemas: &mut Schemas) {
        schemas.push((GeometryView::name().into_owned(), <GeometryView as PartialSchema>::schema()));
    }
}

/// The properties of a geofence. `radius` and `width` depend on the geometry.
pub(super) enum Properties {}

impl Member for Properties {
    type Value = GeofencePropertiesInput;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Self::Value> {
        let word = fields.raw("geometry").nullable().and_then(|geometry| geometry.get("type")?.as_str());
        let kind = KINDS.iter().find(|(known, _)| Some(*known) == word).map(|(_, kind)| *kind);
        fields.object(name, |inner| {
            inner.ignore(&["creation", "lastModified"]);
            let properties = GeofencePropertiesInput::read(inner);
            refuse_metres(&properties, kind, inner);
            properties.name.is_some().then_some(properties)
        })
    }

    fn schema() -> RefOr<Schema> {
        RefOr::Ref(Ref::from_schema_name(GeofencePropertiesInput::name()))
    }

    fn add_schemas(schemas: &mut Schemas) {
        let name = GeofencePropertiesInput::name().into_owned();
        schemas.push((name, <GeofencePropertiesInput as PartialSchema>::schema()));
    }
}

/// Refuses a radius or width that is missing or belongs to another geometry.
fn refuse_metres(properties: &GeofencePropertiesInput, kind: Option<GeometryKind>, fields: &mut Fields<'_>) {
    for (member, given, owner, of) in [
        ("radius", properties.radius.is_some(), GeometryKind::Point, "Point"),
        ("width", properties.width.is_some(), GeometryKind::LineString, "LineString"),
    ] {
        if kind == Some(owner) && !given {
            fields.refuse(
                member,
                &format!("is required for a {of}: a length in metres, more than 0 and at most 1000000"),
            );
        } else if kind.is_some_and(|kind| kind != owner) && given {
            fields.refuse(member, &format!("is accepted only for a {of}; leave it out"));
        }
    }
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

/// Reads the settings of a geofence.
pub(super) fn read_geofence(body: &Value) -> ApiResult<GeofenceSettings> {
    read_body(body, &[ENVELOPE, &["id"]], |input: GeofenceInput, fields| {
        let ((kind, coordinates), properties) = input.geometry.zip(input.properties)?;
        let metres = properties.radius.or(properties.width).unwrap_or(0.0);
        match geometry::read(kind, &coordinates, metres) {
            Ok(shape) => {
                let GeofencePropertiesInput { name, description, .. } = properties;
                Some(GeofenceSettings { name: name?, description, shape })
            }
            Err(refusal) => {
                fields.refuse("geometry", &refusal);
                None
            }
        }
    })
}
