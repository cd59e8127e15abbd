//! Spherical geometry: distances between positions, and from a position to a line.
//!
//! The earth is taken as a sphere, which is within 0.6 % of the ellipsoid. Positions are compared as unit vectors, so
//! neither the antimeridian nor the poles are special.

use crate::locations::location::{Latitude, Longitude};

/// The mean radius of the earth.
pub const RADIUS_M: f64 = 6_371_008.8;
/// Arcs shorter than this, in radians, are treated as a point: less than a millimetre.
const POINT: f64 = 1e-10;

/// The great-circle distance between two positions, by the haversine formula: cheaper than [`UnitVector::distance_m`]
/// where neither position is compared a second time.
pub fn distance_m(from: (Latitude, Longitude), to: (Latitude, Longitude)) -> f64 {
    let (south, north) = (from.0.as_degrees().to_radians(), to.0.as_degrees().to_radians());
    let east = (to.1.as_degrees() - from.1.as_degrees()).to_radians();
    let haversine =
        ((north - south) / 2.0).sin().powi(2) + south.cos() * north.cos() * (east / 2.0).sin().powi(2);
    2.0 * RADIUS_M * haversine.clamp(0.0, 1.0).sqrt().asin()
}

/// A position as the unit vector from the centre of the earth to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitVector {
    x: f64,
    y: f64,
    z: f64,
}

impl UnitVector {
    /// The vector to a position.
    pub fn new(latitude: Latitude, longitude: Longitude) -> Self {
        let (north, east) = (latitude.as_degrees().to_radians(), longitude.as_degrees().to_radians());
        Self { x: north.cos() * east.cos(), y: north.cos() * east.sin(), z: north.sin() }
    }

    fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }

    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The great-circle distance; exact for near and for opposite positions alike.
    pub fn distance_m(self, other: Self) -> f64 {
        RADIUS_M * self.cross(other).length().atan2(self.dot(other))
    }
}

/// The shorter great-circle arc between two positions that are not opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    from: UnitVector,
    to: UnitVector,
    /// Perpendicular to the plane of the arc; absent when the arc is a point.
    normal: Option<UnitVector>,
}

impl Arc {
    /// The arc between two positions.
    pub fn new(from: UnitVector, to: UnitVector) -> Self {
        let normal = from.cross(to);
        let length = normal.length();
        let normal = (length > POINT).then(|| UnitVector {
            x: normal.x / length,
            y: normal.y / length,
            z: normal.z / length,
        });
        Self { from, to, normal }
    }

    /// How long the arc is.
    pub fn length_m(&self) -> f64 {
        self.from.distance_m(self.to)
    }

    /// Latitude and longitude of the middle of the arc, in degrees.
    pub fn midpoint(&self) -> (f64, f64) {
        let (from, to) = (self.from, self.to);
        let (x, y, z) = (from.x + to.x, from.y + to.y, from.z + to.z);
        (z.atan2(x.hypot(y)).to_degrees(), y.atan2(x).to_degrees())
    }

    /// The distance from a position to the nearest point of the arc.
    pub fn distance_m(&self, position: UnitVector) -> f64 {
        let to_ends = || self.from.distance_m(position).min(self.to.distance_m(position));
        let Some(normal) = self.normal else { return to_ends() };
        let is_beside =
            normal.cross(self.from).dot(position) >= 0.0 && self.to.cross(normal).dot(position) >= 0.0;
        if !is_beside {
            return to_ends();
        }
        // Relative to an end of the arc, so that small distances keep their digits.
        RADIUS_M * position.minus(self.from).dot(normal).abs().min(1.0).asin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at((latitude, longitude): (f64, f64)) -> (Latitude, Longitude) {
        (Latitude::from_degrees(latitude).unwrap(), Longitude::from_degrees(longitude).unwrap())
    }

    fn vector(position: (f64, f64)) -> UnitVector {
        let (latitude, longitude) = at(position);
        UnitVector::new(latitude, longitude)
    }

    #[test]
    fn measures_the_shorter_way_round() {
        let check = |from: (f64, f64), to: (f64, f64), expect_km: f64| {
            for (from, to) in [(from, to), (to, from)] {
                for metres in [distance_m(at(from), at(to)), vector(from).distance_m(vector(to))] {
                    let km = metres / 1_000.0;
                    assert!((km - expect_km).abs() < 1.0, "{from:?} to {to:?}: {km} km, not {expect_km}");
                }
            }
        };
        check((40.4, -3.7), (40.4, -3.7), 0.0);
        check((0.0, 0.0), (0.0, 1.0), 111.2);
        check((40.416_8, -3.703_8), (41.385_1, 2.173_4), 505.0);
        check((10.0, 179.5), (10.0, -179.5), 109.5);
        check((90.0, 0.0), (90.0, 120.0), 0.0);
        check((90.0, 0.0), (-90.0, 55.0), 20_015.1);
        check((0.0, 0.0), (0.0, 180.0), 20_015.1);
    }

    #[test]
    fn measures_to_the_nearest_point_of_an_arc() {
        let check = |from, to, position, expect_m: f64| {
            let metres = Arc::new(vector(from), vector(to)).distance_m(vector(position));
            assert!(
                (metres - expect_m).abs() < 0.1,
                "{position:?} to {from:?} {to:?}: {metres}, not {expect_m}"
            );
        };
        let degree_m = RADIUS_M.to_radians();
        check((0.0, 0.0), (0.0, 2.0), (0.5, 1.0), degree_m / 2.0);
        check((0.0, 0.0), (0.0, 2.0), (0.0, 3.0), degree_m);
        check((0.0, 0.0), (0.0, 2.0), (0.0, 1.0), 0.0);
        check((0.0, 179.0), (0.0, -179.0), (0.001, 180.0), degree_m / 1_000.0);
        check((80.0, 0.0), (80.0, 180.0), (90.0, 0.0), 0.0);
        check((1.0, 1.0), (1.0, 1.0), (2.0, 1.0), degree_m);
    }
}
