//! Checks that a shape is valid.

use super::ring::{Corner, ROUND, Ring, Side};
use super::sweep::{self, Meeting, meeting};
use super::{Area, Position, Shape};

/// Why a shape is refused. The text completes a sentence that begins with the geometry's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// No area at all.
    #[error("must have at least one area")]
    NoArea,
    /// More polygons than [`Shape::AREAS_MAX`].
    #[error("must have at most 100 areas")]
    TooManyAreas,
    /// More positions than [`Shape::POSITIONS_MAX`].
    #[error("must have at most 2000 positions in total")]
    TooManyPositions,
    /// A ring with fewer than three different positions.
    #[error(
        "must have rings of at least three different positions, with the first position repeated at the end"
    )]
    TooFewPositions,
    /// A ring that crosses or touches itself.
    #[error("must not cross or touch itself, and must not go back along an edge")]
    SelfCrossing,
    /// A hole outside its outline, or rings that cross.
    #[error("must have holes inside of its outline, and rings that do not cross each other")]
    HoleOutside,
    /// A radius or width out of range.
    #[error("must have a radius or width of more than 0 and at most 1000000 metres")]
    Distance,
    /// A line of one position, or with neighbours too far apart.
    #[error(
        "must have a line of at least two different positions, with less than 15000 km between neighbouring positions"
    )]
    Line,
}

/// The longest segment of a corridor, in metres. Between positions half the earth apart the great circle is not
/// unique.
const LONGEST_ARC_M: f64 = 15_000_000.0;

pub(super) fn check_radius(metres: f64) -> Result<(), ShapeError> {
    if metres > 0.0 && metres <= Shape::DISTANCE_MAX_M { Ok(()) } else { Err(ShapeError::Distance) }
}

pub(super) fn check_corridor(line: &[Position], width_m: f64) -> Result<(), ShapeError> {
    check_radius(width_m)?;
    if line.len() > Shape::POSITIONS_MAX {
        return Err(ShapeError::TooManyPositions);
    }
    let too_long = |pair: &[Position]| match pair {
        [from, to] => from.vector().distance_m(to.vector()) > LONGEST_ARC_M,
        _ => false,
    };
    let differs = line.iter().any(|position| Some(position) != line.first());
    if !differs || line.windows(2).any(too_long) { Err(ShapeError::Line) } else { Ok(()) }
}

pub(super) fn check_areas(areas: &[Area]) -> Result<(), ShapeError> {
    let rings = |area: &Area| area.outline.len() + area.holes.iter().map(Vec::len).sum::<usize>();
    if areas.is_empty() {
        return Err(ShapeError::NoArea);
    }
    if areas.len() > Shape::AREAS_MAX {
        return Err(ShapeError::TooManyAreas);
    }
    if areas.iter().map(rings).sum::<usize>() > Shape::POSITIONS_MAX {
        return Err(ShapeError::TooManyPositions);
    }
    areas.iter().try_for_each(check_area)
}

fn check_area(area: &Area) -> Result<(), ShapeError> {
    let outline = Ring::of(&area.outline);
    check_ring(&outline)?;
    let mut holes: Vec<Ring> = Vec::with_capacity(area.holes.len());
    for positions in &area.holes {
        let hole = Ring::of(positions);
        check_ring(&hole)?;
        let within = positions.iter().all(|position| outline.locate(*position) != Side::Outside);
        // Shifted by 360 degrees if necessary, so that its sides can be compared with those of the outline.
        let aligned = (-1..=1)
            .map(|turns| hole.turned(turns))
            .find(|hole| hole.west >= outline.west && hole.east <= outline.east);
        let hole = aligned.filter(|_| within).ok_or(ShapeError::HoleOutside)?;
        if std::iter::once(&outline).chain(&holes).any(|other| crosses(other, &hole)) {
            return Err(ShapeError::HoleOutside);
        }
        holes.push(hole);
    }
    Ok(())
}

fn check_ring(ring: &Ring) -> Result<(), ShapeError> {
    if ring.corners.len() < 3 {
        return Err(ShapeError::TooFewPositions);
    }
    if ring.east - ring.west > 2 * ROUND {
        return Err(ShapeError::SelfCrossing);
    }
    if sweep::is_simple(&ring.corners).is_simple { Ok(()) } else { Err(ShapeError::SelfCrossing) }
}

/// Whether two rings cross. Only the sides within the bounding box of the other ring are compared.
fn crosses(one: &Ring, other: &Ring) -> bool {
    let near = |of: &Ring, to: &Ring| -> Vec<(Corner, Corner)> {
        of.sides().filter(|side| to.box_meets(*side)).collect()
    };
    let across = near(other, one);
    near(one, other).into_iter().any(|side| across.iter().any(|across| do_cross(side, *across)))
}

/// Whether two sides cross, each with its ends on different sides of the other.
fn do_cross(one: (Corner, Corner), other: (Corner, Corner)) -> bool {
    matches!(meeting(one, other), Meeting::Crosses)
}
