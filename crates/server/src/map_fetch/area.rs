//! Which area of a map is copied, as an operator describes it.

use std::collections::HashMap;
use std::sync::LazyLock;

use perigee_core::id::AccountId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cells::Cells;
use super::error::{FetchError, Result};
use super::polygon::{Bounds, Polygon};
use super::ranges::Ranges;

/// Maximum number of positions of an outline.
pub const POSITIONS_MAX: usize = 20_000;
/// The outlines of countries have few points, and streets near a border matter.
const COUNTRY_MARGIN_M: f64 = 10_000.0;
/// Outlines by country code: rings of hundredths of degrees, the first position and then differences.
static COUNTRIES: LazyLock<HashMap<String, Vec<Vec<i32>>>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../assets/map/countries.json")).unwrap_or_default()
});

/// The area that is copied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum AreaSpec {
    /// Between these degrees: west, south, east, north. West is greater than east across the antimeridian.
    Bbox([f64; 4]),
    /// Inside these rings of longitude and latitude.
    Polygon(Vec<Vec<[f64; 2]>>),
    /// A country, by its two-letter code, with 10 km around it.
    Country(String),
    /// Around the places where devices were.
    Devices(DevicesSpec),
}

/// The devices whose places are an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevicesSpec {
    /// Days to look back.
    pub days: u16,
    /// The account of the devices; none for all accounts.
    pub account: Option<AccountId>,
}

impl DevicesSpec {
    /// Maximum number of days to look back.
    pub const DAYS_MAX: u16 = 730;
}

/// An area that can be compared with tiles.
pub(super) enum Shape {
    Outline(Polygon),
    Cells(Cells),
}

impl Shape {
    pub(super) fn ranges(&self, max_zoom: u8) -> Result<Ranges> {
        match self {
            Self::Outline(polygon) => Ranges::of(polygon, max_zoom),
            Self::Cells(cells) => Ranges::of(cells, max_zoom),
        }
    }

    pub(super) const fn bounds(&self) -> Bounds {
        match self {
            Self::Outline(polygon) => polygon.bounds(),
            Self::Cells(cells) => cells.bounds(),
        }
    }
}

impl AreaSpec {
    /// What is wrong with it, as a sentence.
    pub fn check(&self) -> Result<()> {
        let wrong = |why: &str| Err(FetchError::Area(why.to_owned()));
        match self {
            Self::Bbox([west, south, east, north]) => {
                let longitudes = [west, east].into_iter().all(|value| (-180.0..=180.0).contains(value));
                let latitudes = [south, north].into_iter().all(|value| (-90.0..=90.0).contains(value));
                if longitudes && latitudes && south < north && (west < east || east < west) {
                    return Ok(());
                }
                wrong("a box must be west, south, east and north in degrees, with south below north")
            }
            Self::Polygon(rings) => {
                if rings.iter().map(Vec::len).sum::<usize>() > POSITIONS_MAX {
                    return wrong("an outline must have at most 20000 positions");
                }
                let is_good = |[longitude, latitude]: &[f64; 2]| {
                    (-180.0..=180.0).contains(longitude) && (-90.0..=90.0).contains(latitude)
                };
                if rings.is_empty() || rings.iter().any(|ring| ring.len() < 3 || !ring.iter().all(is_good)) {
                    return wrong(
                        "an outline must have rings of at least three positions, each a longitude and a latitude in degrees",
                    );
                }
                Ok(())
            }
            Self::Country(code) if COUNTRIES.contains_key(code) => Ok(()),
            Self::Country(_) => wrong(
                "there is no outline of this country; use a two-letter code such as ES, or draw the area",
            ),
            Self::Devices(DevicesSpec { days, .. }) if (1..=DevicesSpec::DAYS_MAX).contains(days) => Ok(()),
            Self::Devices(_) => wrong("the number of days must be between 1 and 730"),
        }
    }

    /// The codes of countries that have an outline.
    pub fn countries() -> Vec<&'static str> {
        let mut codes: Vec<&str> = COUNTRIES.keys().map(String::as_str).collect();
        codes.sort_unstable();
        codes
    }

    /// Reads a polygon from `GeoJSON`: a geometry, a feature, or a collection of them.
    pub fn from_geojson(document: &Value) -> Result<Self> {
        let mut rings = Vec::new();
        collect(document, &mut rings, 0);
        if rings.is_empty() {
            return Err(FetchError::Area("the GeoJSON has no Polygon and no MultiPolygon".to_owned()));
        }
        let area = Self::Polygon(rings);
        area.check()?;
        Ok(area)
    }

    /// The outline; none for an area of devices, whose places are in the store.
    pub(super) fn outline(&self) -> Option<Polygon> {
        match self {
            Self::Bbox([west, south, east, north]) => {
                let part = |west: f64, east: f64| {
                    vec![[west, *south], [east, *south], [east, *north], [west, *north]]
                };
                let parts = if west < east {
                    vec![part(*west, *east)]
                } else {
                    vec![part(*west, 180.0), part(-180.0, *east)]
                };
                Some(Polygon::new(&parts, 0.0))
            }
            Self::Polygon(rings) => Some(Polygon::new(rings, 0.0)),
            Self::Country(code) => {
                let rings: Vec<_> = COUNTRIES.get(code)?.iter().map(|packed| unpack(packed)).collect();
                Some(Polygon::new(&rings, COUNTRY_MARGIN_M))
            }
            Self::Devices(_) => None,
        }
    }
}

fn unpack(packed: &[i32]) -> Vec<[f64; 2]> {
    let (mut x, mut y) = (0, 0);
    packed
        .chunks_exact(2)
        .map(|step| {
            (x, y) = (x + step[0], y + step[1]);
            [f64::from(x) / 100.0, f64::from(y) / 100.0]
        })
        .collect()
}

/// Adds the rings of the polygons in a document.
fn collect(document: &Value, rings: &mut Vec<Vec<[f64; 2]>>, depth: u8) {
    if depth > 4 {
        return;
    }
    let polygon = |coordinates: &Value, rings: &mut Vec<Vec<[f64; 2]>>| {
        for ring in coordinates.as_array().into_iter().flatten() {
            let positions = ring.as_array().into_iter().flatten();
            // A position that is none is out of range, and the check refuses it.
            let degrees = |position: &Value, at: usize| position[at].as_f64().unwrap_or(f64::NAN);
            let ring: Vec<_> = positions.map(|one| [degrees(one, 0), degrees(one, 1)]).collect();
            rings.push(ring);
        }
    };
    match document["type"].as_str() {
        Some("Polygon") => polygon(&document["coordinates"], rings),
        Some("MultiPolygon") => {
            for part in document["coordinates"].as_array().into_iter().flatten() {
                polygon(part, rings);
            }
        }
        Some("Feature") => collect(&document["geometry"], rings, depth + 1),
        Some("FeatureCollection") => {
            for feature in document["features"].as_array().into_iter().flatten() {
                collect(feature, rings, depth + 1);
            }
        }
        Some("GeometryCollection") => {
            for geometry in document["geometries"].as_array().into_iter().flatten() {
                collect(geometry, rings, depth + 1);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::map_fetch::polygon::tile_at;
    use crate::map_fetch::tile_id::{along_of, first_of};

    fn holds(area: &AreaSpec, position: [f64; 2]) -> bool {
        let ranges = Ranges::of(&area.outline().unwrap(), 10).unwrap();
        let (x, y) = tile_at(10, position);
        let id = first_of(10) + along_of(10, x, y);
        ranges.touch(id, id + 1)
    }

    #[test]
    fn every_country_has_an_outline_with_its_capital() {
        assert!(AreaSpec::countries().len() > 200);
        for (code, longitude, latitude) in [
            ("ES", -3.7, 40.42),
            ("PT", -9.14, 38.72),
            ("FR", 2.35, 48.86),
            ("NZ", 174.78, -41.29),
            ("FJ", 178.44, -18.14),
            ("RU", 37.62, 55.75),
            ("NO", 10.75, 59.91),
            ("US", -77.04, 38.9),
            ("SG", 103.82, 1.35),
        ] {
            let area = AreaSpec::Country(code.to_owned());
            assert_eq!(area.check(), Ok(()));
            assert!(holds(&area, [longitude, latitude]), "{code}");
        }
        let spain = AreaSpec::Country("ES".to_owned());
        assert!(holds(&spain, [-15.43, 28.1]), "the Canary Islands");
        assert!(!holds(&spain, [2.35, 48.86]) && !holds(&spain, [-9.14, 38.72]));
        assert!(holds(&AreaSpec::Country("RU".to_owned()), [-170.0, 66.0]), "beyond the antimeridian");
        for code in AreaSpec::countries() {
            let outline = AreaSpec::Country(code.to_owned()).outline().unwrap();
            assert!(Ranges::of(&outline, 8).is_ok(), "{code}");
        }
    }

    #[test]
    fn a_box_may_cross_the_antimeridian() {
        let fiji = AreaSpec::Bbox([176.0, -20.0, -178.0, -15.0]);
        assert_eq!(fiji.check(), Ok(()));
        assert!(holds(&fiji, [179.0, -17.0]) && holds(&fiji, [-179.0, -17.0]) && !holds(&fiji, [0.0, -17.0]));
        for bad in
            [[0.0, 10.0, 5.0, 5.0], [0.0, 0.0, 0.0, 5.0], [-181.0, 0.0, 5.0, 5.0], [0.0, f64::NAN, 1.0, 2.0]]
        {
            assert!(AreaSpec::Bbox(bad).check().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn polygons_are_read_from_geojson() {
        let ring = json!([[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]);
        for document in [
            json!({"type": "Polygon", "coordinates": [ring]}),
            json!({"type": "Feature", "geometry": {"type": "MultiPolygon", "coordinates": [[ring]]}}),
            json!({"type": "FeatureCollection", "features": [{"type": "Feature", "geometry":
                {"type": "GeometryCollection", "geometries": [{"type": "Polygon", "coordinates": [ring]}]}}]}),
        ] {
            let area = AreaSpec::from_geojson(&document).unwrap();
            assert!(holds(&area, [1.0, 1.0]) && !holds(&area, [3.0, 1.0]));
        }
        for bad in [
            json!({"type": "Point", "coordinates": [0, 0]}),
            json!({"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]}),
            json!({"type": "Polygon", "coordinates": [[[0, 0], [1, "x"], [2, 2]]]}),
            json!({"type": "Polygon", "coordinates": [[[0, 0], [1, 99], [2, 2]]]}),
            json!([]),
        ] {
            assert!(AreaSpec::from_geojson(&bad).is_err(), "{bad}");
        }
    }
}
