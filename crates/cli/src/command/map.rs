//! `perigee map`: maps and overlays that the console offers beside the bundled map. They are kept in the data folder; a
//! running service notices a change.

use std::path::Path;

use anyhow::{Context, Result, bail};
use perigee_server::config::{Config, LayerSource, MapLayer};
use perigee_server::map_layers::{AddedLayers, FILE, Layer, LayerPreset, Layers};
use serde::Serialize;

use super::map_fetch;
use crate::args::{Common, MapAdd, MapCommand};
use crate::output::{Answer, print};
use crate::settings;

/// Runs a `map` subcommand.
pub(crate) async fn run(common: &Common, command: MapCommand) -> Result<()> {
    let config = settings::load(common, Vec::new())?;
    match command {
        MapCommand::Add(options) => print(&add(&config, options)?, common.json),
        MapCommand::List => print(&list(&config)?, common.json),
        MapCommand::Fetch(options) => map_fetch::run(common, &config, options).await,
        MapCommand::Remove { name } => {
            let is_fetched = map_fetch::remove(&config, &name)?;
            let removed = if is_fetched { Removed { name, is_fetched } } else { remove(&config, &name)? };
            print(&removed, common.json)
        }
    }
}

/// One layer, as it is printed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    name: String,
    /// `file`, `remote file`, `proxied` or `direct`.
    kind: &'static str,
    overlay: bool,
    format: &'static str,
    min_zoom: u8,
    max_zoom: u8,
    /// Without the parts of a URL that may be a key.
    source: String,
}

impl Shown {
    fn of(layer: &Layer) -> Result<Self> {
        let settings = serde_json::to_value(&layer.settings)?;
        let facts = layer.facts();
        Ok(Self {
            name: layer.settings.name.clone(),
            kind: match layer.settings.kind() {
                LayerSource::File => "file",
                LayerSource::RemoteFile => "remote file",
                LayerSource::Proxied => "proxied",
                LayerSource::Direct => "direct",
            },
            overlay: layer.settings.overlay,
            format: if facts.is_vector { "vector" } else { "raster" },
            min_zoom: facts.min_zoom,
            max_zoom: facts.max_zoom,
            source: settings.get("source").and_then(|source| source.as_str()).unwrap_or_default().to_owned(),
        })
    }

    fn line(&self) -> String {
        let what = if self.overlay { "overlay" } else { "map" };
        let (name, format, kind, source) = (&self.name, self.format, self.kind, &self.source);
        format!("{name}  {what}, {format}, zoom {} to {}, {kind}: {source}", self.min_zoom, self.max_zoom)
    }
}

/// The result of `map add`.
#[derive(Serialize)]
struct Added {
    layer: Shown,
}

impl Answer for Added {
    fn in_words(&self) -> String {
        format!("added {}", self.layer.line())
    }
}

/// The result of `map list`.
#[derive(Serialize)]
struct Listed {
    layers: Vec<Shown>,
}

impl Answer for Listed {
    fn in_words(&self) -> String {
        if self.layers.is_empty() {
            return "no maps beside the bundled one; add one with perigee map add FILE|URL --name NAME"
                .to_owned();
        }
        self.layers.iter().map(Shown::line).collect::<Vec<_>>().join("\n")
    }
}

/// Checks a layer, as far as that is possible without contacting another host, and adds it to the file.
fn add(config: &Config, options: MapAdd) -> Result<Added> {
    let data = &config.store.data;
    let settings = wanted(options)?;
    let layer = match Layer::open(settings.clone()) {
        Ok(layer) => layer,
        Err(problem) => bail!("{problem}"),
    };
    let mut all = AddedLayers::read(data).with_context(|| format!("cannot read {FILE}"))?;
    all.layers.push(settings.clone());
    // Checks all layers together: the name must differ from those in the settings too.
    Layers::of(config.map.layers.iter().chain(&all.layers).cloned().collect())?;
    let changed = AddedLayers::change(data, |added| added.layers.push(settings));
    changed.with_context(|| format!("cannot write {FILE} to {}", data.display()))?;
    Ok(Added { layer: Shown::of(&layer)? })
}

/// The layer that the options describe.
fn wanted(options: MapAdd) -> Result<MapLayer> {
    let proxy = options.direct.then_some(false);
    if let Some(preset) = options.preset.as_deref().and_then(LayerPreset::find) {
        let layer = preset.layer(options.key.as_deref()).map_err(anyhow::Error::msg)?;
        return Ok(MapLayer { name: options.name.unwrap_or_else(|| layer.name.clone()), proxy, ..layer });
    }
    let source = options.source.context("a file or a URL is missing")?;
    let source = if source.contains("://") {
        source
    } else {
        // The service may be started in another folder.
        let path = std::path::absolute(Path::new(&source)).context("cannot find the file")?;
        path.to_str().context("the path of the file is not UTF-8; rename it")?.to_owned()
    };
    Ok(MapLayer {
        name: options.name.context("the name is missing")?,
        source,
        overlay: options.overlay,
        vector: options.vector,
        attribution: options.attribution,
        min_zoom: options.min_zoom,
        max_zoom: options.max_zoom,
        proxy,
    })
}

fn list(config: &Config) -> Result<Listed> {
    let added = AddedLayers::read(&config.store.data).with_context(|| format!("cannot read {FILE}"))?;
    let all = config.map.layers.iter().chain(&added.layers).cloned();
    // A layer whose file was deleted must still be listed, so that it can be removed.
    let shown = all.map(|settings| match Layer::open(settings.clone()) {
        Ok(layer) => Shown::of(&layer),
        Err(problem) => {
            eprintln!("perigee: {problem}");
            Ok(Shown {
                name: settings.name,
                kind: "unusable",
                overlay: settings.overlay,
                format: "unknown",
                min_zoom: settings.min_zoom,
                max_zoom: settings.max_zoom,
                source: String::new(),
            })
        }
    });
    Ok(Listed { layers: shown.collect::<Result<_>>()? })
}

fn remove(config: &Config, name: &str) -> Result<Removed> {
    let data = &config.store.data;
    let removed = AddedLayers::change(data, |added| {
        let before = added.layers.len();
        added.layers.retain(|layer| layer.name != name);
        before - added.layers.len()
    });
    if removed.with_context(|| format!("cannot write {FILE} to {}", data.display()))? == 0 {
        if config.map.layers.iter().any(|layer| layer.name == name) {
            bail!("\"{name}\" is one of the layers in your settings; remove it there");
        }
        bail!("there is no layer \"{name}\"; perigee map list shows their names");
    }
    Ok(Removed { name: name.to_owned(), is_fetched: false })
}

/// The result of `map remove`.
#[derive(Serialize)]
struct Removed {
    name: String,
    /// Whether its file was deleted too.
    #[serde(skip)]
    is_fetched: bool,
}

impl Answer for Removed {
    fn in_words(&self) -> String {
        let file = if self.is_fetched { "its file was deleted" } else { "a file of tiles was not deleted" };
        format!("removed {}; {file}", self.name)
    }
}
