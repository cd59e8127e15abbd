//! The validated layers of the service, each with an ID.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::added::{AddedLayers, FILE};
use super::proxy::Proxy;
use crate::config::{ConfigError, LayerSource, Map, MapLayer};
use crate::tiles::{TileFacts, Tiles};

/// Maximum number of layers, so that the list stays short enough to choose from.
const COUNT_MAX: usize = 30;

/// A layer of the operator.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Part of its URL. It changes with the source, so that no browser mixes the tiles of two maps.
    pub id: String,
    /// As the operator described it.
    pub settings: MapLayer,
    /// The source of its tiles.
    pub tiles: LayerTiles,
}

/// The source of the tiles of a layer.
#[derive(Clone, Debug)]
pub enum LayerTiles {
    /// A file that this server serves by ranges.
    File(Tiles),
    /// A tile server that this server calls.
    Proxied,
    /// Another server, which browsers call.
    Elsewhere {
        /// Whether it has one file, read by ranges, rather than a tile for each address.
        is_file: bool,
    },
}

/// All layers, in the order in which they are shown.
#[derive(Clone, Debug, Default)]
pub struct Layers(Vec<Layer>);

impl Layers {
    /// The layers of the settings and those added by command; a source that cannot be used is an error.
    pub fn open(map: &Map, data: &Path) -> Result<Self, ConfigError> {
        let wrong = |problem: String| ConfigError { key: "map.layers", problem };
        let added = AddedLayers::read(data)
            .map_err(|error| wrong(format!("cannot read {}: {error}", data.join(FILE).display())))?;
        Self::of(map.layers.iter().chain(&added.layers).cloned().collect())
    }

    /// These layers, if they can be used together.
    pub fn of(all: Vec<MapLayer>) -> Result<Self, ConfigError> {
        let wrong = |problem: String| ConfigError { key: "map.layers", problem };
        if all.len() > COUNT_MAX {
            return Err(wrong(format!("must be at most {COUNT_MAX} layers, not {}", all.len())));
        }
        let mut layers: Vec<Layer> = Vec::with_capacity(all.len());
        for settings in all {
            if layers.iter().any(|other| other.settings.name == settings.name) {
                return Err(wrong(format!(
                    "have the name \"{}\" more than once; rename one of them",
                    settings.name
                )));
            }
            layers.push(Layer::open(settings).map_err(wrong)?);
        }
        Ok(Self(layers))
    }

    /// Every layer, as shown.
    pub fn iter(&self) -> impl Iterator<Item = &Layer> {
        self.0.iter()
    }

    /// The proxy for layers whose servers browsers do not call directly; none without such layers.
    pub fn proxy(&self, map: &Map, data: &Path) -> Result<Option<Proxy>, ConfigError> {
        let is_needed = self.iter().any(|layer| matches!(layer.tiles, LayerTiles::Proxied));
        is_needed.then(|| Proxy::open(map, data)).transpose()
    }

    /// Scheme, host and port of every server that browsers must be allowed to call.
    pub fn direct_origins(&self, map: &Map) -> Vec<String> {
        let settings: Vec<MapLayer> = self.iter().map(|layer| layer.settings.clone()).collect();
        map.direct_origins(&settings)
    }

    /// The layer with this id.
    pub fn find(&self, id: &str) -> Option<&Layer> {
        self.0.iter().find(|layer| layer.id == id)
    }
}

impl Layer {
    /// Checks a layer and reads the header of its file.
    pub fn open(settings: MapLayer) -> Result<Self, String> {
        if let Some(problem) = settings.problem() {
            return Err(format!("the layer \"{}\" {problem}", settings.name));
        }
        let tiles = match settings.kind() {
            LayerSource::File => LayerTiles::File(
                Tiles::of_file(Path::new(&settings.source))
                    .map_err(|problem| format!("the layer \"{}\": {problem}", settings.name))?,
            ),
            LayerSource::Proxied => LayerTiles::Proxied,
            LayerSource::RemoteFile => LayerTiles::Elsewhere { is_file: true },
            LayerSource::Direct => LayerTiles::Elsewhere { is_file: false },
        };
        let is_vector = match &tiles {
            LayerTiles::File(file) => file.facts().is_vector,
            LayerTiles::Proxied | LayerTiles::Elsewhere { .. } => settings.vector,
        };
        if settings.overlay && is_vector {
            return Err(format!(
                "the layer \"{}\" must have raster tiles to be an overlay, because vector tiles are drawn as a whole map",
                settings.name
            ));
        }
        let digest = Sha256::digest(settings.source.as_bytes());
        let id = digest[..6].iter().fold(String::new(), |id, byte| format!("{id}{byte:02x}"));
        Ok(Self { id, settings, tiles })
    }

    /// The format of its tiles, from the file or the settings.
    pub fn facts(&self) -> TileFacts {
        match &self.tiles {
            LayerTiles::File(tiles) => tiles.facts(),
            LayerTiles::Proxied | LayerTiles::Elsewhere { .. } => TileFacts {
                is_vector: self.settings.vector,
                min_zoom: self.settings.min_zoom,
                max_zoom: self.settings.max_zoom,
                bounds: None,
            },
        }
    }
}
