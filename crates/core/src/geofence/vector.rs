//! Places as directions from the middle of the earth: distances without antimeridian or poles.

/// The earth's mean radius.
pub(super) const RADIUS_M: f64 = 6_371_008.8;

/// A direction of length one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

impl Vector {
    pub(super) fn of(latitude: f64, longitude: f64) -> Self {
        let (north, east) = (latitude.to_radians(), longitude.to_radians());
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

    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The middle between two directions that are not opposite, and its latitude and longitude in degrees.
    pub(super) fn middle(self, other: Self) -> (f64, f64) {
        let (x, y, z) = (self.x + other.x, self.y + other.y, self.z + other.z);
        (z.atan2(x.hypot(y)).to_degrees(), y.atan2(x).to_degrees())
    }

    /// The great-circle distance; right for near and for opposite places alike.
    pub(super) fn distance_m(self, other: Self) -> f64 {
        RADIUS_M * self.cross(other).length().atan2(self.dot(other))
    }

    /// The distance to the great-circle arc between two places less than half the earth apart.
    pub(super) fn distance_to_arc_m(self, from: Self, to: Self) -> f64 {
        let normal = from.cross(to);
        let length = normal.length();
        let beside = length > 0.0 && normal.cross(from).dot(self) > 0.0 && to.cross(normal).dot(self) > 0.0;
        if beside {
            RADIUS_M * (normal.dot(self).abs() / length).clamp(0.0, 1.0).asin()
        } else {
            self.distance_m(from).min(self.distance_m(to))
        }
    }
}
