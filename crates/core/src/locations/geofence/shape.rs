//! The shapes of geofences, and testing whether one contains a position.

use serde::{Deserialize, Serialize};

use super::ring::{Corner, Ring, Side};
use super::validity::{ShapeError, check_areas, check_corridor, check_radius};
use crate::locations::location::{Latitude, Longitude};
use crate::locations::sphere::{Arc, RADIUS_M, UnitVector};

/// A position on the earth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Degrees north of the equator.
    pub latitude: Latitude,
    /// Degrees east of Greenwich.
    pub longitude: Longitude,
}

/// A polygon with holes. The first position of a ring may be repeated at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// The outer ring of the polygon.
    pub outline: Vec<Position>,
    /// Rings cut out of the polygon. Their edges still belong to it.
    pub holes: Vec<Vec<Position>>,
}

/// The shape of a geofence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shape {
    /// One or several areas.
    Areas(Vec<Area>),
    /// Everything within a distance of a position.
    Circle {
        /// The centre of the circle.
        centre: Position,
        /// Radius in metres, up to [`Shape::DISTANCE_MAX_M`].
        radius_m: f64,
    },
    /// Everything within half a width of a line. Between two positions the line follows the great circle.
    Corridor {
        /// The centre line, at least two positions.
        line: Vec<Position>,
        /// Width in metres, from edge to edge.
        width_m: f64,
    },
}

/// A shape prepared for tests of positions.
#[derive(Clone, Debug)]
pub struct Region(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Areas(Vec<(Ring, Vec<Ring>)>),
    Circle { centre: UnitVector, position: Position, radius_m: f64 },
    Corridor { arcs: Vec<Arc>, half_m: f64 },
}

/// West, south, east and north in degrees. West and east may be up to 360 degrees outside of -180 to 180.
pub(super) type Bounds = [f64; 4];

impl Shape {
    /// Maximum number of positions of a shape.
    pub const POSITIONS_MAX: usize = 2_000;
    /// Maximum number of areas of a shape.
    pub const AREAS_MAX: usize = 100;
    /// The largest radius and width, in metres: a thousand kilometres.
    pub const DISTANCE_MAX_M: f64 = 1_000_000.0;

    /// The number of its positions.
    pub fn positions(&self) -> usize {
        match self {
            Self::Areas(areas) => {
                let rings = areas.iter().flat_map(|area| std::iter::once(&area.outline).chain(&area.holes));
                rings.map(Vec::len).sum()
            }
            Self::Circle { .. } => 1,
            Self::Corridor { line, .. } => line.len(),
        }
    }

    /// Checks that it is valid, so that positions can be tested against it.
    pub fn check(&self) -> Result<(), ShapeError> {
        match self {
            Self::Areas(areas) => check_areas(areas),
            Self::Circle { radius_m, .. } => check_radius(*radius_m),
            Self::Corridor { line, width_m } => check_corridor(line, *width_m),
        }
    }

    /// Prepares it for tests of positions.
    pub fn region(&self) -> Region {
        Region(match self {
            Self::Areas(areas) => {
                let rings = |area: &Area| {
                    let holes = area.holes.iter().map(|hole| Ring::of(hole)).collect();
                    (Ring::of(&area.outline), holes)
                };
                Kind::Areas(areas.iter().map(rings).collect())
            }
            Self::Circle { centre, radius_m } => {
                Kind::Circle { centre: centre.vector(), position: *centre, radius_m: *radius_m }
            }
            Self::Corridor { line, width_m } => {
                let arcs = line.windows(2).filter_map(|pair| match pair {
                    [from, to] => Some(Arc::new(from.vector(), to.vector())),
                    _ => None,
                });
                Kind::Corridor { arcs: arcs.collect(), half_m: width_m / 2.0 }
            }
        })
    }
}

impl Position {
    pub(super) fn vector(self) -> UnitVector {
        UnitVector::new(self.latitude, self.longitude)
    }
}

impl Region {
    /// Whether a position lies in it; its edge belongs to it.
    pub fn contains(&self, position: Position) -> bool {
        match &self.0 {
            Kind::Areas(areas) => areas.iter().any(|(outline, holes)| {
                outline.locate(position) != Side::Outside
                    && !holes.iter().any(|hole| hole.locate(position) == Side::Inside)
            }),
            Kind::Circle { centre, radius_m, .. } => centre.distance_m(position.vector()) <= *radius_m,
            Kind::Corridor { arcs, half_m } => {
                let here = position.vector();
                arcs.iter().any(|arc| arc.distance_m(here) <= *half_m)
            }
        }
    }

    /// Maximum number of CPU steps to test a position: one for each side of an area, ten for each part that is measured
    /// on the sphere. A step takes a few nanoseconds.
    pub(super) fn steps(&self) -> u64 {
        const ON_SPHERE: u64 = 10;
        let count = |parts: usize| u64::try_from(parts).unwrap_or(u64::MAX);
        match &self.0 {
            Kind::Areas(areas) => {
                let rings = areas.iter().flat_map(|(outline, holes)| std::iter::once(outline).chain(holes));
                rings.map(|ring| count(ring.corners.len())).sum()
            }
            Kind::Circle { .. } => ON_SPHERE,
            Kind::Corridor { arcs, .. } => count(arcs.len()).saturating_mul(ON_SPHERE),
        }
    }

    /// Bytes it takes in memory, with its boxes in an index.
    pub(super) fn bytes(&self) -> usize {
        /// Bytes of a box in an R-tree, with its part of the inner nodes.
        const BOX: usize = 64;
        match &self.0 {
            Kind::Areas(areas) => {
                let rings = areas.iter().flat_map(|(outline, holes)| std::iter::once(outline).chain(holes));
                let ring = |ring: &Ring| size_of::<Ring>() + ring.corners.capacity() * size_of::<Corner>();
                areas.len() * BOX + rings.map(ring).sum::<usize>()
            }
            Kind::Circle { .. } => BOX,
            Kind::Corridor { arcs, .. } => arcs.capacity() * (size_of::<Arc>() + BOX),
        }
    }

    /// Boxes that together cover it.
    pub(super) fn bounds(&self) -> Vec<Bounds> {
        #[expect(clippy::cast_precision_loss, reason = "a few times 360 degrees fit exactly")]
        let degrees = |units: i64| units as f64 / 1e7;
        match &self.0 {
            Kind::Areas(areas) => areas
                .iter()
                .map(|(ring, _)| [ring.west, ring.south, ring.east, ring.north].map(degrees))
                .collect(),
            Kind::Circle { position, radius_m, .. } => {
                vec![around((position.latitude.as_degrees(), position.longitude.as_degrees()), *radius_m)]
            }
            Kind::Corridor { arcs, half_m } => {
                arcs.iter().map(|arc| around(arc.midpoint(), arc.length_m() / 2.0 + half_m)).collect()
            }
        }
    }
}

/// The box around a circle, slightly larger because of rounding.
fn around((latitude, longitude): (f64, f64), radius_m: f64) -> Bounds {
    const SLACK: f64 = 1e-6;
    let angle = radius_m / RADIUS_M;
    let (south, north) = (latitude - angle.to_degrees() - SLACK, latitude + angle.to_degrees() + SLACK);
    if south <= -90.0 || north >= 90.0 {
        return [-180.0, south.max(-90.0), 180.0, north.min(90.0)];
    }
    let wide = (angle.sin() / latitude.to_radians().cos()).clamp(-1.0, 1.0).asin().to_degrees() + SLACK;
    [longitude - wide, south, longitude + wide, north]
}
