//! Pictures of a position on the bundled map, for e-mails and for pages without scripts.
//!
//! A picture has a palette of few colours and no text: the words of the position stand beside it. Everything is bounded: the
//! size of the picture, the number of tiles, and the bytes and points of a tile.

mod archive;
mod canvas;
mod png;
mod tile;

use std::path::Path;
use std::sync::Arc;

use archive::Archive;
use canvas::{Canvas, Rect};
use parking_lot::Mutex;
use tile::{Geometry, Shape};

use crate::cache::BoundedMap;
use crate::tiles::Tiles;

/// Width and height of a picture in pixels. Pages show it at half the size, so that it is sharp on every screen.
pub const SIZE: (u32, u32) = (1_120, 520);
/// Maximum number of bytes of a picture; a larger one is not used.
pub const BYTES_MAX: usize = 96 * 1024;
/// Zooms of the map (for tiles of 256 pixels), finest first. The first whose picture shows land and sea, or borders, is
/// taken.
const ZOOMS: [u8; 4] = [10, 8, 6, 4];
/// Least share of the pixels that must differ from the rest, so that the reader recognises a coast.
const LEAST_SHARE: usize = 250;
/// Pictures kept in memory: many messages of one alert show the same.
const KEPT: usize = 64;

/// Colours of the palette.
pub(crate) const PALETTE: &[[u8; 3]] = &[
    [0xcf, 0xe3, 0xf2],
    [0xf4, 0xf1, 0xe8],
    [0xe3, 0xdc, 0xcc],
    [0xff, 0xff, 0xff],
    [0x9a, 0x8f, 0xa6],
    [0xa9, 0xca, 0xe6],
    [0xff, 0xff, 0xff],
    [0xc6, 0x28, 0x28],
];
const SEA: u8 = 0;
const LAND: u8 = 1;
const URBAN: u8 = 2;
const ICE: u8 = 3;
const BORDER: u8 = 4;
const RIVER: u8 = 5;
const RING: u8 = 6;
const MARK: u8 = 7;

/// Pictures by the place that they show.
type Drawn = BoundedMap<(i32, i32), Arc<Vec<u8>>>;

/// Draws pictures of the bundled map.
pub struct MapPictures {
    archive: Archive,
    drawn: Mutex<Drawn>,
}

impl std::fmt::Debug for MapPictures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MapPictures").finish_non_exhaustive()
    }
}

impl MapPictures {
    /// Pictures of this map; `None` if there is no map or its directory cannot be read.
    pub fn of(tiles: Option<&Tiles>) -> Option<Self> {
        Self::open(tiles?.path())
    }

    fn open(path: &Path) -> Option<Self> {
        match Archive::open(path) {
            Ok(archive) => Some(Self { archive, drawn: Mutex::new(BoundedMap::new(KEPT)) }),
            Err(error) => {
                tracing::warn!(%error, "cannot draw pictures of the bundled map");
                None
            }
        }
    }

    /// A PNG with the position in its middle. Takes some milliseconds of CPU, so call it where that may block.
    pub fn draw(&self, latitude: f64, longitude: f64) -> Option<Arc<Vec<u8>>> {
        let key = (whole(latitude * 10_000.0), whole(longitude * 10_000.0));
        if let Some(known) = self.drawn.lock().get(&key).cloned() {
            return Some(known);
        }
        let canvas = self.paint(latitude, longitude)?;
        let bytes = png::encode(&canvas, PALETTE)?;
        if bytes.len() > BYTES_MAX {
            return None;
        }
        let bytes = Arc::new(bytes);
        self.drawn.lock().insert(key, Arc::clone(&bytes), |_| true);
        Some(bytes)
    }

    /// The picture at the finest zoom that shows a coast or a border, with the mark in the middle.
    fn paint(&self, latitude: f64, longitude: f64) -> Option<Canvas> {
        let mut painted = None;
        for zoom in ZOOMS {
            let canvas = self.paint_at(zoom, latitude, longitude)?;
            let is_clear = shows_where(&canvas);
            painted = Some(canvas);
            if is_clear {
                break;
            }
        }
        let mut canvas = painted?;
        let middle = (f64::from(SIZE.0) / 2.0, f64::from(SIZE.1) / 2.0);
        canvas.disc(middle, 19.0, RING);
        canvas.disc(middle, 13.0, MARK);
        Some(canvas)
    }

    fn paint_at(&self, zoom: u8, latitude: f64, longitude: f64) -> Option<Canvas> {
        let mut canvas = Canvas::new(SIZE.0, SIZE.1, SEA);
        let level = self.archive.level_for(zoom);
        // Pixels of a tile: a picture has two pixels for each one of the page.
        let side = 512.0 * 2_f64.powi(i32::from(zoom) - i32::from(level));
        let tiles = 2_f64.powi(i32::from(level));
        let (x, y) = mercator(latitude, longitude)?;
        let (left, top) =
            (x * tiles * side - f64::from(SIZE.0) / 2.0, y * tiles * side - f64::from(SIZE.1) / 2.0);
        let (first, last) = (floor(left / side), floor((left + f64::from(SIZE.0)) / side));
        let (upper, lower) = (floor(top / side), floor((top + f64::from(SIZE.1)) / side));
        for row in upper.max(0)..=lower.min(floor(tiles) - 1) {
            for column in first..=last {
                let wrapped = column.rem_euclid(floor(tiles));
                let Some(bytes) = self.archive.tile(level, wrapped, row) else { continue };
                let origin = (f64::from(column) * side - left, f64::from(row) * side - top);
                draw_tile(&mut canvas, &bytes, origin, side);
            }
        }
        Some(canvas)
    }
}

/// Draws the layers of a tile, each clipped to the square of the tile.
fn draw_tile(canvas: &mut Canvas, bytes: &[u8], origin: (f64, f64), side: f64) {
    let Some(layers) = tile::read(bytes) else { return };
    let clip = Rect::square(origin, side);
    for (name, colour) in [("land", LAND), ("ice", ICE), ("urban", URBAN)] {
        for layer in layers.iter().filter(|layer| layer.name == name) {
            for Shape { geometry, is_water, is_ice } in &layer.shapes {
                let colour = match (is_water, is_ice) {
                    (true, _) => SEA,
                    (false, true) => ICE,
                    (false, false) => colour,
                };
                if let Geometry::Polygon(rings) = geometry {
                    canvas.fill(&placed(rings, origin, side / layer.extent), &clip, colour);
                }
            }
        }
    }
    for (name, colour) in [("river", RIVER), ("border", BORDER)] {
        for layer in layers.iter().filter(|layer| layer.name == name) {
            for Shape { geometry, .. } in &layer.shapes {
                if let Geometry::Lines(lines) = geometry {
                    for line in placed(lines, origin, side / layer.extent) {
                        canvas.stroke(&line, &clip, colour);
                    }
                }
            }
        }
    }
}

/// Paths in pixels of the picture.
fn placed(paths: &[Vec<(i32, i32)>], origin: (f64, f64), scale: f64) -> Vec<Vec<(f64, f64)>> {
    let place = |&(x, y): &(i32, i32)| (origin.0 + f64::from(x) * scale, origin.1 + f64::from(y) * scale);
    paths.iter().map(|path| path.iter().map(place).collect()).collect()
}

/// Whether a reader can recognise the place: both land and sea, or a border.
fn shows_where(canvas: &Canvas) -> bool {
    let count = |wanted: &[u8]| canvas.pixels().iter().filter(|pixel| wanted.contains(pixel)).count();
    let least = canvas.pixels().len() / LEAST_SHARE;
    let land = count(&[LAND, URBAN, ICE, BORDER, RIVER]);
    (land >= least && count(&[SEA]) >= least) || count(&[BORDER]) * 4 >= least
}

/// The position in the unit square of the Mercator projection.
fn mercator(latitude: f64, longitude: f64) -> Option<(f64, f64)> {
    if !latitude.is_finite() || !longitude.is_finite() {
        return None;
    }
    let latitude = latitude.clamp(-85.0, 85.0).to_radians();
    let y = 0.5 - ((std::f64::consts::FRAC_PI_4 + latitude / 2.0).tan().ln()) / std::f64::consts::TAU;
    Some((longitude / 360.0 + 0.5, y))
}

fn floor(value: f64) -> i32 {
    whole(value.floor())
}

/// The integer nearest to a value, within the range of the type.
#[expect(clippy::cast_possible_truncation, reason = "a cast from f64 saturates")]
fn whole(value: f64) -> i32 {
    value.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pictures() -> MapPictures {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../map/world.pmtiles");
        MapPictures::open(&path).unwrap()
    }

    /// The colour at this offset from the middle, in pixels.
    fn colour(canvas: &Canvas, (right, down): (i32, i32)) -> u8 {
        let (x, y) = (whole(f64::from(SIZE.0) / 2.0) + right, whole(f64::from(SIZE.1) / 2.0) + down);
        let at = usize::try_from(y).unwrap() * usize::try_from(SIZE.0).unwrap() + usize::try_from(x).unwrap();
        canvas.pixels()[at]
    }

    #[test]
    fn a_coast_is_drawn_where_it_is() {
        let pictures = pictures();
        // Off Cape Finisterre: land in the east, sea in the west.
        let canvas = pictures.paint(42.9, -9.4).unwrap();
        assert_eq!(colour(&canvas, (0, 0)), MARK);
        assert_eq!(colour(&canvas, (-400, 0)), SEA);
        assert_eq!(colour(&canvas, (400, 0)), LAND);
    }

    #[test]
    fn every_place_gives_a_small_picture() {
        let pictures = pictures();
        for (latitude, longitude) in [
            (0.0, -30.0),
            (40.4, -3.7),
            (52.1, 5.1),
            (-77.8, 166.7),
            (-18.0, 179.99),
            (89.9, 0.0),
            (71.0, 25.8),
        ] {
            let bytes = pictures.draw(latitude, longitude).unwrap();
            assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
            assert!(bytes.len() < BYTES_MAX, "{latitude}, {longitude}: {} bytes", bytes.len());
            let again = pictures.draw(latitude, longitude).unwrap();
            assert!(Arc::ptr_eq(&bytes, &again), "drawn once");
        }
        assert!(pictures.draw(f64::NAN, 0.0).is_none());
    }

    #[test]
    fn the_middle_of_an_ocean_shows_the_nearest_land() {
        let canvas = pictures().paint(30.0, -45.0).unwrap();
        assert!(canvas.pixels().contains(&SEA));
        assert_eq!(colour(&canvas, (0, 0)), MARK);
    }

    #[test]
    fn damaged_tiles_draw_nothing() {
        let mut canvas = Canvas::new(8, 8, SEA);
        for bytes in [&b""[..], b"\x1a\xff\xff\xff\xff\xff", b"\x1a\x02\x0a\x10", &[0xff; 64]] {
            draw_tile(&mut canvas, bytes, (0.0, 0.0), 8.0);
        }
        assert!(canvas.pixels().iter().all(|pixel| *pixel == SEA));
    }
}
