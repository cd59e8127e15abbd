//! Reading and writing GeoJSON geometries. Each problem is reported with its pointer.

use perigee_core::locations::geofence::{Area, Position, Shape};
use perigee_core::locations::location::{Degrees, Latitude, Longitude};
use serde_json::{Value, json};

use crate::http::json::Refusal;

/// The geometries that are accepted, by their GeoJSON name.
pub(super) const KINDS: &[(&str, GeometryKind)] = &[
    ("Polygon", GeometryKind::Polygon),
    ("MultiPolygon", GeometryKind::MultiPolygon),
    ("Point", GeometryKind::Point),
    ("LineString", GeometryKind::LineString),
];

/// A geometry that can be the shape of a geofence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeometryKind {
    Polygon,
    MultiPolygon,
    Point,
    LineString,
}

/// Whether coordinates have at most this many arrays; each position is one.
pub(super) fn has_at_most(coordinates: &Value, mut arrays: usize) -> bool {
    fn take(value: &Value, left: &mut usize) -> bool {
        let Value::Array(items) = value else { return true };
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        items.iter().all(|item| take(item, left))
    }
    take(coordinates, &mut arrays)
}

type Read<T> = Result<T, Refusal>;

fn array(value: &Value) -> Read<&Vec<Value>> {
    value
        .as_array()
        .ok_or_else(|| "must have coordinates as GeoJSON defines them: arrays of positions".into())
}

fn read_position(value: &Value) -> Read<Position> {
    let numbers: Option<Vec<f64>> = array(value)?.iter().map(Value::as_f64).collect();
    let position = numbers.filter(|numbers| (2..=3).contains(&numbers.len()));
    let Some([longitude, latitude, ..]) = position.as_deref() else {
        return Err(
            "must have positions of two or three numbers: longitude, latitude and optionally altitude".into(),
        );
    };
    let wrong = || {
        format!(
            "has an invalid position [{longitude}, {latitude}]: the longitude must be between -180 and 180, the latitude between -90 and 90"
        )
    };
    Ok(Position {
        latitude: Latitude::from_degrees(*latitude).map_err(|_off| wrong())?,
        longitude: Longitude::from_degrees(*longitude).map_err(|_off| wrong())?,
    })
}

fn line(value: &Value) -> Read<Vec<Position>> {
    let positions = array(value)?;
    if positions.len() > Shape::POSITIONS_MAX {
        return Err(format!("must have at most {} positions in total", Shape::POSITIONS_MAX).into());
    }
    positions.iter().map(read_position).collect()
}

fn area(value: &Value) -> Read<Area> {
    let mut rings = array(value)?.iter().map(line).collect::<Read<Vec<_>>>()?;
    if rings.is_empty() {
        return Err("must have at least one ring".into());
    }
    if rings.iter().any(|ring| ring.first() != ring.last()) {
        return Err("must have closed rings: the last position of a ring must equal the first".into());
    }
    let outline = rings.remove(0);
    Ok(Area { outline, holes: rings })
}

/// Reads the coordinates of a geometry; `metres` is the radius of a point or the width of a line.
pub(super) fn read(kind: GeometryKind, coordinates: &Value, metres: f64) -> Read<Shape> {
    let shape = match kind {
        GeometryKind::Polygon => Shape::Areas(vec![area(coordinates)?]),
        GeometryKind::MultiPolygon => {
            let areas = array(coordinates)?;
            if areas.len() > Shape::AREAS_MAX {
                return Err(format!("must have at most {} areas", Shape::AREAS_MAX).into());
            }
            Shape::Areas(areas.iter().map(area).collect::<Read<_>>()?)
        }
        GeometryKind::Point => Shape::Circle { centre: read_position(coordinates)?, radius_m: metres },
        GeometryKind::LineString => Shape::Corridor { line: line(coordinates)?, width_m: metres },
    };
    shape.check().map_err(|error| Refusal::from(error.to_string()))?;
    Ok(shape)
}

fn position(position: Position) -> Value {
    json!([Degrees::from(position.longitude), Degrees::from(position.latitude)])
}

fn rings(area: &Area) -> Value {
    let ring = |positions: &Vec<Position>| positions.iter().copied().map(position).collect::<Vec<_>>();
    json!(std::iter::once(&area.outline).chain(&area.holes).map(ring).collect::<Vec<_>>())
}

/// The name and coordinates of a shape.
pub(super) fn write(shape: &Shape) -> (&'static str, Value) {
    match shape {
        Shape::Areas(areas) => match areas.as_slice() {
            [one] => ("Polygon", rings(one)),
            several => ("MultiPolygon", json!(several.iter().map(rings).collect::<Vec<_>>())),
        },
        Shape::Circle { centre, .. } => ("Point", position(*centre)),
        Shape::Corridor { line, .. } => {
            ("LineString", json!(line.iter().copied().map(position).collect::<Vec<_>>()))
        }
    }
}
