//! The tiles of an area at every zoom level, as ranges of tile IDs. The Hilbert curve visits the four parts of a tile one
//! after the other, so a tile that lies inside the area stands for one range at each deeper zoom level.

use super::error::{FetchError, Result};
use super::tile_id::{first_of, place_of};

/// Maximum number of ranges; each needs 16 bytes.
const RANGES_MAX: usize = 1_000_000;

/// How much of a tile belongs to an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    None,
    Some,
    All,
}

/// An area that can be compared with tiles.
pub(super) trait Cover {
    /// What the parts of a tile need to know of it, so that they look at less.
    type Near;

    /// For the tile of the whole world.
    fn begin(&self) -> Self::Near;

    /// Compares a tile, given what is known of the tile around it.
    fn part(&self, zoom: u8, place: (u64, u64), around: &Self::Near) -> (Part, Self::Near);
}

/// Ranges of tile IDs, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// The tiles of the area up to this zoom level.
    pub(super) fn of<C: Cover>(area: &C, max_zoom: u8) -> Result<Self> {
        let mut walk = Walk { area, max_zoom, levels: vec![Vec::new(); usize::from(max_zoom) + 1], count: 0 };
        walk.visit(0, 0, &area.begin())?;
        Ok(Self(walk.levels.into_iter().flatten().collect()))
    }

    /// The parts of `from..to` that belong to the area, in order.
    pub(super) fn within(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.0.partition_point(|(_, end)| *end <= from);
        let rest = self.0.get(first..).unwrap_or_default().iter();
        rest.take_while(move |(begin, _)| *begin < to)
            .map(move |(begin, end)| ((*begin).max(from), (*end).min(to)))
    }

    /// Whether any of `from..to` belongs to the area.
    pub(super) fn touch(&self, from: u64, to: u64) -> bool {
        self.within(from, to).next().is_some()
    }
}

struct Walk<'a, C> {
    area: &'a C,
    max_zoom: u8,
    levels: Vec<Vec<(u64, u64)>>,
    count: usize,
}

impl<C: Cover> Walk<'_, C> {
    fn visit(&mut self, zoom: u8, along: u64, around: &C::Near) -> Result<()> {
        let (part, near) = self.area.part(zoom, place_of(zoom, along), around);
        match part {
            Part::None => Ok(()),
            Part::All => {
                for level in zoom..=self.max_zoom {
                    let deeper = 2 * (level - zoom);
                    self.add(level, along << deeper, 1 << deeper)?;
                }
                Ok(())
            }
            Part::Some => {
                self.add(zoom, along, 1)?;
                if zoom == self.max_zoom {
                    return Ok(());
                }
                (0..4).try_for_each(|part| self.visit(zoom + 1, along * 4 + part, &near))
            }
        }
    }

    fn add(&mut self, level: u8, along: u64, count: u64) -> Result<()> {
        let begin = first_of(level) + along;
        let ranges = &mut self.levels[usize::from(level)];
        match ranges.last_mut() {
            Some((_, end)) if *end == begin => *end += count,
            _ => {
                self.count += 1;
                ranges.push((begin, begin + count));
            }
        }
        if self.count > RANGES_MAX {
            return Err(FetchError::Area(
                "the area has too detailed an outline for these zoom levels; use a simpler one, or a lower highest zoom level"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}
