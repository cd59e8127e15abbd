//! The layers that `perigee map add` wrote to the data folder, beside those of the settings.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::config::MapLayer;

/// The file in the data folder.
pub const FILE: &str = "map-layers.json";

/// The layers of the file, in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedLayers {
    /// At most one layer per name.
    pub layers: Vec<MapLayer>,
}

/// The same layers for writing: printed settings hide a possible key in a URL, the file must not.
#[derive(Serialize)]
struct Written<'l> {
    layers: Vec<WrittenLayer<'l>>,
}

#[derive(Serialize)]
struct WrittenLayer<'l> {
    name: &'l str,
    source: &'l str,
    overlay: bool,
    vector: bool,
    attribution: &'l str,
    min_zoom: u8,
    max_zoom: u8,
    proxy: Option<bool>,
}

impl<'l> WrittenLayer<'l> {
    fn of(layer: &'l MapLayer) -> Self {
        Self {
            name: &layer.name,
            source: &layer.source,
            overlay: layer.overlay,
            vector: layer.vector,
            attribution: &layer.attribution,
            min_zoom: layer.min_zoom,
            max_zoom: layer.max_zoom,
            proxy: layer.proxy,
        }
    }
}

impl AddedLayers {
    /// Reads the file; without one there are no layers.
    pub fn read(data: &Path) -> io::Result<Self> {
        match fs::read(data.join(FILE)) {
            Ok(text) => Ok(serde_json::from_slice(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Changes the layers of the file. Other processes that change them wait.
    pub fn change<T>(data: &Path, change: impl FnOnce(&mut Self) -> T) -> io::Result<T> {
        fs::create_dir_all(data)?;
        let mut options = fs::OpenOptions::new();
        let lock =
            options.write(true).create(true).truncate(false).open(data.join(format!("{FILE}.lock")))?;
        // Held only while the file is read and written, so waiting is short.
        flock(&lock, FlockOperation::LockExclusive)?;
        let mut layers = Self::read(data)?;
        let result = change(&mut layers);
        layers.write(data)?;
        Ok(result)
    }

    /// Writes the file atomically. Only its owner may read it: a URL may contain a key.
    pub fn write(&self, data: &Path) -> io::Result<PathBuf> {
        let layers = self.layers.iter().map(WrittenLayer::of).collect();
        let text = serde_json::to_vec_pretty(&Written { layers })?;
        let (path, draft) = (data.join(FILE), data.join(format!("{FILE}.new")));
        fs::create_dir_all(data)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&draft)?.write_all(&text)?;
        fs::rename(&draft, &path)?;
        Ok(path)
    }
}
