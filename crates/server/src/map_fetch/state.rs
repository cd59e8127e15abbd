//! What is known of a map that is copied: a file beside its tiles, which a restart and other commands read.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use perigee_core::id::MapId;
use perigee_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::area::AreaSpec;
use super::copy::Checkpoint;
use super::error::FetchError;
use super::header::Span;
use super::remote::Version;

/// A map that was, is or will be copied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FetchedMap {
    /// Assigned by the server.
    pub id: MapId,
    /// Name of the layer, and what the operator wants.
    #[serde(flatten)]
    pub wanted: Wanted,
    /// When it was created.
    pub created: Timestamp,
    /// What happens with it.
    pub phase: Phase,
    /// Why the last attempt failed.
    pub problem: Option<Problem>,
    /// What is copied, once that was measured.
    pub plan: Option<Plan>,
    #[serde(default)]
    pub(super) checkpoint: Checkpoint,
    /// The copy that is served.
    pub file: Option<FinishedFile>,
}

impl FetchedMap {
    /// Bytes of tiles that are on the disk for sure.
    pub const fn copied_bytes(&self) -> u64 {
        self.checkpoint.bytes
    }
}

/// What an operator wants to have copied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wanted {
    /// Name of the layer; unique among the layers.
    pub name: String,
    /// URL of the source, in which `{date}` stands for the date of the newest build.
    pub source: String,
    /// The area to copy.
    pub area: AreaSpec,
    /// The highest zoom level to copy.
    pub max_zoom: u8,
    /// Attribution, if it is not that of the source.
    pub attribution: Option<String>,
}

/// What happens with a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// The directories of the source are being read, to know the size.
    Measuring,
    /// The size is known.
    Measured,
    /// Tiles are being copied.
    Fetching,
    /// It was stopped and can be resumed.
    Stopped,
    /// The last attempt failed, and can be repeated.
    Failed,
    /// It is complete and served.
    Ready,
}

impl Phase {
    /// Every phase, in the order in which a map passes through them; stopped and failed ones can go on.
    pub const ALL: [Self; 6] =
        [Self::Measuring, Self::Measured, Self::Fetching, Self::Stopped, Self::Failed, Self::Ready];

    /// The name of the phase in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measuring => "measuring",
            Self::Measured => "measured",
            Self::Fetching => "fetching",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Ready => "ready",
        }
    }
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The name of the reason, see [`FetchError::code`].
    pub code: String,
    /// A sentence for the operator.
    pub text: String,
}

impl From<&FetchError> for Problem {
    fn from(error: &FetchError) -> Self {
        Self { code: error.code().to_owned(), text: error.to_string() }
    }
}

/// The size of a copy, and what it is copied from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The URL, with the date of the build.
    pub url: String,
    pub(super) version: Version,
    /// Where the tiles are in the source.
    pub(super) tiles_offset: u64,
    pub(super) tiles_length: u64,
    /// Where they begin in the copy.
    pub(super) tiles_at: u64,
    /// Bytes of the tiles in the copy.
    pub tile_bytes: u64,
    /// Bytes of the whole file.
    pub file_bytes: u64,
    /// Number of tiles.
    pub tiles: u64,
    /// Number of different tiles.
    pub contents: u64,
    /// Bytes that are received, with gaps between tiles.
    pub download_bytes: u64,
    /// Number of requests.
    pub requests: u64,
    /// The zoom levels with tiles.
    pub zooms: Vec<PlannedZoom>,
    /// Attribution of the source, as plain text.
    pub attribution: String,
}

impl Plan {
    pub(super) const fn tiles_span(&self) -> Span {
        Span { offset: self.tiles_offset, length: self.tiles_length }
    }
}

/// The tiles of a zoom level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedZoom {
    /// The zoom level.
    pub zoom: u8,
    /// Number of tiles.
    pub tiles: u64,
    /// Bytes that they add to the file.
    pub bytes: u64,
}

/// A complete copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FinishedFile {
    /// Size of the file.
    pub bytes: u64,
    /// Number of tiles.
    pub tiles: u64,
    /// The URL that it was copied from.
    pub url: String,
    /// When it was completed.
    pub fetched: Timestamp,
}

/// The folder of the maps in the data folder.
#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn of(data: &Path) -> Self {
        Self(data.join("maps"))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// A file of a map. The tiles have the suffix `pmtiles`.
    pub(super) fn file(&self, id: MapId, suffix: &str) -> PathBuf {
        self.0.join(format!("{id}.{suffix}"))
    }

    pub(super) fn read(&self, id: MapId) -> io::Result<Option<FetchedMap>> {
        match fs::read(self.file(id, "json")) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Every map, by creation. A file that cannot be read is left out and logged.
    pub(super) fn list(&self) -> io::Result<Vec<FetchedMap>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut maps = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse::<MapId>().ok());
            match id.map(|id| self.read(id)) {
                Some(Ok(found)) => maps.extend(found),
                Some(Err(error)) => tracing::warn!(%error, ?name, "cannot read the state of a copied map"),
                None => {}
            }
        }
        maps.sort_by_key(|map| map.id);
        Ok(maps)
    }

    /// Writes the state of a map atomically. Only its owner may read it: a URL may contain a key.
    pub(super) fn write(&self, map: &FetchedMap) -> io::Result<()> {
        let (path, draft) = (self.file(map.id, "json"), self.file(map.id, "json.new"));
        let text = serde_json::to_vec_pretty(map)?;
        fs::create_dir_all(&self.0)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&draft)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(draft, path)
    }

    /// Deletes files of a map, if they exist.
    pub(super) fn delete(&self, id: MapId, suffixes: &[&str]) -> io::Result<()> {
        for suffix in suffixes {
            match fs::remove_file(self.file(id, suffix)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The suffixes of the files that a copy needs until it is complete.
pub(super) const WORKING: [&str; 4] = ["plan", "scratch", "earlier", "part"];
