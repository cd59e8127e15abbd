//! `[map]`: the folder of the bundled map, and further maps of the console.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::check::refuse;
use super::map_layer::{MapLayer, origin};
use super::{ConfigError, redact};

/// The largest zoom level of any map.
const ZOOM_MAX: u8 = 24;
/// Degrees of latitude that a square (Web Mercator) map shows.
const LATITUDE_MAX: f64 = 85.0;

/// The folder of the bundled map, and further maps of the console.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// The folder with the bundled map; empty to search the usual folders.
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
    /// The lowest zoom level at which that server has tiles.
    pub tile_min_zoom: u8,
    /// The highest zoom level at which that server has tiles.
    pub tile_max_zoom: u8,
    /// Further maps and overlays, in the order in which they are shown.
    pub layers: Vec<MapLayer>,
    /// Disk space for tiles of proxied layers, in MiB; 0 to store none.
    pub cache_mib: u32,
    /// Days after which a cached tile is requested again.
    pub cache_days: u16,
    /// URL of the `PMTiles` file from which maps with streets are copied, unless another one is given.
    #[serde(serialize_with = "redact::address")]
    pub fetch_source: String,
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
                    "must be a URL with {z}, {x} and {y}, such as https://tiles.example.com/{z}/{x}/{y}.png, and must not have a placeholder in the host",
                );
            }
        }
        if self.tile_min_zoom > self.tile_max_zoom || self.tile_max_zoom > ZOOM_MAX {
            return refuse("map.tile_max_zoom", "must be at least tile_min_zoom and at most 24");
        }
        if self.cache_days > 365 {
            return refuse("map.cache_days", "must be between 0 and 365");
        }
        for layer in &self.layers {
            if let Some(problem) = layer.problem() {
                return refuse("map.layers", format!("the layer \"{}\" {problem}", layer.name));
            }
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

    /// Scheme, host and port of the other server, which browsers must be allowed to call.
    pub fn tile_origin(&self) -> Option<String> {
        origin(&self.tile_url)
    }

    /// Scheme, host and port of every server that browsers must be allowed to call, without duplicates.
    pub fn direct_origins(&self, layers: &[MapLayer]) -> Vec<String> {
        let mut origins: Vec<String> = self.tile_origin().into_iter().collect();
        origins.extend(layers.iter().filter_map(MapLayer::direct_origin));
        origins.sort();
        origins.dedup();
        origins
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
                layers: Vec::new(),
                cache_mib: 0,
                cache_days: 0,
                fetch_source: String::new(),
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
