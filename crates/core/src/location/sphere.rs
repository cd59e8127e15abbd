//! Distances on the earth, taken as a sphere.

use super::Fix;

/// The earth's mean radius.
const RADIUS_M: f64 = 6_371_008.8;

/// The great-circle distance between two fixes, in metres; within 0.6 % of that on the ellipsoid.
pub fn distance_m(one: &Fix, other: &Fix) -> f64 {
    let (from, to) = (one.latitude.as_degrees().to_radians(), other.latitude.as_degrees().to_radians());
    let east = (other.longitude.as_degrees() - one.longitude.as_degrees()).to_radians();
    let north = to - from;
    let haversine = (north / 2.0).sin().powi(2) + from.cos() * to.cos() * (east / 2.0).sin().powi(2);
    2.0 * RADIUS_M * haversine.clamp(0.0, 1.0).sqrt().asin()
}

#[cfg(test)]
mod tests {
    use super::super::{Latitude, Longitude};
    use super::*;
    use crate::time::Timestamp;

    fn at(latitude: f64, longitude: f64) -> Fix {
        Fix {
            time: Timestamp::MIN,
            latitude: Latitude::from_degrees(latitude).unwrap(),
            longitude: Longitude::from_degrees(longitude).unwrap(),
            number: 0,
            accuracy: None,
            source: None,
            valid: None,
        }
    }

    #[test]
    fn measures_the_shorter_way_round() {
        let check = |from: (f64, f64), to: (f64, f64), expect_km: f64| {
            for (from, to) in [(from, to), (to, from)] {
                let km = distance_m(&at(from.0, from.1), &at(to.0, to.1)) / 1_000.0;
                assert!((km - expect_km).abs() < 1.0, "{from:?} to {to:?}: {km} km, not {expect_km}");
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
}
