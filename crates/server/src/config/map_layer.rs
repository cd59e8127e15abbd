//! A further map of the operator: a file of tiles, or a tile server.

use serde::{Deserialize, Serialize};
use url::Url;

use super::redact;

/// The largest zoom level of any map.
const ZOOM_MAX: u8 = 24;
/// Maximum number of characters of a name.
const NAME_MAX: usize = 60;

/// A map or an overlay, from `[[map.layers]]` or from `perigee map add`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MapLayer {
    /// Shown in the list of layers; unique among them.
    pub name: String,
    /// The path of a `PMTiles` file, the URL of one, or the URL of a tile server with `{z}`, `{x}` and `{y}`.
    #[serde(serialize_with = "redact::address")]
    pub source: String,
    /// Whether it is drawn over any map, such as sea marks, instead of being a map.
    #[serde(default)]
    pub overlay: bool,
    /// Whether a tile server has vector tiles. For a file, its header decides.
    #[serde(default)]
    pub vector: bool,
    /// Attribution that its licence requires; shown on the map.
    #[serde(default)]
    pub attribution: String,
    /// The first zoom level at which a tile server has tiles.
    #[serde(default)]
    pub min_zoom: u8,
    /// The last zoom level at which a tile server has tiles.
    #[serde(default = "default_max_zoom")]
    pub max_zoom: u8,
    /// Whether this server fetches and caches tiles, so that browsers call no other server. Only for a tile server.
    /// Default: true.
    #[serde(default)]
    pub proxy: Option<bool>,
}

const fn default_max_zoom() -> u8 {
    19
}

/// The source of the tiles of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerSource {
    /// A file of this machine.
    File,
    /// A file on another server, which browsers read by ranges.
    RemoteFile,
    /// A tile server that this server calls.
    Proxied,
    /// A tile server that browsers call.
    Direct,
}

impl MapLayer {
    /// A map from a file of this machine.
    pub fn of_file(name: &str, path: &str, attribution: &str) -> Self {
        Self {
            name: name.to_owned(),
            source: path.to_owned(),
            overlay: false,
            vector: false,
            attribution: attribution.to_owned(),
            min_zoom: 0,
            max_zoom: default_max_zoom(),
            proxy: None,
        }
    }

    /// The source of its tiles.
    pub fn kind(&self) -> LayerSource {
        if !self.source.contains("://") {
            return LayerSource::File;
        }
        match (self.source.contains("{z}"), self.proxy) {
            (false, _) => LayerSource::RemoteFile,
            (true, Some(false)) => LayerSource::Direct,
            (true, _) => LayerSource::Proxied,
        }
    }

    /// Scheme, host and port of a server that browsers must be allowed to call.
    pub fn direct_origin(&self) -> Option<String> {
        match self.kind() {
            LayerSource::RemoteFile | LayerSource::Direct => origin(&self.source),
            LayerSource::File | LayerSource::Proxied => None,
        }
    }

    /// The problem of the layer, as the end of a sentence that begins with "the layer".
    pub fn problem(&self) -> Option<String> {
        let letters = self.name.chars().count();
        if letters == 0 || letters > NAME_MAX || self.name.chars().any(char::is_control) {
            return Some(format!("must have a name of 1 to {NAME_MAX} characters"));
        }
        if self.min_zoom > self.max_zoom || self.max_zoom > ZOOM_MAX {
            return Some("must have a max_zoom of at least min_zoom and at most 24".to_owned());
        }
        let kind = self.kind();
        if kind == LayerSource::File {
            return self.source.is_empty().then(|| "must have a source: a file or a URL".to_owned());
        }
        if origin(&self.source).is_none() {
            return Some(
                "must have a file, or a URL such as https://tiles.example.com/{z}/{x}/{y}.png with its host written out, as source"
                    .to_owned(),
            );
        }
        let is_file = kind == LayerSource::RemoteFile;
        if is_file && !Url::parse(&self.source).is_ok_and(|url| url.path().ends_with(".pmtiles")) {
            return Some("must have {z}, {x} and {y} in its URL, unless that ends in .pmtiles".to_owned());
        }
        if is_file && self.proxy == Some(true) {
            return Some("cannot be proxied, because it is a file: download it and name the file".to_owned());
        }
        let has_all = ["{z}", "{x}", "{y}"].iter().all(|part| self.source.contains(part));
        (!is_file && !has_all).then(|| "must have {z}, {x} and {y} in its URL".to_owned())
    }
}

/// Scheme, host and port of a URL without credentials. It becomes part of the Content-Security-Policy, where other
/// characters have a meaning.
pub(super) fn origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let plain =
        matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    let origin = url.origin().ascii_serialization();
    let is_safe = |sign: char| sign.is_ascii_alphanumeric() || ".-:/[]_".contains(sign);
    (plain && origin.chars().all(is_safe)).then_some(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(source: &str) -> MapLayer {
        MapLayer {
            name: "Streets".to_owned(),
            source: source.to_owned(),
            overlay: false,
            vector: false,
            attribution: String::new(),
            min_zoom: 0,
            max_zoom: 19,
            proxy: None,
        }
    }

    #[test]
    fn sources_are_distinguished() {
        let check = |source: &str, proxy, expect, origin: Option<&str>| {
            let layer = MapLayer { proxy, ..layer(source) };
            assert_eq!(layer.problem(), None, "{source}");
            assert_eq!((layer.kind(), layer.direct_origin().as_deref()), (expect, origin), "{source}");
        };
        check("/maps/spain.pmtiles", None, LayerSource::File, None);
        let tiles = "https://tiles.example.com/{z}/{x}/{y}.png?key=1";
        check(tiles, None, LayerSource::Proxied, None);
        check(tiles, Some(true), LayerSource::Proxied, None);
        check(tiles, Some(false), LayerSource::Direct, Some("https://tiles.example.com"));
        let file = "http://10.0.0.7:8090/world.pmtiles";
        check(file, None, LayerSource::RemoteFile, Some("http://10.0.0.7:8090"));
    }

    #[test]
    fn bad_layers_are_refused() {
        for bad in [
            layer(""),
            layer("https://tiles.example.com/{z}/{x}.png"),
            layer("https://{s}.example.com/{z}/{x}/{y}.png"),
            layer("https://me:secret@tiles.example.com/{z}/{x}/{y}.png"),
            layer("https://tiles.example.com;script-src/{z}/{x}/{y}.png"),
            layer("file:///tiles/{z}/{x}/{y}.png"),
            layer("https://example.com/world.zip"),
            MapLayer { proxy: Some(true), ..layer("https://example.com/world.pmtiles") },
            MapLayer { name: String::new(), ..layer("a.pmtiles") },
            MapLayer { name: "x".repeat(61), ..layer("a.pmtiles") },
            MapLayer { max_zoom: 25, ..layer("a.pmtiles") },
            MapLayer { min_zoom: 9, max_zoom: 8, ..layer("a.pmtiles") },
        ] {
            assert!(bad.problem().is_some(), "{bad:?}");
        }
    }
}
