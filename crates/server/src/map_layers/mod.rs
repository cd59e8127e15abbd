//! The operator's named maps and overlays: tile files, and tile servers that browsers or this server call.

mod added;
mod current;
mod disk_cache;
mod layers;
mod presets;
mod proxy;

pub use added::{AddedLayers, FILE};
pub use current::{CurrentLayers, OpenLayers};
pub use layers::{Layer, LayerTiles, Layers};
pub use presets::{LayerPreset, PRESETS};
pub use proxy::{Proxy, Tile, TileAddress, TileError};
