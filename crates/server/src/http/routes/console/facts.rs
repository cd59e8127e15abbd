//! Public settings that the console needs before sign-in: the server's name, version, channels and maps.

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::notifications::notification::Channel;

use crate::config::Config;
use crate::http::context::RequestContext;
use crate::http::prelude::*;
use crate::http::routes::alerts::view::ChannelName;
use crate::map_layers::{Layer, LayerTiles};

/// Public settings of the server, for the console.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Console)]
pub struct ConsoleFacts {
    /// Name and version of the server.
    server: ServerFacts,
    /// Public URL of the server. It never ends with a slash, so that a path such as `/api/devices` can be appended.
    #[schema(example = "https://track.example.com")]
    base_url: String,
    /// Map layers, and the initial view of the map.
    map: MapFacts,
    /// Channels by which the server can send notifications.
    channels: ChannelFacts,
    /// Languages of the console, as ISO 639-1 codes.
    #[schema(value_type = Vec<String>, example = json!(["en", "es", "fr", "de", "pt", "it"]))]
    languages: &'static [&'static str],
}

/// Name and version of the server.
#[derive(Serialize, ToSchema)]
#[schema(as = ConsoleServer)]
pub struct ServerFacts {
    /// Name of the server software.
    #[schema(example = "Perigee")]
    name: &'static str,
    /// Version of the server software.
    #[schema(example = "0.1.0")]
    version: &'static str,
}

/// Map layers, and the initial view of the map.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConsoleMap)]
pub struct MapFacts {
    /// Whether the server has the bundled map, which shows coasts in more detail, towns and names.
    #[schema(example = true)]
    bundled: bool,
    /// Map layers that the operator added, in order of preference.
    layers: Vec<LayerFacts>,
    /// Initial centre of the map if there is nothing to show: longitude and latitude, in degrees.
    #[schema(value_type = Vec<f64>, example = json!([-8.7, 42.2]), min_items = 2, max_items = 2)]
    center: [f64; 2],
    /// Initial zoom level of the map if there is nothing to show.
    #[schema(example = 1.5, minimum = 0, maximum = 24)]
    zoom: f64,
}

/// Map layer that the operator added.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConsoleMapLayer)]
pub struct LayerFacts {
    /// Name of the layer. Null for the layer of the settings `map.pmtiles` or `map.tile_url`.
    #[schema(example = "Sea marks", max_length = 60)]
    name: Option<String>,
    /// Whether the layer is an overlay, drawn over another map. Otherwise it is a map of its own.
    #[schema(example = false)]
    overlay: bool,
    /// How tiles are requested: `pmtiles` for ranges of one file, `tiles` for single tiles.
    #[schema(example = "tiles", pattern = "^(pmtiles|tiles)$")]
    kind: &'static str,
    /// Format of the tiles: `vector` for geometries, `raster` for images.
    #[schema(example = "raster", pattern = "^(vector|raster)$")]
    format: &'static str,
    /// URL of the tiles. If it begins with `api/`, append it to `baseUrl` after a slash. For `tiles`, it contains the
    /// placeholders {z}, {x} and {y}.
    #[schema(example = "https://tiles.example.com/{z}/{x}/{y}.png")]
    url: String,
    /// Attribution to show with the layer, as plain text.
    #[schema(example = "© OpenStreetMap contributors")]
    attribution: String,
    /// Lowest zoom level that has tiles.
    #[schema(example = 0, maximum = 24)]
    min_zoom: u8,
    /// Highest zoom level that has tiles.
    #[schema(example = 19, maximum = 24)]
    max_zoom: u8,
    /// Area that the layer covers: west, south, east and north, in degrees. Null for the whole world.
    #[schema(value_type = Option<Vec<f64>>, example = json!([-10.0, 35.0, 5.0, 44.0]), min_items = 4, max_items = 4)]
    bounds: Option<[f64; 4]>,
}

/// Channels by which the server can send notifications.
#[derive(Serialize, ToSchema)]
#[schema(as = ConsoleChannels)]
pub struct ChannelFacts {
    /// Whether the server can send e-mails.
    #[schema(example = true)]
    email: bool,
    /// Whether the server can send SMS.
    #[schema(example = false)]
    sms: bool,
    /// Whether the server can notify users in their browsers (Web Push).
    #[schema(example = true)]
    push: bool,
    /// Further channels that the server is set up for.
    others: Vec<OtherChannelFacts>,
}

/// Channel besides e-mail and SMS that the server is set up for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConsoleChannel)]
pub struct OtherChannelFacts {
    /// Channel, as in `channel` of recipients.
    #[schema(value_type = ChannelName, example = "telegram")]
    channel: &'static str,
    /// Name of the service for people.
    #[schema(example = "Telegram")]
    title: &'static str,
    /// Example of an address of a recipient.
    #[schema(example = "-1001234567890")]
    address_example: &'static str,
}

fn others(config: &Config) -> Vec<OtherChannelFacts> {
    let presets = config.channels_on().into_iter().filter(|channel| channel.is_other());
    let facts = |channel: Channel| OtherChannelFacts {
        channel: channel.name(),
        title: &channel.kind().title,
        address_example: channel.kind().address.example(),
    };
    presets.map(facts).collect()
}

fn layers(app: &App) -> Vec<LayerFacts> {
    let map = &app.config.map;
    let file = app.maps.tiles.as_ref().map(|tiles| {
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
    file.into_iter().chain(elsewhere).chain(app.maps.layers.get().layers.iter().map(named)).collect()
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

/// Retrieve public settings of the server
///
/// Returns the settings that the console needs before a user signs in: version, map layers, channels and languages. No
/// authentication is required. The answer contains nothing about accounts, devices or users.
#[utoipa::path(get, path = "/api/console", tag = "console", security(()),
    responses((status = 200, description = "Public settings of the server.", body = ConsoleFacts)))]
pub async fn get_console_facts(
    State(app): State<App>,
    _context: RequestContext,
    params: Params,
) -> ApiReply<ConsoleFacts> {
    params.finish()?;
    let config = &app.config;
    let facts = ConsoleFacts {
        server: ServerFacts { name: "Perigee", version: env!("CARGO_PKG_VERSION") },
        base_url: app.base_url.to_string(),
        map: MapFacts {
            bundled: app.maps.bundled.is_some(),
            layers: layers(&app),
            center: config.map.center,
            zoom: config.map.zoom,
        },
        channels: ChannelFacts {
            email: config.sends(Channel::EMAIL),
            sms: config.sends(Channel::SMS),
            push: config.sends(Channel::PUSH),
            others: others(config),
        },
        languages: ConsoleLanguage::TAGS,
    };
    Ok(Reply::new(None, facts))
}
