//! Areas with outlines: boxes, polygons and countries, on the square of the Web Mercator map.

use std::f64::consts::PI;

use super::ranges::{Cover, Part};

/// Latitude at which the square map ends, in degrees.
const LATITUDE_MAX: f64 = 85.051_128;
/// Strips of the map, each with the edges that cross it.
const STRIPS: usize = 256;

/// West, south, east and north, in degrees.
pub(super) type Bounds = [f64; 4];

/// A polygon of any number of rings; what an odd number of them encloses belongs to it.
#[derive(Clone, Debug)]
pub(super) struct Polygon {
    /// From and to, in units of the square.
    edges: Vec<[f64; 4]>,
    strips: Vec<Vec<u32>>,
    /// What is this near to an edge belongs to the area, in units of the square.
    margin: f64,
    bounds: Bounds,
}

impl Polygon {
    /// The area inside these rings of longitude and latitude in degrees, and a margin in metres around it.
    pub(super) fn new(rings: &[Vec<[f64; 2]>], margin_m: f64) -> Self {
        let mut bounds = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        for [longitude, latitude] in rings.iter().flatten() {
            bounds[0] = bounds[0].min(*longitude);
            bounds[1] = bounds[1].min(*latitude);
            bounds[2] = bounds[2].max(*longitude);
            bounds[3] = bounds[3].max(*latitude);
        }
        let degrees = margin_m / 111_000.0;
        let middle = f64::midpoint(bounds[1], bounds[3]).clamp(-80.0, 80.0);
        let stretch = middle.to_radians().cos();
        let bounds = [
            (bounds[0] - degrees / stretch).max(-180.0),
            (bounds[1] - degrees).max(-LATITUDE_MAX),
            (bounds[2] + degrees / stretch).min(180.0),
            (bounds[3] + degrees).min(LATITUDE_MAX),
        ];
        let mut edges = Vec::new();
        for ring in rings {
            let next = ring.iter().cycle().skip(1);
            edges.extend(ring.iter().zip(next).map(|(from, to)| {
                let ([ax, ay], [bx, by]) = (on_square(*from), on_square(*to));
                [ax, ay, bx, by]
            }));
        }
        let mut strips = vec![Vec::new(); STRIPS];
        for (edge, number) in edges.iter().zip(0_u32..) {
            let (top, bottom) = (strip_of(edge[1].min(edge[3])), strip_of(edge[1].max(edge[3])));
            for strip in &mut strips[top..=bottom] {
                strip.push(number);
            }
        }
        Self { edges, strips, margin: degrees / 360.0 / stretch, bounds }
    }

    /// The box around it.
    pub(super) const fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn holds(&self, [x, y]: [f64; 2]) -> bool {
        let edges = self.strips[strip_of(y)].iter().filter_map(|number| self.edge(*number));
        let crossed = edges
            .filter(|[ax, ay, bx, by]| (*ay > y) != (*by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax);
        crossed.count() % 2 == 1
    }

    fn edge(&self, number: u32) -> Option<&[f64; 4]> {
        self.edges.get(usize::try_from(number).ok()?)
    }
}

impl Cover for Polygon {
    type Near = Vec<u32>;

    fn begin(&self) -> Vec<u32> {
        (0_u32..).zip(&self.edges).map(|(number, _)| number).collect()
    }

    fn part(&self, zoom: u8, place: (u64, u64), around: &Vec<u32>) -> (Part, Vec<u32>) {
        let [west, north, size] = square_of(zoom, place);
        let wide =
            [west - self.margin, north - self.margin, west + size + self.margin, north + size + self.margin];
        let near: Vec<u32> = around
            .iter()
            .copied()
            .filter(|number| self.edge(*number).is_some_and(|edge| meets(*edge, wide)))
            .collect();
        let part = if !near.is_empty() {
            Part::Some
        } else if self.holds([west + size / 2.0, north + size / 2.0]) {
            Part::All
        } else {
            Part::None
        };
        (part, near)
    }
}

/// West and north edge of a tile, and its size.
fn square_of(zoom: u8, (x, y): (u64, u64)) -> [f64; 3] {
    let number = |value: u64| f64::from(u32::try_from(value).unwrap_or(u32::MAX));
    let size = 0.5_f64.powi(zoom.into());
    [number(x) * size, number(y) * size, size]
}

/// A position on the square, from its north-west corner.
pub(super) fn on_square([longitude, latitude]: [f64; 2]) -> [f64; 2] {
    let latitude = latitude.clamp(-LATITUDE_MAX, LATITUDE_MAX).to_radians();
    let y = 0.5 - (latitude.tan() + 1.0 / latitude.cos()).ln() / (2.0 * PI);
    [(longitude + 180.0) / 360.0, y.clamp(0.0, 1.0)]
}

/// Column and row of the tile of a position.
pub(super) fn tile_at(zoom: u8, position: [f64; 2]) -> (u64, u64) {
    let count = 1_u64 << zoom;
    let index = |share: f64| {
        // Halves until the tile is reached: no number is cut off.
        let (mut index, mut rest) = (0, share.clamp(0.0, 1.0));
        for _ in 0..zoom {
            index *= 2;
            rest *= 2.0;
            if rest >= 1.0 {
                index += 1;
                rest -= 1.0;
            }
        }
        u64::min(index, count - 1)
    };
    let [x, y] = on_square(position);
    (index(x), index(y))
}

/// North-west corner of a tile: longitude and latitude in degrees.
pub(super) fn corner_of(zoom: u8, place: (u64, u64)) -> [f64; 2] {
    let [west, north, _] = square_of(zoom, place);
    [west * 360.0 - 180.0, (PI * (1.0 - 2.0 * north)).sinh().atan().to_degrees()]
}

fn strip_of(y: f64) -> usize {
    let limit = f64::from(u16::try_from(STRIPS).unwrap_or(u16::MAX));
    let found = (0..STRIPS).zip(1_u16..).find(|(_, next)| y * limit < f64::from(*next));
    found.map_or(STRIPS - 1, |(strip, _)| strip)
}

/// Whether a line meets a box (Liang and Barsky).
fn meets([ax, ay, bx, by]: [f64; 4], [west, north, east, south]: [f64; 4]) -> bool {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (step, room) in
        [(ax - bx, ax - west), (bx - ax, east - ax), (ay - by, ay - north), (by - ay, south - ay)]
    {
        if step == 0.0 {
            if room < 0.0 {
                return false;
            }
        } else if step < 0.0 {
            enter = enter.max(room / step);
        } else {
            leave = leave.min(room / step);
        }
    }
    enter <= leave
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map_fetch::ranges::Ranges;
    use crate::map_fetch::tile_id::{along_of, first_of};

    fn rectangle([west, south, east, north]: Bounds) -> Vec<[f64; 2]> {
        vec![[west, south], [east, south], [east, north], [west, north]]
    }

    #[test]
    fn the_ranges_are_exactly_the_tiles_that_an_area_meets() {
        let hole = rectangle([-6.0, 40.0, -5.0, 41.0]);
        let area = Polygon::new(&[rectangle([-9.4, 36.0, 3.3, 43.9]), hole], 0.0);
        let ranges = Ranges::of(&area, 11).unwrap();
        for zoom in [0, 3, 7] {
            for x in 0..1_u64 << zoom {
                for y in 0..1_u64 << zoom {
                    let (part, _) = area.part(zoom, (x, y), &area.begin());
                    let id = first_of(zoom) + along_of(zoom, x, y);
                    assert_eq!(ranges.touch(id, id + 1), part != Part::None, "{zoom}/{x}/{y}");
                }
            }
        }
        let in_hole = tile_at(11, [-5.5, 40.5]);
        let id = first_of(11) + along_of(11, in_hole.0, in_hole.1);
        assert!(!ranges.touch(id, id + 1), "the hole is not copied");
        assert!(ranges.touch(0, 1), "the world's own tile is");
    }

    #[test]
    fn a_margin_is_added_on_every_side() {
        let area = Polygon::new(&[rectangle([10.0, 50.0, 10.1, 50.1])], 10_000.0);
        let holds = |position: [f64; 2]| {
            let place = tile_at(14, position);
            area.part(14, place, &area.begin()).0 != Part::None
        };
        for near in [[9.9, 50.05], [10.2, 50.05], [10.05, 49.93], [10.05, 50.17]] {
            assert!(holds(near), "{near:?}");
        }
        for far in [[9.7, 50.05], [10.4, 50.05], [10.05, 49.8], [10.05, 50.3]] {
            assert!(!holds(far), "{far:?}");
        }
    }

    #[test]
    fn positions_have_the_usual_tiles() {
        assert_eq!(tile_at(14, [-8.72, 42.24]), (7795, 6067));
        assert_eq!(tile_at(0, [0.0, 0.0]), (0, 0));
        assert_eq!(tile_at(5, [180.0, -90.0]), (31, 31));
        let [longitude, latitude] = corner_of(14, (7795, 6067));
        assert!(
            (longitude + 8.723).abs() < 0.02 && (latitude - 42.24).abs() < 0.02,
            "{longitude} {latitude}"
        );
    }
}
