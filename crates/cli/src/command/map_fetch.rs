//! `perigee map fetch`: copies an area of a map with streets from another server, also while a service runs.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use perigee_core::id::MapId;
use perigee_core::time::SystemClock;
use perigee_server::config::Config;
use perigee_server::map_fetch::{
    AreaSpec, DevicesSpec, Env, FetchError, FetchedMap, Live, MapFetcher, PlannedZoom, Wanted,
};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::open::Opened;
use crate::args::{Common, MapFetch};
use crate::output::{Answer, print, table};
use crate::progress;

/// How often the progress is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(200);

/// Runs `perigee map fetch`. Ctrl-C stops it, and the same command resumes it.
pub(crate) async fn run(common: &Common, config: &Config, options: MapFetch) -> Result<()> {
    let opened = Opened::or_new(config).await?;
    let fetcher = fetcher(config, &opened);
    let done = fetch(common, config, &fetcher, options).await;
    opened.close().await;
    done
}

/// Removes the fetched map with this name; false if there is none.
pub(crate) fn remove(config: &Config, name: &str) -> Result<bool> {
    let Some(id) = perigee_server::map_fetch::find_by_name(&config.store.data, name)? else {
        return Ok(false);
    };
    Ok(perigee_server::map_fetch::remove(&config.store.data, id)?)
}

fn fetcher(config: &Config, opened: &Opened) -> MapFetcher {
    MapFetcher::new(Env::of(config, Arc::new(opened.database().clone()), Arc::new(SystemClock)))
}

async fn fetch(common: &Common, config: &Config, fetcher: &MapFetcher, options: MapFetch) -> Result<()> {
    let dry_run = options.dry_run;
    let id = find_or_create(config, fetcher, options)?;
    let stopping = CancellationToken::new();
    let job = fetcher.begin(id, !dry_run, &stopping)?;
    let job = job.context("the map was removed by another process")?;
    let live = job.live();
    let (map, done) = {
        let work = job.run();
        let show = show(fetcher, id, &live);
        let interrupted = async {
            let waited = tokio::signal::ctrl_c().await;
            stopping.cancel();
            // The work now ends by itself.
            std::future::pending::<()>().await;
            waited
        };
        tokio::pin!(work, show, interrupted);
        tokio::select! {
            done = &mut work => done,
            () = &mut show => bail!("the progress could not be drawn"),
            _ = &mut interrupted => bail!("interrupted"),
        }
    };
    match done {
        Ok(()) => print(&Outcome::of(&map, dry_run), common.json),
        Err(FetchError::Stopped) => bail!("stopped; run the same command again to resume"),
        Err(error @ FetchError::Address(_)) => Err(anyhow!(
            "{error}; allow_http, allow_private and allowed_networks in [webhooks] permit further addresses"
        )),
        Err(error) => Err(error.into()),
    }
}

/// The map with this name, which may exist already with the same area.
fn find_or_create(config: &Config, fetcher: &MapFetcher, options: MapFetch) -> Result<MapId> {
    let known =
        fetcher.list()?.into_iter().map(|state| state.map).find(|map| map.wanted.name == options.name);
    let area = area(&options)?;
    let Some(area) = area else {
        return known.map(|map| map.id).with_context(|| {
            format!(
                "there is no fetched map \"{}\"; give an area: --country, --bbox, --polygon or --devices",
                options.name
            )
        });
    };
    let MapFetch { name, source, max_zoom, attribution, .. } = options;
    let source = source.unwrap_or_else(|| config.map.fetch_source.clone());
    let wanted = Wanted { name, source, area, max_zoom, attribution };
    match known {
        Some(map) if map.wanted == wanted => Ok(map.id),
        // Nothing was copied yet, so nothing is lost.
        Some(map) if map.file.is_none() && map.copied_bytes() == 0 => {
            fetcher.remove(map.id)?;
            Ok(fetcher.create(wanted)?.id)
        }
        Some(map) => bail!(
            "there is a fetched map \"{}\" of another area; choose another --name, or remove it first",
            map.wanted.name
        ),
        None => Ok(fetcher.create(wanted)?.id),
    }
}

fn area(options: &MapFetch) -> Result<Option<AreaSpec>> {
    if let Some(country) = options.country {
        return Ok(Some(AreaSpec::Country(country.code().to_owned())));
    }
    if !options.bbox.is_empty() {
        let corners = <[f64; 4]>::try_from(options.bbox.clone());
        let corners =
            corners.map_err(|_other| anyhow!("--bbox needs four numbers: west,south,east,north"))?;
        return Ok(Some(AreaSpec::Bbox(corners)));
    }
    if let Some(file) = &options.polygon {
        let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let document =
            serde_json::from_slice(&text).with_context(|| format!("{} is not JSON", file.display()))?;
        return Ok(Some(AreaSpec::from_geojson(&document)?));
    }
    let devices = options.devices.map(|days| DevicesSpec { days, account: options.account });
    Ok(devices.map(AreaSpec::Devices))
}

/// Draws the progress until it is dropped.
async fn show(fetcher: &MapFetcher, id: MapId, live: &Live) {
    let bar = progress::bar("bytes");
    let mut ticks = tokio::time::interval(DRAW_EVERY);
    loop {
        ticks.tick().await;
        let total =
            fetcher.find(id).ok().flatten().and_then(|state| state.map.plan).map(|plan| plan.tile_bytes);
        if let Some(total) = total {
            bar.set_length(total);
            bar.set_position(live.bytes());
        }
    }
}

/// The result of `map fetch`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    name: String,
    is_dry_run: bool,
    bytes: u64,
    /// Bytes received from the source; none if the copy is complete.
    download_bytes: Option<u64>,
    tiles: u64,
    zooms: Vec<PlannedZoom>,
}

impl Outcome {
    fn of(map: &FetchedMap, is_dry_run: bool) -> Self {
        let (plan, file) = (map.plan.as_ref(), map.file.as_ref());
        let size = plan.map(|plan| (plan.file_bytes, plan.tiles));
        let (bytes, tiles) = size.or(file.map(|file| (file.bytes, file.tiles))).unwrap_or_default();
        Self {
            name: map.wanted.name.clone(),
            is_dry_run,
            bytes,
            download_bytes: plan.map(|plan| plan.download_bytes),
            tiles,
            zooms: plan.map(|plan| plan.zooms.clone()).unwrap_or_default(),
        }
    }
}

impl Answer for Outcome {
    fn in_words(&self) -> String {
        let Self { name, bytes, tiles, .. } = self;
        if !self.is_dry_run {
            return format!(
                "fetched \"{name}\": {tiles} tiles, {bytes} bytes\nUsers find it under Map layers."
            );
        }
        let row = |level: &PlannedZoom| {
            vec![level.zoom.to_string(), level.tiles.to_string(), level.bytes.to_string()]
        };
        let rows: Vec<Vec<String>> = self.zooms.iter().map(row).collect();
        let mut text = table(&["zoom", "tiles", "bytes"], &rows);
        let _ = write!(
            text,
            "\n\"{name}\" would have {tiles} tiles in {bytes} bytes; {} bytes would be received.\nRun perigee map fetch --name \"{name}\" to fetch it.",
            self.download_bytes.unwrap_or(0)
        );
        text
    }
}
