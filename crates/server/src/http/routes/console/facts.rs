//! What the console needs before sign-in: the server's name, version, channels and maps.

use axum::extract::State;
use perigee_core::notification::Channel;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::config::SmsGateway;
use crate::http::context::RequestContext;
use crate::http::error::ApiResult;
use crate::http::extract::Params;
use crate::http::reply::Reply;
use crate::map_layers::{Layer, LayerTiles};

/// What anybody may know of this server.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Console)]
pub struct ConsoleFacts {
    /// The server that the console talks to.
    server: ServerFacts,
    /// The address clients use, without a slash at the end.
    #[schema(example = "https://track.example.com")]
    base_url: String,
    /// The maps beside the console's own, and where to begin.
    map: MapFacts,
    /// Which messages to people this server can send.
    channels: ChannelFacts,
    /// The languages of the console.
    #[schema(value_type = Vec<String>, example = json!(["en", "es"]))]
    languages: &'static [&'static str],
}

/// Name and version of the server.
#[derive(Serialize, ToSchema)]
#[schema(as = ConsoleServer)]
pub struct ServerFacts {
    /// The name of the software.
    #[schema(example = "Perigee")]
    name: &'static str,
    /// The version of the software.
    #[schema(example = "0.1.0")]
    version: &'static str,
}

/// The maps beside the console's own, and where to begin.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConsoleMap)]
pub struct MapFacts {
    /// Whether the server has the bundled map, with finer coasts, towns and names.
    #[schema(example = true)]
    bundled: bool,
    /// Maps that the operator added, best first.
    layers: Vec<LayerFacts>,
    /// Longitude and latitude to begin at when there is nothing to show.
    #[schema(value_type = Vec<f64>, example = json!([-8.7, 42.2]), min_items = 2, max_items = 2)]
    center: [f64; 2],
    /// How near to begin.
    #[schema(example = 1.5, minimum = 0, maximum = 24)]
    zoom: f64,
}

/// A map of the operator's.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConsoleMapLayer)]
pub struct LayerFacts {
    /// The name that the operator gave it; null for the map of `map.pmtiles` or `map.tile_url`.
    #[schema(example = "Sea marks", max_length = 60)]
    name: Option<String>,
    /// Whether it is drawn over any map instead of being one.
    #[schema(example = false)]
    overlay: bool,
    /// How its tiles are got: `pmtiles` from one file by ranges, `tiles` one by one.
    #[schema(example = "tiles", pattern = "^(pmtiles|tiles)$")]
    kind: &'static str,
    /// What its tiles are: `vector`, or `raster` for pictures.
    #[schema(example = "raster", pattern = "^(vector|raster)$")]
    format: &'static str,
    /// Where it is: relative to `baseUrl` if it begins with `api/`; with {z}, {x} and {y} to be put in unless it is a file.
    #[schema(example = "https://tiles.example.com/{z}/{x}/{y}.png")]
    url: String,
    /// Whom it is from; to be shown with it, as text.
    #[schema(example = "© OpenStreetMap contributors")]
    attribution: String,
    /// The first zoom that has tiles.
    #[schema(example = 0, maximum = 24)]
    min_zoom: u8,
    /// The last zoom that has tiles.
    #[schema(example = 19, maximum = 24)]
    max_zoom: u8,
    /// West, south, east and north of what it covers; null for the world.
    #[schema(value_type = Option<Vec<f64>>, example = json!([-10.0, 35.0, 5.0, 44.0]), min_items = 4, max_items = 4)]
    bounds: Option<[f64; 4]>,
}

/// Which messages to people this server can send.
#[derive(Serialize, ToSchema)]
#[schema(as = ConsoleChannels)]
pub struct ChannelFacts {
    /// Whether the server can send e-mail.
    #[schema(example = true)]
    email: bool,
    /// Whether the server can send SMS.
    #[schema(example = false)]
    sms: bool,
}

fn layers(app: &App) -> Vec<LayerFacts> {
    let map = &app.config.map;
    let file = app.tiles.as_ref().map(|tiles| {
        let facts = tiles.facts();
        LayerFacts {
            name: None,
            overlay: false,
            kind: "pmtiles",
            format: if facts.is_vector { "vector" } else { "raster" },
            url: "api/map/tiles.pmtiles".to_owned(),
            attribution: map.pmtiles_attribution.clone(),
            min_zoom: facts.min_zoom,
            max_zoom: facts.max_zoom,
            bounds: facts.bounds,
        }
    });
    let elsewhere = (!map.tile_url.is_empty()).then(|| LayerFacts {
        name: None,
        overlay: false,
        kind: "tiles",
        format: "raster",
        url: map.tile_url.clone(),
        attribution: map.tile_attribution.clone(),
        min_zoom: map.tile_min_zoom,
        max_zoom: map.tile_max_zoom,
        bounds: None,
    });
    file.into_iter().chain(elsewhere).chain(app.layers.iter().map(named)).collect()
}

/// A layer that has a name.
fn named(layer: &Layer) -> LayerFacts {
    let (facts, settings) = (layer.facts(), &layer.settings);
    let (kind, url) = match layer.tiles {
        LayerTiles::File(_) => ("pmtiles", format!("api/map/layers/{}/tiles.pmtiles", layer.id)),
        LayerTiles::Proxied => ("tiles", format!("api/map/layers/{}/{{z}}/{{x}}/{{y}}", layer.id)),
        LayerTiles::Elsewhere { is_file: true } => ("pmtiles", settings.source.clone()),
        LayerTiles::Elsewhere { is_file: false } => ("tiles", settings.source.clone()),
    };
    LayerFacts {
        name: Some(settings.name.clone()),
        overlay: settings.overlay,
        kind,
        format: if facts.is_vector { "vector" } else { "raster" },
        url,
        attribution: settings.attribution.clone(),
        min_zoom: facts.min_zoom,
        max_zoom: facts.max_zoom,
        bounds: facts.bounds,
    }
}

/// Read what the console needs before anybody signs in.
///
/// Needs no token. It says nothing about accounts, devices or users.
#[utoipa::path(get, path = "/api/console", tag = "console", security(()),
    responses((status = 200, description = "What anybody may know of this server.", body = ConsoleFacts)))]
pub async fn get_console_facts(
    State(app): State<App>,
    _context: RequestContext,
    params: Params,
) -> ApiResult<Reply<ConsoleFacts>> {
    params.finish()?;
    let config = &app.config;
    let facts = ConsoleFacts {
        server: ServerFacts { name: "Perigee", version: env!("CARGO_PKG_VERSION") },
        base_url: app.base_url.to_string(),
        map: MapFacts {
            bundled: app.bundled_map.is_some(),
            layers: layers(&app),
            center: config.map.center,
            zoom: config.map.zoom,
        },
        channels: ChannelFacts {
            email: config.notifications.is_on(Channel::Email) && !config.email.host.is_empty(),
            sms: config.notifications.is_on(Channel::Sms) && config.sms.gateway != SmsGateway::None,
        },
        languages: &["en", "es"],
    };
    Ok(Reply::new(None, facts))
}
