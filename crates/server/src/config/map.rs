//! `[map]`: where the bundled map is, and the maps the console offers besides it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use url::Url;

use super::check::refuse;
use super::{ConfigError, redact};

/// The largest zoom level of any map.
const ZOOM_MAX: u8 = 24;
/// Degrees of latitude that a square (Web Mercator) map shows.
const LATITUDE_MAX: f64 = 85.0;

/// Where the bundled map is, and the maps the console offers besides it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// The folder with the bundled map; empty to look in the usual places.
    pub folder: PathBuf,
    /// A file of tiles that this service serves; empty for none.
    pub pmtiles: PathBuf,
    /// Attribution of that file.
    pub pmtiles_attribution: String,
    /// URL of tiles on another server; empty for none.
    #[serde(serialize_with = "redact::address")]
    pub tile_url: String,
    /// Attribution of those tiles.
    pub tile_attribution: String,
    /// The first zoom at which that server has tiles.
    pub tile_min_zoom: u8,
    /// The last zoom at which that server has tiles.
    pub tile_max_zoom: u8,
    /// Centre of a map without devices: longitude and latitude in degrees.
    pub center: [f64; 2],
    /// Zoom level of a map without devices.
    pub zoom: f64,
}

impl Map {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if !self.tile_url.is_empty() {
            let whole = ["{z}", "{x}", "{y}"].iter().all(|part| self.tile_url.contains(part));
            if !whole || self.tile_origin().is_none() {
                return refuse(
                    "map.tile_url",
                    "must be an address such as https://tiles.example.com/{z}/{x}/{y}.png, its host written out",
                );
            }
        }
        if self.tile_min_zoom > self.tile_max_zoom || self.tile_max_zoom > ZOOM_MAX {
            return refuse("map.tile_max_zoom", "must be at least tile_min_zoom, and 24 at the most");
        }
        let [longitude, latitude] = self.center;
        if !(-180.0..=180.0).contains(&longitude) || !(-LATITUDE_MAX..=LATITUDE_MAX).contains(&latitude) {
            return refuse("map.center", "must be [longitude, latitude] in degrees, such as [-8.7, 42.2]");
        }
        if !(0.0..=f64::from(ZOOM_MAX)).contains(&self.zoom) {
            return refuse("map.zoom", "must be between 0 and 24");
        }
        Ok(())
    }

    /// Scheme, host and port of the other server, which browsers must be allowed to ask.
    pub fn tile_origin(&self) -> Option<String> {
        let url = Url::parse(&self.tile_url).ok()?;
        let plain =
            matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
        let origin = url.origin().ascii_serialization();
        // It becomes part of the Content-Security-Policy, where other characters have a meaning.
        let is_safe = |sign: char| sign.is_ascii_alphanumeric() || ".-:/[]_".contains(sign);
        (plain && origin.chars().all(is_safe)).then_some(origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_come_from_one_host() {
        let origin = |tile_url: &str| {
            let map = Map {
                folder: PathBuf::new(),
                pmtiles: PathBuf::new(),
                pmtiles_attribution: String::new(),
                tile_url: tile_url.to_owned(),
                tile_attribution: String::new(),
                tile_min_zoom: 0,
                tile_max_zoom: 19,
                center: [0.0, 20.0],
                zoom: 1.5,
            };
            map.validate().is_ok().then(|| map.tile_origin()).flatten()
        };
        let check = |tile_url: &str, expect: Option<&str>| {
            assert_eq!(origin(tile_url).as_deref(), expect, "{tile_url}");
        };
        check("https://tiles.example.com/{z}/{x}/{y}.png?key=1", Some("https://tiles.example.com"));
        check("http://10.0.0.7:8090/osm/{z}/{x}/{y}", Some("http://10.0.0.7:8090"));
        check("https://{s}.example.com/{z}/{x}/{y}.png", None);
        check("https://tiles.example.com/{z}/{x}.png", None);
        check("https://me:secret@tiles.example.com/{z}/{x}/{y}.png", None);
        check("file:///tiles/{z}/{x}/{y}.png", None);
        check("tiles/{z}/{x}/{y}.png", None);
        check("https://tiles.example.com;script-src/{z}/{x}/{y}.png", None);
        check("", None);
    }
}
