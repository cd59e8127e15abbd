//! Maps that are copied from elsewhere: measuring, copying, stopping and removing them.

use perigee_core::accounts::country::Country;
use perigee_core::id::{AccountId, MapId};
use perigee_core::text::Line;

use super::map_input::{Degrees, Vertex};
use super::map_view::{OperatorMapAnswer, OperatorMapList, OperatorMapView};
use crate::http::extract::OperatorCaller;
use crate::http::input::{List, Whole};
use crate::http::prelude::*;
use crate::map_fetch::{AreaSpec, DevicesSpec, FetchError, Job, MapState, Wanted};

/// The most positions of an outline in a request.
const OUTLINE_MAX: usize = 2_000;
/// The same as [`DevicesSpec::DAYS_MAX`], as the kind of the member needs it.
const DAYS_MAX: u32 = 730;
/// The highest zoom level that is copied unless another is given: streets with their names.
const DETAIL: u32 = 14;

input! {
    /// A map to copy. Exactly one of `country`, `bbox`, `outline` and `deviceDays` is given.
    pub(super) struct OperatorMapInput {
        /// Name of the map, under which users choose it. No other map layer may have it.
        name: Line<1, 60>, required, example "Streets";
        /// URL of a PMTiles file. It must begin with https:// and be on the public Internet, unless the server's settings
        /// for webhooks allow others. `{date}` stands for the date of the newest build, as in 20260501. Default: the URL
        /// in the server's settings.
        source: Line<1, 2_000>, nullable, example "https://build.protomaps.com/{date}.pmtiles";
        /// Country to copy, with 10 km around it, as an ISO 3166-1 code or an English name.
        country: Country, nullable, example "ES";
        /// Box to copy: west, south, east and north, in degrees. West is greater than east if the box crosses the
        /// antimeridian.
        bbox: List<Degrees, 4, 4>, nullable, example null;
        /// Polygon to copy: its positions, each a longitude and a latitude in degrees.
        outline: List<Vertex, 3, OUTLINE_MAX>, nullable, example null;
        /// Days for which the surroundings of the positions of your account's devices are copied: squares of some 10 km,
        /// and those around them.
        device_days as "deviceDays": Whole<1, DAYS_MAX>, nullable, example null;
        /// Highest zoom level to copy. Each further level about doubles the size. Default: 14.
        max_zoom as "maxZoom": Whole<0, 18>, nullable, example 14;
        /// Attribution to show on the map. Default: that of the source.
        attribution: Line<0, 300>, nullable, example "© OpenStreetMap contributors";
    }
}

fn read(body: &Value, account: AccountId, default_source: &str) -> ApiResult<Wanted> {
    read_body(body, &[], |input: OperatorMapInput, fields| {
        let mut areas = Vec::new();
        areas.extend(input.country.map(|country| AreaSpec::Country(country.code().to_owned())));
        if let Some(Ok(corners)) = input.bbox.map(<[Degrees; 4]>::try_from) {
            areas.push(AreaSpec::Bbox(corners.map(|Degrees(value)| value)));
        }
        areas.extend(input.outline.map(|positions| {
            AreaSpec::Polygon(vec![positions.into_iter().map(|Vertex(position)| position).collect()])
        }));
        areas.extend(
            input
                .device_days
                .and_then(|days| u16::try_from(days).ok())
                .map(|days| AreaSpec::Devices(DevicesSpec { days, account: Some(account) })),
        );
        let area = match <[AreaSpec; 1]>::try_from(areas) {
            Ok([area]) => area,
            Err(_none_or_several) => {
                fields
                    .refuse("country", "must be given, or else exactly one of bbox, outline and deviceDays");
                return None;
            }
        };
        Some(Wanted {
            name: input.name?,
            source: input.source.unwrap_or_else(|| default_source.to_owned()),
            area,
            max_zoom: u8::try_from(input.max_zoom.unwrap_or(DETAIL)).unwrap_or(u8::MAX),
            attribution: input.attribution,
        })
    })
}

/// Reports why a map cannot be copied.
fn refused(error: FetchError) -> ApiError {
    let at = |member: &'static str, detail: String| {
        let pointer = Pointer::root();
        let pointer = if member.is_empty() { pointer } else { pointer.member(member) };
        invalid_body(vec![Problem { pointer, detail: sentence(&detail) }])
    };
    match error {
        FetchError::Busy => ApiError::new(
            ErrorCode::MapBusy,
            "Another map is being copied at the moment. Wait until it is finished, or stop it.",
        ),
        FetchError::TooMany(count) => ApiError::new(
            ErrorCode::TooMany,
            format!("There are {count} copied maps already. Delete one first."),
        ),
        FetchError::Taken => {
            at("name", "there is a map layer with this name; choose another name".to_owned())
        }
        FetchError::Address(why) => at("source", why),
        FetchError::Area(why) => at("", why),
        other => internal(other),
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// Runs file work outside of the threads that serve connections.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FetchError> + Send + 'static,
) -> ApiResult<T> {
    tokio::task::spawn_blocking(work).await.map_err(internal)?.map_err(refused)
}

/// Runs a job in the background. It ends when the service stops, and can then be resumed.
fn run(app: &App, job: Job) {
    let runtime = app.tasks.runtime.clone();
    let work = move || {
        let name = job.map().wanted.name.clone();
        let (_, done) = runtime.block_on(job.run());
        match done {
            Ok(()) => tracing::info!(name, "a step of copying a map is finished"),
            Err(error) => tracing::warn!(name, %error, "a map was not copied"),
        }
    };
    app.tasks.background.spawn_blocking_on(work, &app.tasks.runtime);
}

async fn find(app: &App, id: Option<MapId>) -> ApiResult<MapState> {
    let missing = || not_found(Kind::Map);
    let (fetcher, id) = (app.maps.fetcher.clone(), id.ok_or_else(missing)?);
    on_disk(move || fetcher.find(id)).await?.ok_or_else(missing)
}

async fn begin(app: &App, id: Option<MapId>, copies: bool) -> ApiResult<MapState> {
    let missing = || not_found(Kind::Map);
    let (fetcher, id) = (app.maps.fetcher.clone(), id.ok_or_else(missing)?);
    let stopping = app.tasks.stopping.clone();
    let job = on_disk(move || fetcher.begin(id, copies, &stopping)).await?.ok_or_else(missing)?;
    let state = MapState { map: job.map().clone(), live: Some(job.live()) };
    run(app, job);
    Ok(state)
}

fn answer(caller: &Caller, state: MapState) -> Reply<OperatorMapAnswer> {
    caller.reply(OperatorMapAnswer { map: OperatorMapView::from(state) })
}

/// List copied maps
///
/// Returns the maps that this node copied, copies, or can copy from PMTiles files on other servers. Requires an operator
/// of the server with a console session.
#[utoipa::path(get, path = "/api/operator/maps", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The maps, sorted by creation.", body = OperatorMapList)))]
pub async fn list_operator_maps(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    params: Params,
) -> ApiReply<OperatorMapList> {
    params.finish()?;
    let fetcher = app.maps.fetcher.clone();
    let maps = on_disk(move || fetcher.list()).await?;
    Ok(caller.reply(OperatorMapList {
        maps: maps.into_iter().map(OperatorMapView::from).collect(),
        default_source: app.config.map.fetch_source.clone(),
        countries: AreaSpec::countries(),
    }))
}

/// Retrieve a copied map
///
/// Returns one map with its size and progress. Requires an operator of the server with a console session.
#[utoipa::path(get, path = "/api/operator/maps/{mapId}", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The map with this ID.", body = OperatorMapAnswer)))]
pub async fn get_operator_map(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<MapId>,
    params: Params,
) -> ApiReply<OperatorMapAnswer> {
    params.finish()?;
    Ok(answer(&caller, find(&app, id).await?))
}

/// Create a map to copy
///
/// Adds a map and begins to measure it: the node reads the directories of the source, without its tiles, until `size` of
/// the map is known. Nothing else is copied before `POST /api/operator/maps/{mapId}/fetch`. A node copies or measures one
/// map at a time. Every user, and everybody with a share link, can see which area a map covers once it is copied. Requires
/// an operator of the server with a console session.
#[utoipa::path(post, path = "/api/operator/maps", tag = "operator", security(("session" = [])),
    request_body = OperatorMapInput,
    responses((status = 201, description = "The map was created, and is being measured.", body = OperatorMapAnswer)))]
pub async fn create_operator_map(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    body: JsonBody,
) -> ApiReply<OperatorMapAnswer> {
    let wanted = read(&body.value, caller.account().id, &app.config.map.fetch_source)?;
    let fetcher = app.maps.fetcher.clone();
    let map = on_disk(move || fetcher.create(wanted)).await?;
    let state = begin(&app, Some(map.id), false).await?;
    let address = app.base_url.join(&format!("/api/operator/maps/{}", map.id));
    Ok(answer(&caller, state).created(address))
}

/// Fetch a copied map
///
/// Begins to copy the tiles of a map, continues where an earlier attempt stopped, or copies a complete map anew from its
/// source; the previous copy is served until the new one is complete. The map is then a layer for all users, without a
/// restart. Requires an operator of the server with a console session.
#[utoipa::path(post, path = "/api/operator/maps/{mapId}/fetch", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The map is being copied.", body = OperatorMapAnswer)))]
pub async fn fetch_operator_map(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<MapId>,
    params: Params,
) -> ApiReply<OperatorMapAnswer> {
    params.finish()?;
    Ok(answer(&caller, begin(&app, id, true).await?))
}

/// Stop a copied map
///
/// Stops measuring or copying a map, if this node does so. What was copied is kept, and
/// `POST /api/operator/maps/{mapId}/fetch` continues it. Requires an operator of the server with a console session.
#[utoipa::path(post, path = "/api/operator/maps/{mapId}/stop", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The map is being stopped.", body = OperatorMapAnswer)))]
pub async fn stop_operator_map(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<MapId>,
    params: Params,
) -> ApiReply<OperatorMapAnswer> {
    params.finish()?;
    let state = find(&app, id).await?;
    app.maps.fetcher.stop(state.map.id);
    Ok(answer(&caller, state))
}

/// Delete a copied map
///
/// Deletes a map, its layer and its files. The request fails while a map is being measured or copied. Requires an operator
/// of the server with a console session.
#[utoipa::path(delete, path = "/api/operator/maps/{mapId}", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The map was deleted.", body = Done)))]
pub async fn delete_operator_map(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<MapId>,
    params: Params,
) -> ApiReply<Done> {
    params.finish()?;
    let missing = || not_found(Kind::Map);
    let (fetcher, id) = (app.maps.fetcher.clone(), id.ok_or_else(missing)?);
    if !on_disk(move || fetcher.remove(id)).await? {
        return Err(missing());
    }
    Ok(caller.reply(Done {}))
}
