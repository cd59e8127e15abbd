//! Areas of positions: squares of the map around places where devices were.

use std::collections::BTreeSet;

use super::polygon::{Bounds, corner_of, tile_at};
use super::ranges::{Cover, Part};
use super::tile_id::along_of;

/// The zoom level whose tiles are the squares: 10 km at the equator, 7 km in Spain.
const ZOOM: u8 = 12;
/// Maximum number of squares with positions.
const CELLS_MAX: usize = 50_000;

/// Squares with positions.
#[derive(Clone, Debug, Default)]
pub(super) struct CellSet(BTreeSet<(u64, u64)>);

impl CellSet {
    /// Adds a position in degrees; false if there are too many squares.
    pub(super) fn add(&mut self, longitude: f64, latitude: f64) -> bool {
        self.0.insert(tile_at(ZOOM, [longitude, latitude]));
        self.0.len() <= CELLS_MAX
    }

    /// The squares and their neighbours, so that the surroundings of every position are there; none without positions.
    pub(super) fn with_neighbours(&self) -> Option<Cells> {
        let end = 1_u64 << ZOOM;
        let mut all = BTreeSet::new();
        for (x, y) in &self.0 {
            for (right, down) in (0..9).map(|at| (at % 3, at / 3)) {
                // East of the antimeridian the map continues in the west; beyond a pole there is nothing.
                let neighbour = ((x + end + right - 1) % end, (y + down).checked_sub(1));
                if let (column, Some(row)) = neighbour
                    && row < end
                {
                    all.insert((column, row));
                }
            }
        }
        let corners = |place: &(u64, u64)| {
            let ([west, north], [east, south]) =
                (corner_of(ZOOM, *place), corner_of(ZOOM, (place.0 + 1, place.1 + 1)));
            [west, south, east, north]
        };
        let bounds = all.iter().map(corners).reduce(|one, other| {
            [one[0].min(other[0]), one[1].min(other[1]), one[2].max(other[2]), one[3].max(other[3])]
        })?;
        let mut along: Vec<u64> = all.iter().map(|(x, y)| along_of(ZOOM, *x, *y)).collect();
        along.sort_unstable();
        Some(Cells { along, bounds })
    }
}

/// Squares of the map.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// Their places on the Hilbert curve, sorted.
    along: Vec<u64>,
    bounds: Bounds,
}

impl Cells {
    /// The box around them.
    pub(super) const fn bounds(&self) -> Bounds {
        self.bounds
    }
}

impl Cover for Cells {
    type Near = ();

    fn begin(&self) {}

    fn part(&self, zoom: u8, (x, y): (u64, u64), (): &()) -> (Part, ()) {
        let deeper = 2 * u32::from(ZOOM.saturating_sub(zoom));
        let up = zoom.saturating_sub(ZOOM);
        let first = along_of(zoom.min(ZOOM), x >> up, y >> up) << deeper;
        let end = first + (1 << deeper);
        let count = self.along.partition_point(|along| *along < end)
            - self.along.partition_point(|along| *along < first);
        let part = match count as u64 {
            0 => Part::None,
            count if count == end - first => Part::All,
            _ => Part::Some,
        };
        (part, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map_fetch::ranges::Ranges;
    use crate::map_fetch::tile_id::first_of;

    #[test]
    fn the_surroundings_of_positions_are_covered() {
        let mut set = CellSet::default();
        assert!(set.with_neighbours().is_none());
        assert!(set.add(-8.72, 42.24) && set.add(179.99, 0.0));
        let cells = set.with_neighbours().unwrap();
        let ranges = Ranges::of(&cells, 14).unwrap();
        let holds = |zoom: u8, position: [f64; 2]| {
            let (x, y) = tile_at(zoom, position);
            let id = first_of(zoom) + along_of(zoom, x, y);
            ranges.touch(id, id + 1)
        };
        for zoom in [0, 5, 12, 14] {
            assert!(holds(zoom, [-8.72, 42.24]) && holds(zoom, [-8.8, 42.3]), "{zoom}");
            assert!(holds(zoom, [-179.99, 0.0]), "on the other side of the antimeridian, {zoom}");
        }
        assert!(!holds(12, [-8.3, 42.24]) && !holds(14, [0.0, 0.0]));
        let total: u64 = ranges.within(first_of(12), first_of(13)).map(|(from, to)| to - from).sum();
        assert_eq!(total, 18);
    }
}
