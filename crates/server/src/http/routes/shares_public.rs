//! The public view of a share link.

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::{Method, header};
use perigee_core::actor::Scope;
use perigee_core::error::Kind;
use perigee_core::id::DeviceId;
use perigee_core::location::{Degrees, HistoryRequest, Order, StoredLocation, Thousandths, TimeRange};
use perigee_core::page::PageRequest;
use perigee_core::place::Reader;
use perigee_core::preference::ConsoleLanguage;
use perigee_core::share::NewShare;
use perigee_core::store::SharedView;
use perigee_core::time::Timestamp;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Secret;
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult, internal, not_found};
use crate::http::error_code::ErrorCode;
use crate::http::extract::{Params, TextPath};
use crate::http::limit::too_many;
use crate::http::place::{place_of, read_flag, read_reader};
use crate::http::reply::encode;
use crate::http::shared_body::json_of_buffers;
use crate::live::{OpenLink, PageError, PageKey, SharePage};

/// A live view of what was shared: names and positions, nothing else of the account than its name.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SharedView)]
pub struct SharedAnswer {
    /// What the link is for.
    #[schema(example = "Delivery to Vigo", max_length = 200)]
    name: Option<String>,
    /// The name of the account; null if the link does not tell it.
    #[schema(example = "Castro Fishing", max_length = 200)]
    account_name: Option<String>,
    /// From when the link shows anything.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    from: String,
    /// From when it shows nothing any more.
    #[schema(example = "2026-05-08T12:00:00Z", format = DateTime)]
    until: String,
    /// The shared devices, with their last locations.
    devices: Vec<SharedDevice>,
}

/// A device as a share link shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedDevice {
    /// What tells it from others of the same link; it means nothing elsewhere.
    #[schema(example = "5f0c2d9ab4e17c63", min_length = 16, max_length = 16)]
    key: String,
    /// The name of the device in its account.
    #[schema(example = "Northern Star", min_length = 1, max_length = 200)]
    name: String,
    /// Its picture, as its owners chose it.
    #[schema(example = "vessel")]
    icon: Option<String>,
    /// Whether it reports as it should: `online`, `late`, `offline` or `never`.
    #[schema(example = "online", pattern = "^(online|late|offline|never)$")]
    status: &'static str,
    /// Where it was last; null when it has not been anywhere since `from`.
    last_location: Option<SharedLocation>,
    /// Where it was since `trail`, oldest first; the newest 1,000, fewer where there are many devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    trail: Option<Vec<SharedLocation>>,
}

/// A position as a share link shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedLocation {
    /// When it was there.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// Degrees north.
    #[schema(value_type = f64, example = 42.2406, minimum = -90, maximum = 90)]
    latitude: Degrees,
    /// Degrees east.
    #[schema(value_type = f64, example = -8.7207, minimum = -180, maximum = 180)]
    longitude: Degrees,
    /// Kilometres an hour.
    #[schema(value_type = Option<f64>, example = 18.5)]
    speed: Option<Thousandths>,
    /// Degrees from true north.
    #[schema(value_type = Option<f64>, example = 270.0, minimum = 0, maximum = 360)]
    course: Option<Thousandths>,
    /// Where it is, in words; only of the last location, and with `place=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "22 km SW of Vigo, Spain")]
    place: Option<String>,
}

/// Positions of trails that one answer brings, of all devices together.
const TRAIL_POINTS: usize = 20_000;
/// Of one device at the most.
const DEVICE_POINTS: usize = 1_000;

/// Devices read at a time: what is read of one takes ten times what is shown of it.
const PAGE_DEVICES: u32 = 500;

impl SharedAnswer {
    /// An answer without devices yet.
    fn new(link: &NewShare, account_name: Option<String>) -> Self {
        let (from, until) = (link.from.to_string(), link.until.to_string());
        Self { name: link.name.clone(), account_name, from, until, devices: Vec::new() }
    }

    /// Adds the devices of a page.
    async fn add(&mut self, app: &App, view: SharedView, page: PageKey) -> ApiResult<()> {
        let PageKey { trail, now, place, .. } = page;
        let scope = Scope::for_share_link(&view.share);
        let link = view.share.link;
        let each = points_each(view.device_count);
        for (device, last) in view.devices.items {
            let trail = match trail.map(|since| since.max(link.from)) {
                // A device without locations since then has no trail; skipping it avoids a slow read.
                Some(since) if last.as_ref().is_none_or(|last| last.location.time < since) => {
                    Some(Vec::new())
                }
                Some(since) => Some(read_trail(app, scope, device.id, since, each).await?),
                None => None,
            };
            self.devices.push(SharedDevice {
                key: key(&link.secret, device.id),
                status: device.status(now).name(),
                name: device.settings.name,
                icon: device.settings.icon,
                last_location: last.map(|last| SharedLocation::told(last, place)),
                trail,
            });
        }
        Ok(())
    }
}

/// Positions of the trail of each of so many devices, at least one.
fn points_each(devices: usize) -> usize {
    (TRAIL_POINTS / devices.max(1)).clamp(1, DEVICE_POINTS)
}

/// What tells a device from others of the link, without telling which one it is in the account.
fn key(secret: &str, device: DeviceId) -> String {
    let digest = Sha256::digest(format!("{secret} {device}"));
    digest[..8].iter().fold(String::new(), |key, byte| format!("{key}{byte:02x}"))
}

/// Where a device was since then, oldest first: the newest of it when there is more.
async fn read_trail(
    app: &App,
    scope: Scope,
    device: DeviceId,
    since: Timestamp,
    most: usize,
) -> ApiResult<Vec<SharedLocation>> {
    let request = HistoryRequest {
        range: TimeRange { from: since, to: Timestamp::MAX },
        order: Order::Descending,
        after: None,
        limit: u32::try_from(most).unwrap_or(u32::MAX),
    };
    let history = app.store.list_locations(scope, device, request).await?;
    let trusted = history.items.into_iter().filter(|stored| !stored.trust.suspect);
    let mut trail: Vec<SharedLocation> = trusted.map(SharedLocation::from).collect();
    trail.reverse();
    Ok(trail)
}

impl From<StoredLocation> for SharedLocation {
    fn from(stored: StoredLocation) -> Self {
        let location = stored.location;
        Self {
            date_time: location.time.to_string(),
            latitude: location.latitude.into(),
            longitude: location.longitude.into(),
            speed: location.readings.speed.map(Thousandths::from),
            course: location.readings.course.map(Thousandths::from),
            place: None,
        }
    }
}

impl SharedLocation {
    /// With the position in words, if somebody reads them.
    fn told(stored: StoredLocation, reader: Option<Reader>) -> Self {
        let place = place_of(reader, stored.location.latitude, stored.location.longitude);
        Self { place, ..stored.into() }
    }
}

/// Open a share link.
///
/// Needs no token: the address is the secret. A link that does not exist, is not open yet, is over or was taken
/// back is answered alike. Openings are counted, and limited by address and by link.
///
/// A page that stays up to date asks again every few seconds, with `trail` the instant of the newest position it has;
/// asking with `again=true` is not counted as an opening. A link that ends or is taken back is 404 from then on.
#[utoipa::path(get, path = "/api/shared/{secret}", tag = "shares", security(()),
    params(("secret" = String, Path, description = "The last part of the link's `url`.", example = "q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e"),
        ("trail" = Option<String>, Query, description = "Also where each device was since this instant; never from before the link began.", example = "2026-05-01T12:00:00Z"),
        ("place" = Option<bool>, Query, description = "`true` to also tell the last locations in words.", example = true),
        ("language" = Option<super::session_preferences::ConsoleLanguageName>, Query, description = "Language of the words; English when left out."),
        ("units" = Option<super::alert_routing::view::UnitsName>, Query, description = "Units of the distances in words; metric when left out."),
        ("again" = Option<bool>, Query, description = "`true` when the same page asks again.", example = false)),
    responses((status = 200, description = "What the link shows now.", body = SharedAnswer)))]
pub async fn get_shared(
    State(app): State<App>,
    context: RequestContext,
    method: Method,
    TextPath(secret): TextPath,
    mut params: Params,
) -> ApiResult<Response> {
    let trail = params.parsed::<Timestamp>("trail", "an instant such as 2026-05-01T12:00:00Z");
    let again = params.word("again", &[("true", true), ("false", false)]).unwrap_or_default();
    let wants_place = read_flag(&mut params);
    let (language, units) = read_reader(&mut params);
    params.finish()?;
    let place = wants_place.then(|| Reader {
        language: language.unwrap_or(ConsoleLanguage::English),
        units: units.unwrap_or_default(),
    });
    let now = app.clock.now();
    let rated = app.rates.bad_token(context.address(), false);
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "Too many invalid share links were opened from this address."));
    }
    let share = match Secret::parse(&secret) {
        Some(secret) => {
            let rated = app.rates.view(secret.expose(), context.address());
            if !rated.allowance.allowed {
                context.set_rated(rated);
                return Err(too_many(rated, "Share links are opened too often from this address."));
            }
            app.store.find_open_share(secret.expose()).await?.map(|share| (share, rated))
        }
        None => None,
    };
    let Some((share, rated)) = share else {
        app.rates.bad_token(context.address(), true);
        return Err(not_found(Kind::Share));
    };
    context.set_rated(rated);
    if method != Method::HEAD && !again {
        app.views.count(&share, now);
    }
    let end = app.store.event_end(Scope::for_share_link(&share)).await?;
    let key = PageKey { trail, end, now, place };
    let make = make_page(app.clone(), share.link.secret.clone(), key);
    let link = OpenLink { secret: &share.link.secret, account: share.account };
    match app.share_cache.get(&app.runtime, link, key, make).await {
        Ok(page) => Ok(json_of_buffers([page.body])),
        Err(PageError::Build(error)) => Err(error),
        Err(PageError::Lost(error)) => Err(internal(error)),
        Err(PageError::Exhausted(exhausted)) => Err(exhausted.into()),
        Err(PageError::Busy) => Err(ApiError::new(
            ErrorCode::RateLimited,
            "This link is opened too often. Wait a moment and open it again.",
        )
        .with_header(header::RETRY_AFTER, "2")),
    }
}

/// What a link shows, encoded.
async fn make_page(app: App, secret: String, key: PageKey) -> ApiResult<SharePage> {
    // The link may have been revoked while this request waited.
    let open = async |after| {
        let page = PageRequest { after, limit: PAGE_DEVICES };
        app.store.open_share(&secret, page).await?.ok_or_else(|| not_found(Kind::Share))
    };
    let mut view = open(None).await?;
    let mut answer = SharedAnswer::new(&view.share.link, view.account_name.clone());
    loop {
        let next = view.devices.next;
        answer.add(&app, view, key).await?;
        if next.is_none() {
            break;
        }
        view = open(next).await?;
    }
    let devices = answer.devices.len();
    Ok(SharePage { body: Bytes::from(encode(None, &answer).map_err(internal)?), devices })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trails_of_many_devices_have_no_more_points_in_all() {
        for (devices, each) in [(0, 1_000), (1, 1_000), (20, 1_000), (21, 952), (10_000, 2), (1_000_000, 1)] {
            assert_eq!(points_each(devices), each, "{devices}");
        }
        assert!((1..=20_000).all(|devices| devices * points_each(devices) <= TRAIL_POINTS));
    }
}
