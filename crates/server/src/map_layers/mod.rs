//! The operator's named maps and overlays: files of tiles, and tile servers that browsers ask or this server asks for them.

mod added;
mod disk_cache;
mod layers;
mod proxy;

pub use added::{AddedLayers, FILE};
pub use layers::{Layer, LayerTiles, Layers};
pub use proxy::{Proxy, Tile, TileAddress, TileError};
