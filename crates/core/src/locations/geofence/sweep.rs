//! Finds out whether a ring touches or crosses itself, with a sweep line (Shamos and Hoey): the corners are visited
//! from west to east, and a side is compared only with the sides directly above and below it.
//!
//! Corners on one meridian are visited from south to north. That is the order of a sweep line that is tilted by an
//! infinitely small angle, so that vertical sides need no special treatment.

use super::ring::{Corner, turn};

/// The result of checking a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checked {
    /// Whether no two sides meet, except neighbours at their common corner.
    pub(super) is_simple: bool,
    /// Orientation tests that were made; in proportion to n log n for n corners.
    pub(super) tests: usize,
}

/// How two sides lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    Apart,
    Touches,
    Crosses,
}

/// Checks a ring of at least three corners, of which the last is connected to the first.
pub(super) fn is_simple(corners: &[Corner]) -> Checked {
    let mut sweep = Sweep { corners, status: Vec::new(), tests: 0 };
    let is_simple = sweep.run().is_some();
    Checked { is_simple, tests: sweep.tests }
}

/// A side is named by the index of the corner it starts from.
struct Sweep<'r> {
    corners: &'r [Corner],
    /// The sides that the sweep line meets, from south to north.
    status: Vec<usize>,
    tests: usize,
}

impl Sweep<'_> {
    /// Visits all corners; `None` as soon as two sides meet that must not.
    fn run(&mut self) -> Option<()> {
        let count = self.corners.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_unstable_by_key(|index| self.corner(*index));
        if order.windows(2).any(|pair| matches!(pair, [a, b] if self.corner(*a) == self.corner(*b))) {
            return None;
        }
        for index in order {
            let before = (index + count - 1) % count;
            let (at, from, to) = (self.corner(index), self.corner(before), self.corner((index + 1) % count));
            self.tests += 1;
            if goes_back(from, at, to) {
                return None;
            }
            // Each of the two sides of a corner begins or ends there, seen from the west.
            match (from > at, to > at) {
                (true, true) => self.begin(before, index)?,
                (false, false) => self.end(before, index)?,
                (false, true) => self.replace(before, index)?,
                (true, false) => self.replace(index, before)?,
            }
        }
        Some(())
    }

    fn corner(&self, index: usize) -> Corner {
        self.corners.get(index).copied().unwrap_or_default()
    }

    fn side(&self, side: usize) -> (Corner, Corner) {
        ends(self.corners, side)
    }

    /// Inserts two sides with a common western end: the corner that `after` starts from.
    fn begin(&mut self, before: usize, after: usize) -> Option<()> {
        let at = self.corner(after);
        let mut touches = false;
        let corners = self.corners;
        let mut tests = 0;
        let index = self.status.partition_point(|side| {
            let (west, east) = ends(corners, *side);
            tests += 1;
            let turn = turn(west, east, at);
            touches |= turn == 0;
            turn > 0
        });
        self.tests += tests + 1;
        if touches {
            return None;
        }
        // The side whose east end lies to the right of the other is the lower one.
        let lower_first = turn(at, self.side(before).1, self.side(after).1) > 0;
        let pair = if lower_first { [before, after] } else { [after, before] };
        self.status.splice(index..index, pair);
        self.compare(index.checked_sub(1), Some(index))?;
        self.compare(Some(index + 1), Some(index + 2))
    }

    /// Removes two sides that end at the same corner.
    fn end(&mut self, before: usize, after: usize) -> Option<()> {
        let first = self.status.iter().position(|side| *side == before || *side == after)?;
        self.status.retain(|side| *side != before && *side != after);
        self.compare(first.checked_sub(1), Some(first))
    }

    /// Continues with the next side where the previous one ends.
    fn replace(&mut self, ended: usize, begun: usize) -> Option<()> {
        let index = self.status.iter().position(|side| *side == ended)?;
        *self.status.get_mut(index)? = begun;
        self.compare(index.checked_sub(1), Some(index))?;
        self.compare(Some(index), Some(index + 1))
    }

    /// Compares two sides that have become neighbours on the sweep line; `None` if they meet and must not.
    fn compare(&mut self, lower: Option<usize>, upper: Option<usize>) -> Option<()> {
        let at = |index: Option<usize>| index.and_then(|index| self.status.get(index)).copied();
        let (Some(lower), Some(upper)) = (at(lower), at(upper)) else { return Some(()) };
        let count = self.corners.len();
        // Sides with a common corner meet only there unless one goes back along the other, which is tested per corner.
        if (lower + 1) % count == upper || (upper + 1) % count == lower {
            return Some(());
        }
        self.tests += 4;
        (meeting(self.side(lower), self.side(upper)) == Meeting::Apart).then_some(())
    }
}

/// The ends of a side, west end first.
fn ends(corners: &[Corner], side: usize) -> (Corner, Corner) {
    let corner = |index: usize| corners.get(index).copied().unwrap_or_default();
    let (from, to) = (corner(side), corner((side + 1) % corners.len().max(1)));
    (from.min(to), from.max(to))
}

/// Whether the way from a corner over the next returns along itself.
fn goes_back(from: Corner, over: Corner, to: Corner) -> bool {
    let (there, back) = ((over.0 - from.0, over.1 - from.1), (to.0 - over.0, to.1 - over.1));
    let along = i128::from(there.0) * i128::from(back.0) + i128::from(there.1) * i128::from(back.1);
    turn(from, over, to) == 0 && along < 0
}

/// How two sides lie to each other.
pub(super) fn meeting(one: (Corner, Corner), other: (Corner, Corner)) -> Meeting {
    let beyond = |values: fn(Corner) -> i64| {
        let range =
            |side: (Corner, Corner)| (values(side.0).min(values(side.1)), values(side.0).max(values(side.1)));
        range(one).1 < range(other).0 || range(other).1 < range(one).0
    };
    if beyond(|corner| corner.0) || beyond(|corner| corner.1) {
        return Meeting::Apart;
    }
    let signs = |side: (Corner, Corner), of: (Corner, Corner)| {
        (turn(side.0, side.1, of.0).signum(), turn(side.0, side.1, of.1).signum())
    };
    let (ours, theirs) = (signs(one, other), signs(other, one));
    if ours.0 * ours.1 > 0 || theirs.0 * theirs.1 > 0 {
        Meeting::Apart
    } else if ours.0 * ours.1 < 0 && theirs.0 * theirs.1 < 0 {
        Meeting::Crosses
    } else {
        Meeting::Touches
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: no two sides meet, except neighbours at their common corner.
    fn is_simple_by_pairs(corners: &[Corner]) -> bool {
        let count = corners.len();
        let side = |index: usize| (corners[index], corners[(index + 1) % count]);
        (0..count).all(|index| {
            !goes_back(corners[index], corners[(index + 1) % count], corners[(index + 2) % count])
                && (index + 2..count)
                    .filter(|other| (other + 1) % count != index)
                    .all(|other| meeting(side(index), side(other)) == Meeting::Apart)
        })
    }

    /// A star of this many corners: every side reaches from the inner to the outer circle.
    fn star(count: i32) -> Vec<Corner> {
        let corner = |index: i32| {
            let angle = f64::from(index) / f64::from(count) * std::f64::consts::TAU;
            let radius = if index % 2 == 0 { 1e8 } else { 2e6 };
            #[expect(clippy::cast_possible_truncation, reason = "a test of coordinates below 1e9")]
            let units = |value: f64| value.round() as i64;
            (units(radius * angle.cos()), units(radius * angle.sin()))
        };
        (0..count).map(corner).collect()
    }

    #[test]
    fn a_star_of_2000_corners_takes_few_tests() {
        let star = star(2_000);
        let checked = is_simple(&star);
        assert!(checked.is_simple);
        assert!(checked.tests < 40 * star.len(), "{} tests", checked.tests);
        let mut crossed = star;
        crossed.swap(500, 1_500);
        assert!(!is_simple(&crossed).is_simple);
    }

    proptest! {
        /// A small grid, so that corners often lie on sides, on one meridian or on each other.
        #[test]
        fn the_sweep_agrees_with_comparing_every_pair(
            corners in prop::collection::vec((0_i64..5, 0_i64..5), 3..9),
        ) {
            let mut corners = corners;
            corners.dedup();
            prop_assume!(corners.len() >= 3 && corners.first() != corners.last());
            prop_assert_eq!(is_simple(&corners).is_simple, is_simple_by_pairs(&corners), "{:?}", corners);
        }

        #[test]
        fn stars_with_moved_corners_are_checked_alike(
            moves in prop::collection::vec((0_usize..60, -30_000_000_i64..30_000_000, -30_000_000_i64..30_000_000), 0..3),
        ) {
            let mut corners = star(60);
            for (index, x, y) in moves {
                corners[index].0 += x;
                corners[index].1 += y;
            }
            prop_assert_eq!(is_simple(&corners).is_simple, is_simple_by_pairs(&corners));
        }
    }
}
