//! Measures and copies one map.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use perigee_core::store::Store;
use perigee_core::time::Clock;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::area::{AreaSpec, Shape};
use super::batch::traffic;
use super::copy::{Checkpoint, Files, Progress, copy};
use super::devices;
use super::error::{FetchError, Result};
use super::output::{self, Beginning};
use super::planner::{Planner, Totals};
use super::records::{RECORD_BYTES, RecordWriter};
use super::remote::{Patience, Remote};
use super::source::{self, Source};
use super::state::{FetchedMap, FinishedFile, Folder, Phase, Plan, PlannedZoom, Problem, WORKING};
use super::walk::walk;
use crate::config;
use crate::disk::DiskSpace;
use crate::map_layers::AddedLayers;
use crate::tiles::Tiles;
use crate::webhook::{Client, Guard};

/// What a copy needs of the service or of the command.
#[derive(Clone)]
pub struct Env {
    /// The data folder.
    pub data: PathBuf,
    /// The layers in the settings, whose names are taken.
    pub map: config::Map,
    /// Which addresses may be called.
    pub guard: Guard,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// The places of devices.
    pub store: Arc<dyn Store>,
    /// How often requests are repeated.
    pub patience: Patience,
    /// The longest silence of the source.
    pub timeout: Duration,
    /// Bytes that stay free on the disk.
    pub reserve: u64,
}

/// The longest silence of a source before the request is repeated.
const TIMEOUT: Duration = Duration::from_secs(30);

impl Env {
    /// With the settings of the operator. Sources may be called as webhooks may.
    pub fn of(config: &config::Config, store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self {
            data: config.store.data.clone(),
            map: config.map.clone(),
            guard: Guard::configured(&config.webhooks),
            clock,
            store,
            patience: Patience::default(),
            timeout: TIMEOUT,
            reserve: config.store.warn_free_mib.saturating_mul(1024 * 1024),
        }
    }
}

/// How far a job is, for whoever shows it.
#[derive(Debug, Default)]
pub struct Live {
    tiles: AtomicU64,
    bytes: AtomicU64,
}

impl Live {
    /// Entries of tiles found so far, while the size is measured.
    pub fn found(&self) -> u64 {
        self.tiles.load(Ordering::Relaxed)
    }

    /// Bytes of tiles copied so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// One attempt at a map.
pub(super) struct Attempt<'a> {
    pub(super) env: &'a Env,
    pub(super) folder: &'a Folder,
    pub(super) live: &'a Live,
    pub(super) stop: &'a CancellationToken,
}

impl Attempt<'_> {
    /// Measures the map unless it was measured, then copies it if that is wanted, and writes the outcome to its file.
    pub(super) async fn run(&self, map: &mut FetchedMap, copies: bool) -> Result<()> {
        let done = self.try_run(map, copies).await;
        if let Err(error) = &done {
            map.phase = if *error == FetchError::Stopped { Phase::Stopped } else { Phase::Failed };
            map.problem = (*error != FetchError::Stopped).then(|| Problem::from(error));
            if *error == FetchError::Changed {
                // The tiles of two files do not fit together.
                map.plan = None;
                map.checkpoint = Checkpoint::default();
                self.folder.delete(map.id, &WORKING)?;
            }
            self.folder.write(map)?;
        }
        done
    }

    async fn try_run(&self, map: &mut FetchedMap, copies: bool) -> Result<()> {
        let client = Client::for_downloads(self.env.guard.clone(), self.env.timeout)
            .map_err(|error| FetchError::Unreachable(error.to_string()))?;
        if map.plan.is_none() {
            self.measure(map, &client).await?;
        }
        if copies {
            return self.copy(map, &client).await;
        }
        let is_begun = map.checkpoint != Checkpoint::default();
        map.phase = if is_begun { Phase::Stopped } else { Phase::Measured };
        Ok(self.folder.write(map)?)
    }

    async fn measure(&self, map: &mut FetchedMap, client: &Client) -> Result<()> {
        map.phase = Phase::Measuring;
        map.problem = None;
        map.checkpoint = Checkpoint::default();
        self.folder.delete(map.id, &WORKING)?;
        self.folder.write(map)?;
        let now = self.env.clock.now();
        let wanted = &map.wanted;
        let shape = match (&wanted.area, wanted.area.outline()) {
            (_, Some(outline)) => Shape::Outline(outline),
            (AreaSpec::Devices(spec), None) => {
                Shape::Cells(devices::cells(&self.env.store, *spec, now, self.stop).await?)
            }
            (area, None) => return area.check(),
        };
        let source = source::open(client, &wanted.source, self.env.patience, now, self.stop).await?;
        if !meets(&source, &shape) {
            return Err(FetchError::Area("the source has no tiles in this area".to_owned()));
        }
        let max_zoom = wanted.max_zoom.min(source.header.zooms.1);
        let plan_file = self.folder.file(map.id, "plan");
        let totals = self.plan(&source, &shape, max_zoom, RecordWriter::create(&plan_file)?).await?;
        let beginning = Beginning {
            source: &source.header,
            metadata: &source.metadata,
            totals: &totals,
            bounds: shape.bounds(),
            max_zoom,
        };
        let (part, scratch) = (self.folder.file(map.id, "part"), self.folder.file(map.id, "scratch"));
        let tiles_at = output::write(&beginning, &plan_file, &part, &scratch)?;
        self.folder.delete(map.id, &["scratch"])?;
        let traffic = traffic(&plan_file)?;
        let levels = (0_u8..).zip(&totals.levels).filter(|(_, level)| level.tiles > 0);
        map.plan = Some(Plan {
            url: source.remote.url().to_string(),
            version: source.remote.version().clone(),
            tiles_offset: source.header.tiles.offset,
            tiles_length: source.header.tiles.length,
            tiles_at,
            tile_bytes: totals.bytes,
            file_bytes: tiles_at + totals.bytes,
            tiles: totals.addressed,
            contents: totals.contents,
            download_bytes: traffic.bytes,
            requests: traffic.requests,
            zooms: levels
                .map(|(zoom, level)| PlannedZoom { zoom, tiles: level.tiles, bytes: level.bytes })
                .collect(),
            attribution: source.attribution,
        });
        map.phase = Phase::Measured;
        self.folder.write(map)?;
        Ok(())
    }

    async fn plan(
        &self,
        source: &Source,
        shape: &Shape,
        max_zoom: u8,
        records: RecordWriter,
    ) -> Result<Totals> {
        let ranges = shape.ranges(max_zoom)?;
        let mut planner = Planner::new(records);
        let mut advance = |planner: &Planner| {
            self.live.tiles.store(planner.entries(), Ordering::Relaxed);
            if self.stop.is_cancelled() {
                return Err(FetchError::Stopped);
            }
            self.check_room(planner.entries() * RECORD_BYTES)
        };
        walk(&source.remote, &source.header, &source.root, &ranges, &mut planner, &mut advance).await?;
        planner.finish()
    }

    async fn copy(&self, map: &mut FetchedMap, client: &Client) -> Result<()> {
        let Some(plan) = map.plan.clone() else { return Ok(()) };
        map.phase = Phase::Fetching;
        map.problem = None;
        self.folder.write(map)?;
        self.live.bytes.store(map.checkpoint.bytes, Ordering::Relaxed);
        self.check_room(plan.tile_bytes.saturating_sub(map.checkpoint.bytes))?;
        let url = Url::parse(&plan.url).map_err(|error| FetchError::Address(error.to_string()))?;
        let opened = Remote::open(client, url, self.env.patience, self.stop).await?;
        let Some((remote, _)) = opened else { return Err(FetchError::Changed) };
        if *remote.version() != plan.version {
            return Err(FetchError::Changed);
        }
        let file = |suffix| self.folder.file(map.id, suffix);
        let (plan_file, earlier, part) = (file("plan"), file("earlier"), file("part"));
        let files = Files { plan: &plan_file, earlier: &earlier, part: &part, tiles_at: plan.tiles_at };
        let begin = map.checkpoint;
        let mut progress = Saving { attempt: self, map };
        copy(&remote, plan.tiles_span(), &files, begin, plan.tile_bytes, &mut progress).await?;
        tracing::debug!(received = remote.received(), "copied a map");
        self.finish(map, plan)
    }

    /// Puts the complete file into its place and adds the layer.
    fn finish(&self, map: &mut FetchedMap, plan: Plan) -> Result<()> {
        let (part, whole) = (self.folder.file(map.id, "part"), self.folder.file(map.id, "pmtiles"));
        Tiles::of_file(&part).map_err(FetchError::Disk)?;
        fs::rename(&part, &whole)?;
        fs::File::open(self.folder.path())?.sync_all()?;
        let attribution = map.wanted.attribution.clone().unwrap_or(plan.attribution);
        let source = std::path::absolute(&whole)?;
        let source = source.to_str().ok_or_else(|| {
            FetchError::Disk("the path of the data folder is not UTF-8; rename it".to_owned())
        })?;
        let layer = config::MapLayer::of_file(&map.wanted.name, source, &attribution);
        AddedLayers::change(&self.env.data, |added| {
            match added.layers.iter_mut().find(|other| other.source == layer.source) {
                Some(other) => *other = layer,
                None => added.layers.push(layer),
            }
        })?;
        map.file = Some(FinishedFile {
            bytes: plan.file_bytes,
            tiles: plan.tiles,
            url: plan.url,
            fetched: self.env.clock.now(),
        });
        map.plan = None;
        map.checkpoint = Checkpoint::default();
        map.phase = Phase::Ready;
        self.folder.write(map)?;
        self.folder.delete(map.id, &WORKING)?;
        Ok(())
    }

    /// Refuses to write this many more bytes if too little would stay free.
    fn check_room(&self, needed: u64) -> Result<()> {
        let Some(disk) = DiskSpace::of_folder(self.folder.path()) else { return Ok(()) };
        if needed.saturating_add(self.env.reserve) > disk.free {
            return Err(FetchError::NoSpace { needed, reserve: self.env.reserve, free: disk.free });
        }
        Ok(())
    }
}

/// Whether the bounds of a source, if it states any, meet an area.
fn meets(source: &Source, shape: &Shape) -> bool {
    let [west, south, east, north] = source.header.bounds.map(|units| f64::from(units) / 1e7);
    let area = shape.bounds();
    let stated = west < east && south < north;
    !stated || (area[0] <= east && area[2] >= west && area[1] <= north && area[3] >= south)
}

/// Writes the checkpoint of a copy to the state of the map.
struct Saving<'a> {
    attempt: &'a Attempt<'a>,
    map: &'a mut FetchedMap,
}

impl Progress for Saving<'_> {
    fn advanced(&mut self, bytes: u64) {
        self.attempt.live.bytes.store(bytes, Ordering::Relaxed);
    }

    fn check_room(&mut self, bytes: u64) -> Result<()> {
        self.attempt.check_room(bytes)
    }

    fn save(&mut self, checkpoint: Checkpoint) -> Result<()> {
        self.map.checkpoint = checkpoint;
        Ok(self.attempt.folder.write(self.map)?)
    }
}
