//! Copied maps as operators see them.

use crate::http::input::{Word, words};
use crate::http::prelude::*;
use crate::map_fetch::{AreaSpec, FinishedFile, MapState, Phase, Plan};

words! {
    "OperatorMapState", "State of a copied map. `measuring`: the size is being determined. `measured`: the size is known, and nothing was \
     copied yet. `fetching`: tiles are being copied. `stopped`: copying or measuring was stopped and can be continued. `failed`: see \
     `problem`; it can be repeated. `ready`: the map is complete." => Phase;
}

pub(super) type StateName = Word<Phase>;

/// A copied map.
#[derive(Serialize, ToSchema)]
#[schema(as = OneOperatorMap)]
pub struct OperatorMapAnswer {
    /// The requested map.
    pub(super) map: OperatorMapView,
}

/// A list of copied maps.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorMapList {
    /// The maps, sorted by creation.
    pub(super) maps: Vec<OperatorMapView>,
    /// URL from which maps are copied unless another is given, from the server's settings.
    #[schema(example = "https://build.protomaps.com/{date}.pmtiles")]
    pub(super) default_source: String,
    /// Codes of the countries that can be copied.
    #[schema(example = json!(["ES", "PT"]))]
    pub(super) countries: Vec<&'static str>,
}

/// A map that this node copied, copies, or can copy from a PMTiles file on another server.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorMap)]
pub struct OperatorMapView {
    /// Unique identifier of the map, assigned by the server.
    #[schema(example = "map_01jc2m8k4n5p6")]
    id: String,
    /// Name under which users choose the map.
    #[schema(example = "Streets")]
    name: String,
    /// Host of the source. The rest of its URL may contain a key.
    #[schema(example = "build.protomaps.com")]
    source_host: String,
    /// Code of the country that is copied. Null for another area.
    #[schema(example = "ES")]
    country: Option<String>,
    /// Box that is copied: west, south, east and north, in degrees. Null for another area.
    #[schema(value_type = Option<Vec<f64>>, example = json!(null), min_items = 4, max_items = 4)]
    bbox: Option<[f64; 4]>,
    /// Days for which the surroundings of the positions of devices are copied. Null for another area.
    #[schema(example = json!(null))]
    device_days: Option<u16>,
    /// Highest zoom level that is copied.
    #[schema(example = 14)]
    max_zoom: u8,
    /// State of the map.
    #[schema(value_type = StateName, example = "fetching")]
    state: &'static str,
    /// Reason of the last failure. Null unless `state` is `failed`.
    problem: Option<OperatorMapProblem>,
    /// Size of the copy. Null until it is known, and once the copy is complete.
    size: Option<OperatorMapSize>,
    /// Number of entries of tiles found so far. Null unless `state` is `measuring`.
    #[schema(example = json!(null))]
    found: Option<u64>,
    /// Bytes of tiles copied so far. Null unless `state` is `fetching` or `stopped`, and the size is known.
    #[schema(example = 104_857_600)]
    copied_bytes: Option<u64>,
    /// The complete copy that users see. Null if there is none.
    file: Option<OperatorMapFile>,
    /// Time at which the map was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// Why a map was not copied.
#[derive(Serialize, ToSchema)]
pub struct OperatorMapProblem {
    /// Kind of the problem. `address`: the URL of the source may not be called. `area`: the area has no tiles, or too
    /// many. `unreachable`: the source did not answer, or not with the file. `changed`: the file was replaced while it was
    /// read. `not-tiles`: the file is not a PMTiles file that can be copied. `no-space`: the disk has too little room.
    /// `disk`: a file could not be written.
    #[schema(
        example = "unreachable",
        pattern = "^(address|area|unreachable|changed|not-tiles|no-space|disk)$"
    )]
    code: String,
    /// Explanation for a person, in English.
    #[schema(
        example = "The connection failed: the receiver does not answer, or its certificate is not valid."
    )]
    text: String,
}

/// Size of a copy.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorMapSize {
    /// Size of the file, in bytes.
    #[schema(example = 734_003_200)]
    bytes: u64,
    /// Size of its tiles, in bytes. `copiedBytes` grows to this number.
    #[schema(example = 733_003_200)]
    tile_bytes: u64,
    /// Bytes that are received from the source, which include gaps between tiles.
    #[schema(example = 754_974_720)]
    download_bytes: u64,
    /// Number of requests to the source.
    #[schema(example = 412)]
    requests: u64,
    /// Number of tiles.
    #[schema(example = 812_344)]
    tiles: u64,
    /// The zoom levels that have tiles.
    zooms: Vec<OperatorMapZoom>,
}

/// Tiles of a zoom level.
#[derive(Serialize, ToSchema)]
pub struct OperatorMapZoom {
    /// Zoom level of the tiles.
    #[schema(example = 14)]
    zoom: u8,
    /// Number of tiles.
    #[schema(example = 610_000)]
    tiles: u64,
    /// Bytes that they add to the file.
    #[schema(example = 500_000_000)]
    bytes: u64,
}

/// A complete copy.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorMapFile {
    /// Size of the file, in bytes.
    #[schema(example = 734_003_200)]
    bytes: u64,
    /// Number of tiles.
    #[schema(example = 812_344)]
    tiles: u64,
    /// Time at which the copy was completed.
    #[schema(example = "2026-05-01T12:30:00Z", format = DateTime)]
    fetched_at: String,
}

impl From<MapState> for OperatorMapView {
    fn from(MapState { map, live }: MapState) -> Self {
        let (phase, wanted) = (map.phase, &map.wanted);
        let copied = live.as_ref().filter(|_| phase == Phase::Fetching).map(|live| live.bytes());
        let copied_bytes = match phase {
            Phase::Fetching | Phase::Stopped if map.plan.is_some() => {
                Some(copied.unwrap_or(0).max(map.copied_bytes()))
            }
            _ => None,
        };
        let host = url::Url::parse(&wanted.source.replace("{date}", "0"));
        let (country, bbox, device_days) = match &wanted.area {
            AreaSpec::Country(code) => (Some(code.clone()), None, None),
            AreaSpec::Bbox(corners) => (None, Some(*corners), None),
            AreaSpec::Devices(spec) => (None, None, Some(spec.days)),
            AreaSpec::Polygon(_) => (None, None, None),
        };
        Self {
            id: map.id.to_string(),
            name: wanted.name.clone(),
            source_host: host.ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default(),
            country,
            bbox,
            device_days,
            max_zoom: wanted.max_zoom,
            state: phase.name(),
            problem: map
                .problem
                .filter(|_| phase == Phase::Failed)
                .map(|problem| OperatorMapProblem { code: problem.code, text: problem.text }),
            size: map.plan.as_ref().map(OperatorMapSize::from),
            found: live.filter(|_| phase == Phase::Measuring).map(|live| live.found()),
            copied_bytes,
            file: map.file.as_ref().map(OperatorMapFile::from),
            creation: map.created.to_string(),
        }
    }
}

impl From<&Plan> for OperatorMapSize {
    fn from(plan: &Plan) -> Self {
        Self {
            bytes: plan.file_bytes,
            tile_bytes: plan.tile_bytes,
            download_bytes: plan.download_bytes,
            requests: plan.requests,
            tiles: plan.tiles,
            zooms: plan
                .zooms
                .iter()
                .map(|level| OperatorMapZoom { zoom: level.zoom, tiles: level.tiles, bytes: level.bytes })
                .collect(),
        }
    }
}

impl From<&FinishedFile> for OperatorMapFile {
    fn from(file: &FinishedFile) -> Self {
        Self { bytes: file.bytes, tiles: file.tiles, fetched_at: file.fetched.to_string() }
    }
}
