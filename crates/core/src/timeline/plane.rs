//! Distances between near positions, in the plane that touches the earth there.

use super::Position;
use crate::locations::sphere::{RADIUS_M, distance_m};

/// Metres of a 1e-7 degree of a great circle.
const UNIT_M: f64 = RADIUS_M * std::f64::consts::PI / 180.0 / 1e7;
/// Units of a full turn.
const TURN_E7: i64 = 3_600_000_000;
/// Up to this distance the plane is exact to about a metre; beyond it, the sphere is used.
const PLANE_M: f64 = 20_000.0;
/// From this latitude on, meridians converge too fast for the plane.
const POLAR_E7: i32 = 890_000_000;

/// The offset from one longitude to another, the shorter way round.
pub(super) fn east_e7(from: Position, to: Position) -> i64 {
    let east = i64::from(to.1.as_e7()) - i64::from(from.1.as_e7());
    if east > TURN_E7 / 2 {
        east - TURN_E7
    } else if east < -TURN_E7 / 2 {
        east + TURN_E7
    } else {
        east
    }
}

/// A plane with its origin at a position: metres to the east and to the north.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    origin: Position,
    east_m: f64,
}

impl Plane {
    pub(super) fn at(origin: Position) -> Self {
        Self { origin, east_m: UNIT_M * origin.0.as_degrees().to_radians().cos() }
    }

    /// Metres to the east and to the north of the origin.
    #[expect(clippy::cast_precision_loss, reason = "a turn has 3.6e9 units")]
    pub(super) fn offset(&self, position: Position) -> (f64, f64) {
        let north = i64::from(position.0.as_e7()) - i64::from(self.origin.0.as_e7());
        (east_e7(self.origin, position) as f64 * self.east_m, north as f64 * UNIT_M)
    }

    /// The distance of a position from the origin, in metres.
    pub(super) fn distance(&self, position: Position) -> f64 {
        let (east, north) = self.offset(position);
        let metres = east.hypot(north);
        if metres < PLANE_M && self.origin.0.as_e7().abs() < POLAR_E7 {
            metres
        } else {
            distance_m(self.origin, position)
        }
    }
}

/// The distance between two positions, in metres.
pub(super) fn metres(a: Position, b: Position) -> f64 {
    Plane::at(a).distance(b)
}
