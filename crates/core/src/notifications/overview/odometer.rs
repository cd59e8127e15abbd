//! The distance that a device travelled, summed location by location.

use crate::locations::location::{Fix, Milli, StoredLocation, is_coarse};
use crate::locations::sphere::distance_m;

/// Moves below this many metres are ignored: the position of a device that stands still jitters by this much.
const WANDERS_M: f64 = 30.0;

/// Sums the distance of one device.
#[derive(Clone, Debug, Default)]
pub struct Odometer {
    /// The last position that counted.
    from: Option<Fix>,
    metres: f64,
}

impl Odometer {
    /// Sets the position from before the period, from which the first distance is measured.
    pub fn start_at(&mut self, before: &StoredLocation) {
        self.from = Self::trusted(before).or(self.from);
    }

    /// Adds the next location; call it in order of time. Suspect and coarse locations are ignored.
    pub fn add(&mut self, next: &StoredLocation) {
        let Some(to) = Self::trusted(next) else { return };
        let Some(from) = self.from else {
            self.from = Some(to);
            return;
        };
        let metres = distance_m(from.position(), to.position());
        let doubt = [from.accuracy, to.accuracy].into_iter().flatten().map(Milli::as_f64);
        if metres >= doubt.fold(WANDERS_M, f64::max) {
            self.metres += metres;
            self.from = Some(to);
        }
    }

    /// Whether a position is known to measure from.
    pub const fn has_position(&self) -> bool {
        self.from.is_some()
    }

    /// The distance so far, in whole metres.
    pub fn metres(&self) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of distances")]
        let whole = self.metres.round() as u64;
        whole
    }

    fn trusted(stored: &StoredLocation) -> Option<Fix> {
        let fix = Fix::from(stored);
        (!stored.trust.suspect && !is_coarse(&fix)).then_some(fix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locations::location::{Latitude, Location, Longitude, Readings, Trust};
    use crate::time::Timestamp;

    fn at(longitude: f64) -> StoredLocation {
        StoredLocation {
            location: Location {
                time: Timestamp::MIN,
                latitude: Latitude::from_degrees(0.0).unwrap(),
                longitude: Longitude::from_degrees(longitude).unwrap(),
                readings: Readings::default(),
            },
            received_at: Timestamp::MIN,
            trust: Trust::default(),
            number: 0,
        }
    }

    fn metres(locations: &[StoredLocation]) -> u64 {
        let mut journey = Odometer::default();
        for location in locations {
            journey.add(location);
        }
        journey.metres()
    }

    #[test]
    fn standing_still_is_no_way() {
        // A ten-thousandth of a degree is eleven metres at the equator.
        let wander: Vec<_> = (0..1_000).map(|step| at(f64::from(step % 2) * 0.000_1)).collect();
        assert_eq!(metres(&wander), 0);
        let slow: Vec<_> = (0..=1_000).map(|step| at(f64::from(step) * 0.000_1)).collect();
        assert!((11_080..=11_120).contains(&metres(&slow)), "a slow way is a way: {}", metres(&slow));
    }

    #[test]
    fn what_cannot_be_believed_is_passed_over() {
        let mut suspect = at(50.0);
        suspect.trust.suspect = true;
        let mut coarse = at(1.01);
        coarse.location.readings.accuracy = Some(Milli::from_thousandths(5_000_000));
        let way = metres(&[at(0.0), suspect, at(1.0), coarse]);
        assert!((111_000..=111_400).contains(&way), "{way}");
        assert_eq!(metres(&[]), 0);
        assert!(metres(&[at(179.5), at(-179.5)]) < 112_000, "the shorter way round");
    }
}
