//! Fewer locations for the same line on a map: Douglas-Peucker over each part of a history as it is read.
//!
//! A part's last location is kept and begins the next one, so memory stays that of a part, the line never strays
//! further than the tolerance from a location left out, and at most one location a part is kept without need.
//! Distances are taken on a sphere, to the great circle between two locations: a line across the antimeridian or
//! over a pole is as good as any other.

use perigee_core::location::StoredLocation;

/// The mean radius of the Earth, in metres.
const RADIUS_M: f64 = 6_371_008.8;
/// Two directions closer than this are one: far under a centimetre.
const SAME: f64 = 1e-10;

/// Thins a history part by part.
#[derive(Debug)]
pub(super) struct Simplifier {
    /// In radians.
    tolerance: f64,
    /// The last location given.
    last: Option<Direction>,
}

/// A place as a vector of length one from the middle of the Earth.
#[derive(Clone, Copy, Debug)]
struct Direction([f64; 3]);

impl Direction {
    fn of(stored: &StoredLocation) -> Self {
        let (latitude, longitude) = (
            stored.location.latitude.as_degrees().to_radians(),
            stored.location.longitude.as_degrees().to_radians(),
        );
        Self([latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin()])
    }

    fn cross(self, other: Self) -> Self {
        let part = |one: usize, two: usize| self.0[one] * other.0[two] - self.0[two] * other.0[one];
        Self([part(1, 2), part(2, 0), part(0, 1)])
    }

    fn dot(self, other: Self) -> f64 {
        self.0.iter().zip(other.0).map(|(one, two)| one * two).sum()
    }

    fn minus(self, other: Self) -> Self {
        Self([0, 1, 2].map(|axis| self.0[axis] - other.0[axis]))
    }

    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The angle to another place.
    fn angle(self, other: Self) -> f64 {
        2.0 * (self.minus(other).length() / 2.0).min(1.0).asin()
    }
}

/// A stretch of a great circle.
struct Stretch {
    from: Direction,
    to: Direction,
    /// Perpendicular to its plane; nothing when the ends are one place, or opposite ones.
    pole: Option<Direction>,
}

impl Stretch {
    fn new(from: Direction, to: Direction) -> Self {
        let pole = from.cross(to);
        let length = pole.length();
        let pole = (length > SAME).then(|| Direction(pole.0.map(|part| part / length)));
        Self { from, to, pole }
    }

    /// The angle between a place and the nearest point of the stretch.
    fn distance(&self, place: Direction) -> f64 {
        let to_ends = || self.from.angle(place).min(self.to.angle(place));
        let Some(pole) = self.pole else { return to_ends() };
        let is_beside = pole.cross(self.from).dot(place) >= 0.0 && self.to.cross(pole).dot(place) >= 0.0;
        if !is_beside {
            return to_ends();
        }
        // From the nearer end's place, so that what is close together stays exact.
        place.minus(self.from).dot(pole).abs().min(1.0).asin()
    }
}

impl Simplifier {
    /// With this tolerance.
    pub(super) fn new(metres: f64) -> Self {
        Self { tolerance: metres / RADIUS_M, last: None }
    }

    /// The locations of the next part that are needed.
    pub(super) fn thin(&mut self, part: Vec<StoredLocation>) -> Vec<StoredLocation> {
        let before = usize::from(self.last.is_some());
        let places: Vec<Direction> = self.last.into_iter().chain(part.iter().map(Direction::of)).collect();
        let kept = self.kept(&places);
        self.last = places.last().copied();
        part.into_iter()
            .zip(kept.into_iter().skip(before))
            .filter_map(|(stored, keep)| keep.then_some(stored))
            .collect()
    }

    fn kept(&self, places: &[Direction]) -> Vec<bool> {
        let mut kept = vec![false; places.len()];
        let Some(last) = places.len().checked_sub(1) else { return kept };
        kept[0] = true;
        kept[last] = true;
        let mut stretches = vec![(0, last)];
        while let Some((first, last)) = stretches.pop() {
            let Some((furthest, distance)) = furthest(places, first, last) else { continue };
            if distance > self.tolerance {
                kept[furthest] = true;
                stretches.extend([(first, furthest), (furthest, last)]);
            }
        }
        kept
    }
}

/// The place between two that is furthest from the stretch between them.
fn furthest(places: &[Direction], first: usize, last: usize) -> Option<(usize, f64)> {
    let stretch = Stretch::new(*places.get(first)?, *places.get(last)?);
    let between = places.iter().enumerate().take(last).skip(first + 1);
    between
        .map(|(index, place)| (index, stretch.distance(*place)))
        .max_by(|(_, one), (_, two)| one.total_cmp(two))
}

#[cfg(test)]
mod tests;
