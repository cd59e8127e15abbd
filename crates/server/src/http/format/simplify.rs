//! Simplifies a track by Douglas-Peucker, applied to each part of a history as it is read.
//!
//! The last location of a part is kept and begins the next part. So memory is bounded by a part, no omitted location is
//! further from the line than the tolerance, and at most one location per part is kept without need. Distances are
//! measured to great-circle arcs, so lines may cross the antimeridian or a pole.

use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::sphere::{Arc, UnitVector};

/// Simplifies a history part by part.
#[derive(Debug)]
pub(super) struct Simplifier {
    tolerance_m: f64,
    /// The last location of the part before.
    last: Option<UnitVector>,
}

impl Simplifier {
    pub(super) fn new(tolerance_m: f64) -> Self {
        Self { tolerance_m, last: None }
    }

    /// The locations of the next part that are kept.
    pub(super) fn thin(&mut self, part: Vec<StoredLocation>) -> Vec<StoredLocation> {
        let before = usize::from(self.last.is_some());
        let positions: Vec<UnitVector> = self.last.into_iter().chain(part.iter().map(position)).collect();
        let kept = self.kept(&positions);
        self.last = positions.last().copied();
        part.into_iter()
            .zip(kept.into_iter().skip(before))
            .filter_map(|(stored, keep)| keep.then_some(stored))
            .collect()
    }

    /// Douglas-Peucker: which positions the line needs.
    fn kept(&self, positions: &[UnitVector]) -> Vec<bool> {
        let mut kept = vec![false; positions.len()];
        let Some(last) = positions.len().checked_sub(1) else { return kept };
        kept[0] = true;
        kept[last] = true;
        let mut stretches = vec![(0, last)];
        while let Some((first, last)) = stretches.pop() {
            let Some((furthest, distance_m)) = furthest(positions, first, last) else { continue };
            if distance_m > self.tolerance_m {
                kept[furthest] = true;
                stretches.extend([(first, furthest), (furthest, last)]);
            }
        }
        kept
    }
}

fn position(stored: &StoredLocation) -> UnitVector {
    UnitVector::new(stored.location.latitude, stored.location.longitude)
}

/// The position between two others that is furthest from the arc between them, and how far that is.
fn furthest(positions: &[UnitVector], first: usize, last: usize) -> Option<(usize, f64)> {
    let arc = Arc::new(*positions.get(first)?, *positions.get(last)?);
    let between = positions.iter().enumerate().take(last).skip(first + 1);
    between
        .map(|(index, position)| (index, arc.distance_m(*position)))
        .max_by(|(_, one), (_, two)| one.total_cmp(two))
}

#[cfg(test)]
mod tests;
