//! A closed line in longitude and latitude. Longitudes may exceed 180 degrees, so that no edge jumps at the
//! antimeridian.

use super::Position;

/// 360 degrees in units of 1e-7 degree.
pub(super) const ROUND: i64 = 3_600_000_000;
const POLE: i64 = 900_000_000;

/// A corner as longitude (may exceed 180 degrees) and latitude, in units of 1e-7 degree.
pub(super) type Corner = (i64, i64);

/// A closed line. The last corner is connected to the first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ring {
    pub(super) corners: Vec<Corner>,
    pub(super) west: i64,
    pub(super) east: i64,
    pub(super) south: i64,
    pub(super) north: i64,
}

impl Ring {
    /// Makes a ring from positions; the last may repeat the first.
    pub(super) fn of(positions: &[Position]) -> Self {
        let mut corners: Vec<Corner> = Vec::with_capacity(positions.len() + 2);
        for position in positions {
            let (x, y) = (i64::from(position.longitude.as_e7()), i64::from(position.latitude.as_e7()));
            let x = corners.last().map_or(x, |last| nearest(x, last.0));
            if corners.last() != Some(&(x, y)) {
                corners.push((x, y));
            }
        }
        if let (Some(first), Some(last)) = (corners.first().copied(), corners.last().copied()) {
            let closing = nearest(first.0, last.0) - first.0;
            if closing == 0 {
                if corners.len() > 1 && first == last {
                    corners.pop();
                }
            } else {
                close_over_pole(&mut corners, first, closing);
            }
        }
        let range = |values: fn(&Corner) -> i64| {
            let least = corners.iter().map(values).min().unwrap_or(0);
            (least, corners.iter().map(values).max().unwrap_or(0))
        };
        let ((west, east), (south, north)) = (range(|corner| corner.0), range(|corner| corner.1));
        Self { corners, west, east, south, north }
    }

    /// The edges, each from one corner to the next.
    pub(super) fn sides(&self) -> impl Iterator<Item = (Corner, Corner)> + '_ {
        let next = self.corners.iter().cycle().skip(1);
        self.corners.iter().copied().zip(next.copied())
    }

    /// Whether a position is inside, on the line or outside.
    pub(super) fn locate(&self, position: Position) -> Side {
        let (x, y) = (i64::from(position.longitude.as_e7()), i64::from(position.latitude.as_e7()));
        if y < self.south || y > self.north {
            return Side::Outside;
        }
        // The ring may lie up to 360 degrees to either side of the position's longitude.
        let turns = [x - ROUND, x, x + ROUND];
        let near = turns.into_iter().filter(|x| (self.west..=self.east).contains(x));
        near.map(|x| self.locate_flat((x, y))).max().unwrap_or(Side::Outside)
    }

    fn locate_flat(&self, (x, y): Corner) -> Side {
        let mut inside = false;
        for (from, to) in self.sides() {
            // Most sides are above, below or to the west, and need no multiplication.
            if (from.1 < y && to.1 < y) || (from.1 > y && to.1 > y) || (from.0 < x && to.0 < x) {
                continue;
            }
            let straddles = (from.1 > y) != (to.1 > y);
            if from.0 > x && to.0 > x {
                inside ^= straddles;
                continue;
            }
            let turn = turn(from, to, (x, y));
            if turn == 0 {
                return Side::On;
            }
            inside ^= straddles && (turn > 0) == (to.1 > from.1);
        }
        if inside { Side::Inside } else { Side::Outside }
    }

    /// Whether the bounding box of a side meets that of the ring.
    pub(super) fn box_meets(&self, (from, to): (Corner, Corner)) -> bool {
        from.0.max(to.0) >= self.west
            && from.0.min(to.0) <= self.east
            && from.1.max(to.1) >= self.south
            && from.1.min(to.1) <= self.north
    }

    /// The ring moved by this many times 360 degrees.
    pub(super) fn turned(&self, turns: i64) -> Self {
        let by = turns * ROUND;
        let corners = self.corners.iter().map(|(x, y)| (x + by, *y)).collect();
        Self { corners, west: self.west + by, east: self.east + by, ..*self }
    }
}

/// Where a position lies relative to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Outside,
    On,
    Inside,
}

/// Orientation of three corners: positive if the path turns left at `over`.
pub(super) fn turn(from: Corner, over: Corner, to: Corner) -> i128 {
    let cross =
        |a: i64, b: i64, c: i64, d: i64| i128::from(a) * i128::from(b) - i128::from(c) * i128::from(d);
    cross(over.0 - from.0, to.1 - from.1, over.1 - from.1, to.0 - from.0)
}

/// The same meridian, shifted by 360 degrees so that it lies within 180 degrees of `of`.
fn nearest(x: i64, of: i64) -> i64 {
    let away = (x - of).rem_euclid(ROUND);
    of + if away > ROUND / 2 { away - ROUND } else { away }
}

/// A ring that goes once around the earth encloses the pole of its hemisphere, so it is closed along that pole.
fn close_over_pole(corners: &mut Vec<Corner>, first: Corner, closing: i64) {
    let middle: i64 = corners.iter().map(|corner| corner.1).sum();
    let pole = if middle < 0 { -POLE } else { POLE };
    let end = (first.0 + closing, first.1);
    if corners.last() != Some(&end) {
        corners.push(end);
    }
    corners.push((end.0, pole));
    corners.push((first.0, pole));
}
