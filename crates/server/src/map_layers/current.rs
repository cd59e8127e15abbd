//! The layers in use. A command or an operator may change the file of added layers while the service runs, so it is read
//! again when it has changed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::added::FILE;
use super::layers::Layers;
use super::proxy::Proxy;
use crate::config::{ConfigError, Map};

/// The layers in use.
#[derive(Debug)]
pub struct CurrentLayers {
    map: Map,
    data: PathBuf,
    read: Mutex<(Option<Stamp>, Arc<OpenLayers>)>,
}

/// Layers, and what fetches their tiles.
#[derive(Debug)]
pub struct OpenLayers {
    /// Maps and overlays, in the order in which they are shown.
    pub layers: Layers,
    /// The proxy for layers whose servers browsers do not call directly; none without such layers.
    pub proxy: Option<Proxy>,
}

/// Tells whether a file was replaced: it is always written anew.
type Stamp = (u64, i64, i64, u64);

impl CurrentLayers {
    /// The layers of the settings and those of the file; a source that cannot be used is an error.
    pub fn open(map: &Map, data: &Path) -> Result<Self, ConfigError> {
        // Taken before the file is read, so that a change in between is noticed.
        let stamp = stamp(data);
        let layers = Layers::open(map, data)?;
        let proxy = layers.proxy(map, data)?;
        let open = Arc::new(OpenLayers { layers, proxy });
        Ok(Self { map: map.clone(), data: data.to_owned(), read: Mutex::new((stamp, open)) })
    }

    /// The layers at this moment. If the file cannot be used, those before it was changed.
    pub fn get(&self) -> Arc<OpenLayers> {
        let now = stamp(&self.data);
        let mut read = self.read.lock();
        if read.0 != now {
            read.0 = now;
            match self.reopen(&read.1) {
                Ok(open) => read.1 = Arc::new(open),
                Err(problem) => {
                    tracing::warn!(%problem, "cannot use the changed map layers; the previous ones stay");
                }
            }
        }
        Arc::clone(&read.1)
    }

    fn reopen(&self, before: &OpenLayers) -> Result<OpenLayers, ConfigError> {
        let layers = Layers::open(&self.map, &self.data)?;
        // Two proxies would count the bytes of one cache twice.
        let proxy = match &before.proxy {
            Some(proxy) => Some(proxy.clone()),
            None => layers.proxy(&self.map, &self.data)?,
        };
        Ok(OpenLayers { layers, proxy })
    }

    /// Scheme, host and port of every server that browsers must be allowed to call.
    pub fn direct_origins(&self, open: &OpenLayers) -> Vec<String> {
        open.layers.direct_origins(&self.map)
    }
}

fn stamp(data: &Path) -> Option<Stamp> {
    let about = fs::metadata(data.join(FILE)).ok()?;
    Some((about.ino(), about.mtime(), about.mtime_nsec(), about.len()))
}
