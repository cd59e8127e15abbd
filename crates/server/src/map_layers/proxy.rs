//! Fetches tiles of the operator's tile servers and caches them on disk. Only URLs derived from a layer's own URL are
//! requested, without redirects, with limits on time and size.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use perigee_core::time::Timestamp;
use perigee_tls::{Trust, client_config};
use reqwest::redirect::Policy;
use serde::{Deserialize, Serialize};

use super::disk_cache::DiskCache;
use super::layers::Layer;
use crate::budget::{Exhausted, Payer, Queue};
use crate::config::{ConfigError, Map};

/// Time limit for fetching one tile.
const TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a tile, in bytes. Usual tiles have a hundredth of it.
const TILE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The folder of cached tiles in the data folder.
const FOLDER: &str = "map-cache";
/// Content types that are passed on. HTML and SVG are not among them, because they could run a script in the origin of
/// the console.
const TYPES: [&str; 8] = [
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/avif",
    "image/gif",
    "application/x-protobuf",
    "application/vnd.mapbox-vector-tile",
    "application/octet-stream",
];
const MS_PER_DAY: i64 = 86_400_000;

/// Fetches and keeps tiles.
#[derive(Clone, Debug)]
pub struct Proxy {
    http: reqwest::Client,
    cache: Option<Arc<DiskCache>>,
    /// Milliseconds for which a cached tile is not requested again.
    fresh_ms: i64,
}

/// Which tile of a layer: zoom, column from the antimeridian, row from the north.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileAddress {
    z: u8,
    x: u32,
    y: u32,
}

/// A tile as its server sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// One of the types that are passed on.
    pub content_type: String,
    /// Whether the bytes are gzipped, as vector tiles often are.
    pub is_gzipped: bool,
    /// The content; never empty.
    pub bytes: Vec<u8>,
}

/// Why there is no tile.
#[derive(Debug)]
pub enum TileError {
    /// The server has no such tile.
    Missing,
    /// Too many tiles are being fetched.
    Exhausted(Exhausted),
    /// The server does not answer, or not with a tile. The reason contains no URL, which may contain a key.
    Unreachable(String),
}

/// The first line of a cached file; the bytes of the tile follow, none for a tile that does not exist.
#[derive(Serialize, Deserialize)]
struct Stored {
    fetched_ms: i64,
    content_type: String,
    is_gzipped: bool,
}

impl TileAddress {
    /// The tile at zoom, column and row of a path, if a layer with these zoom levels can have it.
    pub fn read((z, x, y): (&str, &str, &str), zooms: (u8, u8)) -> Option<Self> {
        // The parser accepts `+7` and `007`, which would be cached as separate tiles.
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| number.to_string() == text);
        let (z, x, y) = (number(z)?, number(x)?, number(y)?);
        let z = u8::try_from(z).ok().filter(|z| (zooms.0..=zooms.1).contains(z))?;
        let count = 1_u32.checked_shl(z.into())?;
        (x < count && y < count).then_some(Self { z, x, y })
    }

    fn url(self, template: &str) -> String {
        template
            .replace("{z}", &self.z.to_string())
            .replace("{x}", &self.x.to_string())
            .replace("{y}", &self.y.to_string())
    }

    fn file(self, layer: &Layer) -> String {
        format!("{}-{}-{}-{}", layer.id, self.z, self.x, self.y)
    }
}

impl Proxy {
    /// A proxy that caches tiles in the data folder; without a cache if the settings allow no bytes.
    pub fn open(map: &Map, data: &Path) -> Result<Self, ConfigError> {
        let wrong = |problem: String| ConfigError { key: "map.cache_mib", problem };
        let folder = data.join(FOLDER);
        let cache = match u64::from(map.cache_mib) * 1024 * 1024 {
            0 => None,
            bytes => {
                let opened = DiskCache::open(&folder, bytes);
                Some(opened.map_err(|error| wrong(format!("cannot use {}: {error}", folder.display())))?)
            }
        };
        let tls = client_config(&Trust::Public).map_err(|error| wrong(error.to_string()))?;
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("perigee/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .no_gzip()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(Self { http, cache: cache.map(Arc::new), fresh_ms: i64::from(map.cache_days) * MS_PER_DAY })
    }

    /// A tile from the cache or from its server. An outdated tile is used if the server fails.
    pub async fn tile(
        &self,
        layer: &Layer,
        address: TileAddress,
        (queue, payer): (&Arc<Queue>, Payer),
        now: Timestamp,
    ) -> Result<Tile, TileError> {
        let name = address.file(layer);
        if let Some((tile, true)) = self.cached(&name, now).await {
            return tile.ok_or(TileError::Missing);
        }
        let slot = queue.acquire(payer, TILE_BYTES_MAX).await.map_err(TileError::Exhausted)?;
        // Another request may have fetched it while this one waited.
        let old = self.cached(&name, now).await;
        if let Some((tile, true)) = old {
            return tile.ok_or(TileError::Missing);
        }
        let fetched = self.fetch(&address.url(&layer.settings.source)).await;
        drop(slot);
        match (fetched, old) {
            (Ok(tile), _) => {
                self.keep(name, tile.clone(), now).await;
                tile.ok_or(TileError::Missing)
            }
            (Err(_), Some((Some(tile), _))) => Ok(tile),
            (Err(why), _) => Err(TileError::Unreachable(why)),
        }
    }

    /// The cached tile, and whether it is fresh.
    async fn cached(&self, name: &str, now: Timestamp) -> Option<(Option<Tile>, bool)> {
        let (cache, name) = (Arc::clone(self.cache.as_ref()?), name.to_owned());
        let content = tokio::task::spawn_blocking(move || cache.read(&name)).await.ok()??;
        let line = content.iter().position(|byte| *byte == b'\n')?;
        let (head, bytes) = (content.get(..line)?, content.get(line + 1..)?);
        let Stored { fetched_ms, content_type, is_gzipped } = serde_json::from_slice(head).ok()?;
        let is_fresh = (0..self.fresh_ms).contains(&(now.as_millis() - fetched_ms));
        let tile = Tile { content_type, is_gzipped, bytes: bytes.to_vec() };
        Some(((!bytes.is_empty()).then_some(tile), is_fresh))
    }

    async fn keep(&self, name: String, tile: Option<Tile>, now: Timestamp) {
        let Some(cache) = self.cache.clone() else { return };
        let tile = tile.unwrap_or_else(|| Tile {
            content_type: String::new(),
            is_gzipped: false,
            bytes: Vec::new(),
        });
        let head = Stored {
            fetched_ms: now.as_millis(),
            content_type: tile.content_type,
            is_gzipped: tile.is_gzipped,
        };
        let Ok(mut content) = serde_json::to_vec(&head) else { return };
        content.push(b'\n');
        content.extend_from_slice(&tile.bytes);
        let kept = tokio::task::spawn_blocking(move || cache.write(&name, &content)).await;
        if let Ok(Err(error)) = kept {
            tracing::warn!(%error, "cannot keep a map tile; it is fetched again the next time");
        }
    }

    /// Requests the tile from the server; none if it has no such tile.
    async fn fetch(&self, url: &str) -> Result<Option<Tile>, String> {
        let described = |error: reqwest::Error| error.without_url().to_string();
        let mut response = self.http.get(url).send().await.map_err(described)?;
        match response.status().as_u16() {
            200 => {}
            204 | 404 | 410 => return Ok(None),
            status => return Err(format!("the tile server answered with status {status}")),
        }
        let header = |name: &'static str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
        };
        let content_type =
            header("content-type").split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if !TYPES.contains(&content_type.as_str()) {
            return Err("the tile server answered with a content type that is not a map tile; check the URL of the layer".to_owned());
        }
        let is_gzipped = match header("content-encoding") {
            "" | "identity" => false,
            "gzip" => true,
            _ => return Err("the tile server answered with a content encoding other than gzip".to_owned()),
        };
        let mut bytes = Vec::new();
        while let Some(part) = response.chunk().await.map_err(described)? {
            if bytes.len() + part.len() > TILE_BYTES_MAX {
                return Err("the tile server answered with more than 2 MiB".to_owned());
            }
            bytes.extend_from_slice(&part);
        }
        Ok((!bytes.is_empty()).then_some(Tile { content_type, is_gzipped, bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tiles_that_exist_have_an_address() {
        let read = |z, x, y| TileAddress::read((z, x, y), (2, 5)).is_some();
        assert!(read("2", "3", "0") && read("5", "31", "31"));
        for (z, x, y) in [
            ("1", "0", "0"),
            ("6", "0", "0"),
            ("2", "4", "0"),
            ("2", "0", "4"),
            ("2", "-1", "0"),
            ("2", "+1", "0"),
            ("02", "1", "0"),
            ("2", "1", "0.png"),
            ("2", "..", "0"),
            ("", "", ""),
        ] {
            assert!(!read(z, x, y), "{z}/{x}/{y}");
        }
        assert!(TileAddress::read(("24", "16777215", "0"), (0, 24)).is_some());
        let url = TileAddress { z: 2, x: 3, y: 1 }.url("https://tiles.example.com/{z}/{x}/{y}.png?k={z}");
        assert_eq!(url, "https://tiles.example.com/2/3/1.png?k=2");
    }
}
