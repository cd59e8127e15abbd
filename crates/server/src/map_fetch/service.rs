//! The maps of a server that are copied from elsewhere: one attempt at a time, over all processes that use the data
//! folder.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::id::MapId;
use rustix::fs::{FlockOperation, flock};
use tokio_util::sync::CancellationToken;

use super::copy::Checkpoint;
use super::error::{FetchError, Result};
use super::job::{Attempt, Env, Live};
use super::state::{FetchedMap, Folder, Phase, WORKING, Wanted};
use crate::map_layers::AddedLayers;

/// Maximum number of copied maps; the number of layers is limited too.
const MAPS_MAX: usize = 20;

/// Copies maps.
#[derive(Clone)]
pub struct MapFetcher {
    env: Env,
    folder: Folder,
    running: Arc<Mutex<Option<Running>>>,
}

#[derive(Clone)]
struct Running {
    id: MapId,
    stop: CancellationToken,
    live: Arc<Live>,
}

/// A map, and how far the attempt at it is.
#[derive(Clone, Debug)]
pub struct MapState {
    /// As in its file.
    pub map: FetchedMap,
    /// Of an attempt of this process that is running.
    pub live: Option<Arc<Live>>,
}

impl MapFetcher {
    /// Copies maps into the data folder.
    pub fn new(env: Env) -> Self {
        Self { folder: Folder::of(&env.data), env, running: Arc::default() }
    }

    /// Every map, sorted by creation.
    pub fn list(&self) -> Result<Vec<MapState>> {
        let maps = self.folder.list()?;
        Ok(maps.into_iter().map(|map| self.state_of(map)).collect())
    }

    /// The map with this ID.
    pub fn find(&self, id: MapId) -> Result<Option<MapState>> {
        Ok(self.folder.read(id)?.map(|map| self.state_of(map)))
    }

    fn state_of(&self, mut map: FetchedMap) -> MapState {
        let running = self.running.lock().clone().filter(|running| running.id == map.id);
        let works = matches!(map.phase, Phase::Measuring | Phase::Fetching);
        // A process that was killed could not write that it stopped.
        if works && running.is_none() && self.lock().is_ok() {
            map.phase = Phase::Stopped;
        }
        MapState { map, live: running.map(|running| running.live) }
    }

    /// Adds a map, without contacting its source.
    pub fn create(&self, wanted: Wanted) -> Result<FetchedMap> {
        let _lock = self.lock()?;
        wanted.area.check()?;
        let maps = self.folder.list()?;
        if maps.len() >= MAPS_MAX {
            return Err(FetchError::TooMany(MAPS_MAX));
        }
        let taken = maps.iter().any(|map| map.wanted.name == wanted.name);
        if taken || self.has_layer(&wanted.name)? {
            return Err(FetchError::Taken);
        }
        let now = self.env.clock.now();
        let map = FetchedMap {
            id: MapId::random(now),
            wanted,
            created: now,
            phase: Phase::Stopped,
            problem: None,
            plan: None,
            checkpoint: Checkpoint::default(),
            file: None,
        };
        self.folder.write(&map)?;
        Ok(map)
    }

    fn has_layer(&self, name: &str) -> Result<bool> {
        let added = AddedLayers::read(&self.env.data)?;
        Ok(self.env.map.layers.iter().chain(&added.layers).any(|layer| layer.name == name))
    }

    /// Prepares an attempt: it measures the map, or copies it too. A complete map is measured again, because its source
    /// may have changed. It ends early when `stopping` is cancelled.
    pub fn begin(&self, id: MapId, copies: bool, stopping: &CancellationToken) -> Result<Option<Job>> {
        let lock = self.lock()?;
        let Some(mut map) = self.folder.read(id)? else { return Ok(None) };
        // What was copied already is kept: its size is known.
        if !copies && map.checkpoint == Checkpoint::default() {
            map.plan = None;
        }
        map.phase = if map.plan.is_some() { Phase::Fetching } else { Phase::Measuring };
        map.problem = None;
        self.folder.write(&map)?;
        let running = Running { id, stop: stopping.child_token(), live: Arc::default() };
        *self.running.lock() = Some(running.clone());
        Ok(Some(Job { fetcher: self.clone(), map, copies, running, _lock: lock }))
    }

    /// Stops the attempt at a map, if this process runs it.
    pub fn stop(&self, id: MapId) -> bool {
        let running = self.running.lock().clone().filter(|running| running.id == id);
        if let Some(running) = &running {
            running.stop.cancel();
        }
        running.is_some()
    }

    /// Deletes a map, its layer and its files. Refused while an attempt at any map is running.
    pub fn remove(&self, id: MapId) -> Result<bool> {
        remove(&self.env.data, id)
    }

    /// Only one process at a time may copy a map or change the list of them.
    fn lock(&self) -> Result<File> {
        lock(&self.folder)
    }
}

/// The map with this name in a data folder.
pub fn find_by_name(data: &Path, name: &str) -> Result<Option<MapId>> {
    let maps = Folder::of(data).list()?;
    Ok(maps.into_iter().find(|map| map.wanted.name == name).map(|map| map.id))
}

/// Deletes a map, its layer and its files from a data folder. Refused while an attempt at any map is running.
pub fn remove(data: &Path, id: MapId) -> Result<bool> {
    let folder = Folder::of(data);
    let _lock = lock(&folder)?;
    let Some(map) = folder.read(id)? else { return Ok(false) };
    let source = std::path::absolute(folder.file(id, "pmtiles"))?;
    if map.file.is_some() {
        AddedLayers::change(data, |added| {
            added.layers.retain(|layer| Path::new(&layer.source) != source);
        })?;
    }
    folder.delete(map.id, &WORKING)?;
    folder.delete(map.id, &["pmtiles", "json"])?;
    Ok(true)
}

fn lock(folder: &Folder) -> Result<File> {
    fs::create_dir_all(folder.path())?;
    let path = folder.path().join("lock");
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(FetchError::Busy),
        Err(error) => Err(FetchError::Disk(error.to_string())),
    }
}

/// A prepared attempt. Dropping it ends it.
pub struct Job {
    fetcher: MapFetcher,
    map: FetchedMap,
    copies: bool,
    running: Running,
    _lock: File,
}

impl Job {
    /// How far it is.
    pub fn live(&self) -> Arc<Live> {
        Arc::clone(&self.running.live)
    }

    /// The map as it is before the attempt.
    pub const fn map(&self) -> &FetchedMap {
        &self.map
    }

    /// Runs it to its end, and returns the map with the outcome. It reads and writes files without pause, so it must not
    /// run on a thread that serves others.
    pub async fn run(mut self) -> (FetchedMap, Result<()>) {
        let attempt = Attempt {
            env: &self.fetcher.env,
            folder: &self.fetcher.folder,
            live: &self.running.live,
            stop: &self.running.stop,
        };
        let done = attempt.run(&mut self.map, self.copies).await;
        (self.map.clone(), done)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        *self.fetcher.running.lock() = None;
    }
}
