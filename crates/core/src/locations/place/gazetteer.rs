//! The gazetteer: 59,415 towns, capes, islands and ports, and the search for the one that best describes a position.
//!
//! Its file is `map/places.bin`, which `scripts/basemap` makes and the console searches; `map/README.md` names its
//! sources.

use std::io::Read as _;
use std::ops::Range;
use std::sync::LazyLock;

use flate2::read::GzDecoder;

use super::tree::{Node, Tree};
use crate::access::preference::ConsoleLanguage;
use crate::locations::location::{Latitude, Longitude};
use crate::locations::sphere::UnitVector;

/// The file as it is in the repository, gzipped; `web/build/map/gazetteer.mjs` describes its columns.
pub static FILE: &[u8] = include_bytes!("../../../../../map/places.bin");

static GAZETTEER: LazyLock<Gazetteer> = LazyLock::new(|| {
    let mut bytes = Vec::new();
    let unpacked = GzDecoder::new(FILE).read_to_end(&mut bytes);
    // The file is part of the program and a test reads it, so the empty default is never used.
    unpacked.ok().and_then(|_length| Gazetteer::read(&bytes)).unwrap_or_default()
});

/// The gazetteer of the program. The first call unpacks it and builds its index, some 20 ms.
pub fn gazetteer() -> &'static Gazetteer {
    &GAZETTEER
}

/// The kind of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// A town or city.
    Town,
    /// A cape, which sailors know even if nobody lives there.
    Cape,
    /// An island without a town that is nearer.
    Island,
    /// A port that is not in a town of the file.
    Port,
}

impl PlaceKind {
    /// Every kind, as they are numbered in the file.
    pub const ALL: [Self; 4] = [Self::Town, Self::Cape, Self::Island, Self::Port];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Town => "town",
            Self::Cape => "cape",
            Self::Island => "island",
            Self::Port => "port",
        }
    }
}

/// A place with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place<'g> {
    names: &'g str,
    /// Town, cape, island or port.
    pub kind: PlaceKind,
    /// Two letters, almost always of ISO 3166-1; none for capes, islands and ports.
    pub country: Option<&'g str>,
    /// Degrees north and east, to about 300 m.
    pub position: (f64, f64),
}

impl<'g> Place<'g> {
    /// Its name in this language, or else as its country writes it.
    pub fn name(&self, language: ConsoleLanguage) -> &'g str {
        let (name, spanish) = self.names.split_once('\t').unwrap_or((self.names, ""));
        if language == ConsoleLanguage::Spanish && !spanish.is_empty() { spanish } else { name }
    }
}

/// The place by which a position is best described.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near<'g> {
    /// The place to name.
    pub place: Place<'g>,
    /// The great-circle distance between it and the position.
    pub metres: f64,
    /// Direction from the place to the position, in degrees clockwise from north.
    pub bearing: f64,
}

/// Places with names, and an index of them.
#[derive(Debug, Default)]
pub struct Gazetteer {
    /// Longitude in 65536ths of 360 degrees eastwards from the antimeridian, and latitude in 65536ths of 180 degrees
    /// from the south pole.
    positions: Vec<(u16, u16)>,
    kinds: Vec<PlaceKind>,
    /// Two letters for each place, spaces where it has no country.
    countries: String,
    /// Names, one a line; a Spanish name that differs follows a tab.
    names: String,
    /// Where each line of `names` begins.
    begins: Vec<u32>,
    tree: Tree,
}

impl Gazetteer {
    /// Reads the columns of the file; `None` if they are not in the format of `web/build/map/gazetteer.mjs`.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (count, mut rest) = bytes.split_first_chunk::<4>()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let mut take = |length: usize| {
            let (column, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(column)
        };
        let number = |pair: &[u8]| pair.try_into().map(u16::from_le_bytes).unwrap_or_default();
        let two = count.checked_mul(2)?;
        let (longitudes, latitudes) = (take(two)?.chunks(2).map(number), take(two)?.chunks(2).map(number));
        let (ranks, kinds) = (take(count)?, take(count)?);
        let countries = String::from_utf8(take(two)?.to_vec()).ok().filter(|text| text.is_ascii())?;
        let names = String::from_utf8(rest.to_vec()).ok()?;
        let kind = |number: &u8| PlaceKind::ALL.get(usize::from(*number)).copied();
        let kinds: Vec<PlaceKind> = kinds.iter().map(kind).collect::<Option<_>>()?;
        let positions: Vec<(u16, u16)> = longitudes.zip(latitudes).collect();
        let begins = begins_of_lines(&names)?;
        if begins.len() != count {
            return None;
        }
        let nodes = positions.iter().zip(ranks).zip(&kinds).zip(0..);
        let nodes = nodes.map(|(((position, rank), kind), index)| {
            let rank = if *kind == PlaceKind::Cape { CAPE_RANK } else { *rank };
            Node::new(vector(degrees(*position)), rank, index)
        });
        let tree = Tree::build(nodes.collect());
        Some(Self { positions, kinds, countries, names, begins, tree })
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is no place at all.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Bytes of memory that it takes.
    pub fn memory_bytes(&self) -> usize {
        self.positions.capacity() * size_of::<(u16, u16)>()
            + self.kinds.capacity()
            + self.countries.capacity()
            + self.names.capacity()
            + self.begins.capacity() * size_of::<u32>()
            + self.tree.memory_bytes()
    }

    /// The place by which a position is best described: a larger one is preferred to a nearer village, unless the
    /// position is at the village.
    pub fn nearest(&self, latitude: Latitude, longitude: Longitude) -> Option<Near<'_>> {
        let here = (latitude.as_degrees(), longitude.as_degrees());
        self.near(self.tree.best(vector(here))?, here)
    }

    /// The same by comparing all places.
    #[cfg(test)]
    pub(super) fn nearest_of_all(&self, latitude: Latitude, longitude: Longitude) -> Option<Near<'_>> {
        let here = (latitude.as_degrees(), longitude.as_degrees());
        self.near(self.tree.best_of_all(vector(here))?, here)
    }

    fn near(&self, index: u32, here: (f64, f64)) -> Option<Near<'_>> {
        let place = self.place(index)?;
        let there = place.position;
        let at = |(latitude, longitude): (f64, f64)| {
            Some(UnitVector::new(
                Latitude::from_degrees(latitude).ok()?,
                Longitude::from_degrees(longitude).ok()?,
            ))
        };
        let metres = at(there)?.distance_m(at(here)?);
        Some(Near { place, metres, bearing: bearing(there, here) })
    }

    fn place(&self, index: u32) -> Option<Place<'_>> {
        let index = usize::try_from(index).ok()?;
        let names = self.names.get(self.line(index)?)?;
        let country = self.countries.get(2 * index..2 * index + 2)?;
        Some(Place {
            names,
            kind: *self.kinds.get(index)?,
            country: Some(country).filter(|country| *country != "  "),
            position: degrees(*self.positions.get(index)?),
        })
    }

    /// The range of the line with the names of a place.
    fn line(&self, index: usize) -> Option<Range<usize>> {
        let begin = usize::try_from(*self.begins.get(index)?).ok()?;
        let next = self.begins.get(index + 1).and_then(|next| usize::try_from(*next).ok());
        Some(begin..next.map_or(self.names.len(), |next| next - 1))
    }
}

/// Capes have the rank of a town of 100,000 inhabitants.
const CAPE_RANK: u8 = 2;

fn begins_of_lines(names: &str) -> Option<Vec<u32>> {
    let mut begins = vec![0];
    for (end, _) in names.match_indices('\n') {
        begins.push(u32::try_from(end + 1).ok()?);
    }
    Some(begins)
}

/// Latitude and longitude of a position of the file.
fn degrees((longitude, latitude): (u16, u16)) -> (f64, f64) {
    (f64::from(latitude) / 65_536.0 * 180.0 - 90.0, f64::from(longitude) / 65_536.0 * 360.0 - 180.0)
}

/// The unit vector to a latitude and longitude, in the precision of the index: less than a metre.
#[expect(clippy::cast_possible_truncation, reason = "half the digits are enough and take half the memory")]
fn vector((latitude, longitude): (f64, f64)) -> [f32; 3] {
    let (north, east) = (latitude.to_radians(), longitude.to_radians());
    [north.cos() * east.cos(), north.cos() * east.sin(), north.sin()].map(|part| part as f32)
}

/// The initial course of the great circle from one latitude and longitude to another, in degrees clockwise from north.
fn bearing(from: (f64, f64), to: (f64, f64)) -> f64 {
    let (south, north) = (from.0.to_radians(), to.0.to_radians());
    let east = (to.1 - from.1).to_radians();
    let x = south.cos() * north.sin() - south.sin() * north.cos() * east.cos();
    (east.sin() * north.cos()).atan2(x).to_degrees().rem_euclid(360.0)
}
