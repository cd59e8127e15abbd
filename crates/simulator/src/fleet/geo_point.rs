//! Positions on the globe, and small steps between them.

/// Metres in a degree of latitude.
const METRES_A_DEGREE: f64 = 111_195.0;

/// A position in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GeoPoint {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

impl GeoPoint {
    pub(crate) const fn new(latitude: f64, longitude: f64) -> Self {
        Self { latitude, longitude }
    }

    /// The position this many metres away on this course. Accurate for steps of some kilometres outside the polar
    /// regions.
    pub(crate) fn step(self, course: f64, metres: f64) -> Self {
        let (east, north) = course.to_radians().sin_cos();
        let latitude = (self.latitude + north * metres / METRES_A_DEGREE).clamp(-89.0, 89.0);
        let shrink = self.latitude.to_radians().cos().max(0.01);
        let longitude = self.longitude + east * metres / (METRES_A_DEGREE * shrink);
        Self { latitude, longitude: wrap(longitude) }
    }

    /// Course and distance in metres to another position, across the antimeridian if that is shorter.
    pub(crate) fn towards(self, there: Self) -> (f64, f64) {
        let north = there.latitude - self.latitude;
        let middle = f64::midpoint(self.latitude, there.latitude).to_radians();
        let east = wrap(there.longitude - self.longitude) * middle.cos();
        (turn(0.0, east.atan2(north).to_degrees()), north.hypot(east) * METRES_A_DEGREE)
    }
}

/// Normalizes a longitude to -180 up to, but not including, 180.
fn wrap(longitude: f64) -> f64 {
    (longitude + 180.0).rem_euclid(360.0) - 180.0
}

/// The course after a turn of this many degrees to the right.
pub(crate) fn turn(course: f64, by: f64) -> f64 {
    (course + by).rem_euclid(360.0)
}

/// The turn from one course to another in degrees; negative to the left.
pub(crate) fn turn_to(course: f64, wanted: f64) -> f64 {
    wrap(wanted - course)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_there_and_back() {
        for (latitude, longitude) in [(0.0, 0.0), (60.0, 10.0), (-45.0, 179.999), (36.0, -179.999)] {
            for course in [0.0, 45.0, 90.0, 200.0, 359.0] {
                let here = GeoPoint::new(latitude, longitude);
                let there = here.step(course, 1000.0);
                assert!((-180.0..180.0).contains(&there.longitude));
                let (found, metres) = here.towards(there);
                assert!((metres - 1000.0).abs() < 2.0, "{metres}");
                assert!(turn_to(course, found).abs() < 0.2, "{course} {found}");
            }
        }
    }

    #[test]
    fn turns_take_the_short_way() {
        for (from, to, by) in [(350.0, 10.0, 20.0), (10.0, 350.0, -20.0), (90.0, 90.0, 0.0)] {
            assert!((turn_to(from, to) - by).abs() < 1e-9);
            assert!((turn(from, by) - to).abs() < 1e-9);
        }
    }
}
