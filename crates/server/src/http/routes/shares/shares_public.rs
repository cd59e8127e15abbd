//! The public view of a share link.

use std::collections::HashMap;

use bytes::Bytes;
use http::{Method, header};
use perigee_core::access::actor::Scope;
use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::devices::conversation::{ConversationMessage, TextKind, TextState};
use perigee_core::devices::device::Device;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{
    Degrees, HistoryRequest, Order, StoredLocation, Thousandths, TimeRange,
};
use perigee_core::locations::place::Reader;
use perigee_core::page::PageRequest;
use perigee_core::shares::share::NewShare;
use perigee_core::store::SharedView;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{Segment, SegmentKind, clip};
use sha2::{Digest as _, Sha256};

use crate::auth::Secret;
use crate::http::context::RequestContext;
use crate::http::extract::TextPath;
use crate::http::limit::too_many;
use crate::http::place::{place_of, read_flag, read_reader};
use crate::http::prelude::*;
use crate::http::reply::encode;
use crate::http::shared_body::json_of_buffers;
use crate::live::{OpenLink, PageError, PageKey, SharePage};

/// Public view of a share link: names, positions and status of the shared devices. It contains no data
/// of the account except its name.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SharedView)]
pub struct SharedAnswer {
    /// Name of the share link. Null if not set.
    #[schema(example = "Delivery to Vigo", max_length = 200)]
    name: Option<String>,
    /// Name of the account. Null if the link does not show it.
    #[schema(example = "Castro Fishing", max_length = 200)]
    account_name: Option<String>,
    /// Time from which the link can be opened. Earlier locations are not shown.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    from: String,
    /// Time at which the link expires.
    #[schema(example = "2026-05-08T12:00:00Z", format = DateTime)]
    until: String,
    /// Shared devices, with their last locations.
    devices: Vec<SharedDevice>,
}

/// Device in the public view of a share link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedDevice {
    /// Key that distinguishes the device from others of the same link. It cannot be used in other operations.
    #[schema(example = "5f0c2d9ab4e17c63", min_length = 16, max_length = 16)]
    key: String,
    /// Name of the device.
    #[schema(example = "Northern Star", min_length = 1, max_length = 200)]
    name: String,
    /// Name of the icon that represents the device on the map. Null for the default icon.
    #[schema(example = "vessel")]
    icon: Option<String>,
    /// Reporting status: `online` if the last message was received within two reporting intervals; `late` after two,
    /// `offline` after six intervals without a message; `never` if none was received yet.
    #[schema(example = "online", pattern = "^(online|late|offline|never)$")]
    status: &'static str,
    /// Last location of the device. Null if there is none since `from` of the link.
    last_location: Option<SharedLocation>,
    /// Locations since the time in `trail`, oldest first: the newest 1,000, or fewer if the link shows many devices.
    /// Present only with `trail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    trail: Option<Vec<SharedLocation>>,
    /// Trips since `from` of the link, at most of the last 31 days, oldest first: the first 1,000. Present only with `trips`,
    /// if the link shows trips and at most 50 devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    trips: Option<Vec<SharedTrip>>,
    /// Messages of the conversation with the device since `from` of the link, oldest first: the newest 50 that are older than
    /// the delay of the link. Present only with `conversation`, if the link shows conversations and at most 10 devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    conversation: Option<Vec<SharedText>>,
}

/// Trip in the public view of a share link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedTrip {
    /// Beginning of the trip, or `from` of the link if that is later.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    from: String,
    /// End of the trip, or of what is known of it.
    #[schema(example = "2026-05-01T12:40:00Z", format = DateTime)]
    to: String,
    /// Distance between `from` and `to`, in kilometres.
    #[schema(value_type = f64, example = 43.215, minimum = 0)]
    distance: f64,
    /// Time in motion, in seconds.
    #[schema(example = 2400, minimum = 0)]
    moving_seconds: u64,
}

/// Location in the public view of a share link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedLocation {
    /// Time at which the position was measured.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// Latitude, in degrees north (WGS 84).
    #[schema(value_type = f64, example = 42.2406, minimum = -90, maximum = 90)]
    latitude: Degrees,
    /// Longitude, in degrees east (WGS 84).
    #[schema(value_type = f64, example = -8.7207, minimum = -180, maximum = 180)]
    longitude: Degrees,
    /// Speed over ground, in km/h. Null if the device did not report it.
    #[schema(value_type = Option<f64>, example = 18.5)]
    speed: Option<Thousandths>,
    /// Direction of travel, in degrees clockwise from true north. Null if the device did not report it.
    #[schema(value_type = Option<f64>, example = 270.0, minimum = 0, maximum = 360)]
    course: Option<Thousandths>,
    /// Place of the location, in words. Present only in the last location, and with `place=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "22 km SW of Vigo, Spain")]
    place: Option<String>,
}

/// Text of a conversation in the public view of a share link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedText {
    /// Direction of the message. `in`: the device sent it; `out`: it was sent to the device.
    #[schema(example = "in", pattern = "^(in|out)$")]
    direction: &'static str,
    /// Text of the message.
    #[schema(example = "Rounded the cape, all well")]
    text: String,
    /// Time at which the message was sent.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
}

/// The most devices of a link whose conversations are shown.
const CONVERSATION_DEVICES: usize = 10;
/// The most messages of a conversation that are shown.
const CONVERSATION_TEXTS: usize = 50;

/// The most positions in the trails of all devices of an answer.
const TRAIL_POINTS: usize = 20_000;
/// The most positions in the trail of one device.
const DEVICE_POINTS: usize = 1_000;

/// The most devices of a link whose trips are shown: each is read on its own.
const TRIP_DEVICES: usize = 50;
/// The most trips of a device.
const DEVICE_TRIPS: u32 = 1_000;
/// How long ago the oldest trips may be, in seconds.
const TRIPS_SINCE_S: i64 = 31 * 86_400;

/// Number of devices read at a time: a device takes ten times the memory of its public view.
const PAGE_DEVICES: u32 = 500;

impl SharedAnswer {
    /// An answer without devices yet.
    fn new(link: &NewShare, account_name: Option<String>) -> Self {
        let (from, until) = (link.from.to_string(), link.until.to_string());
        Self { name: link.name.clone(), account_name, from, until, devices: Vec::new() }
    }

    /// Adds the devices of a page.
    async fn add(&mut self, app: &App, view: SharedView, page: PageKey) -> ApiResult<()> {
        let PageKey { trail, now, place, trips, conversation, .. } = page;
        let scope = Scope::for_share_link(&view.share);
        let link = view.share.link;
        let each = points_each(view.device_count);
        let since = trail.map(|since| since.max(link.from));
        let mut trails = match since {
            Some(since) => read_trails(app, scope, &view.devices.items, since, each).await?,
            None => HashMap::new(),
        };
        let shows_trips = trips && link.show_trips && view.device_count <= TRIP_DEVICES;
        let shown_until = link
            .conversation_delay_min
            .filter(|_| conversation && view.device_count <= CONVERSATION_DEVICES)
            .map(|delay_min| now.plus_seconds(-60 * i64::from(delay_min)));
        let since_trips = link.from.max(now.plus_seconds(-TRIPS_SINCE_S));
        for (device, last) in view.devices.items {
            let trips = if shows_trips {
                Some(read_trips(app, scope, device.id, (since_trips, now)).await?)
            } else {
                None
            };
            let conversation = match shown_until {
                Some(until) => Some(read_conversation(app, scope, device.id, (link.from, until)).await?),
                None => None,
            };
            let trail = since.map(|_| trails.remove(&device.id).unwrap_or_default());
            self.devices.push(SharedDevice {
                key: key(&link.secret, device.id),
                status: device.status(now).name(),
                name: device.settings.name,
                icon: device.settings.icon,
                last_location: last.map(|last| SharedLocation::described(last, place)),
                trail,
                trips,
                conversation,
            });
        }
        Ok(())
    }
}

/// The most positions in the trail of each of `devices` devices, at least one.
fn points_each(devices: usize) -> usize {
    (TRAIL_POINTS / devices.max(1)).clamp(1, DEVICE_POINTS)
}

/// A key that distinguishes a device from others of the link without revealing its ID in the account.
fn key(secret: &str, device: DeviceId) -> String {
    let digest = Sha256::digest(format!("{secret} {device}"));
    digest[..8].iter().fold(String::new(), |key, byte| format!("{key}{byte:02x}"))
}

/// The trail of each device that has one: its newest `most` locations since this time, without suspect ones, oldest
/// first.
async fn read_trails(
    app: &App,
    scope: Scope,
    devices: &[(Device, Option<StoredLocation>)],
    since: Timestamp,
    most: usize,
) -> ApiResult<HashMap<DeviceId, Vec<SharedLocation>>> {
    let has_trail =
        |last: &Option<StoredLocation>| last.as_ref().is_some_and(|last| last.location.time >= since);
    let devices = devices.iter().filter(|(_, last)| has_trail(last)).map(|(device, _)| device.id).collect();
    let request = HistoryRequest {
        range: TimeRange { from: since, to: Timestamp::MAX },
        order: Order::Descending,
        after: None,
        limit: u32::try_from(most).unwrap_or(u32::MAX),
    };
    let trails = app.store.list_trails(scope, devices, request).await?;
    let shown = |trail: Vec<StoredLocation>| {
        let trusted = trail.into_iter().rev().filter(|stored| !stored.trust.suspect);
        trusted.map(SharedLocation::from).collect()
    };
    Ok(trails.into_iter().map(|(device, trail)| (device, shown(trail))).collect())
}

/// The trips of a device between two instants, cut there. Positions are left out: those of a cut trip may be older than the
/// link shows.
async fn read_trips(
    app: &App,
    scope: Scope,
    device: DeviceId,
    (from, to): (Timestamp, Timestamp),
) -> ApiResult<Vec<SharedTrip>> {
    let (range, kind) = (TimeRange { from, to }, Some(SegmentKind::Trip));
    let page = match app.store.list_segments(scope, device, range, kind, DEVICE_TRIPS).await {
        // It was deleted meanwhile.
        Err(StoreError::NotFound(_)) => return Ok(Vec::new()),
        read => read?,
    };
    let trips: Vec<Segment> = page.segments.into_iter().map(|stored| stored.segment).collect();
    let shown = clip(&trips, from, to).into_iter().map(|trip| SharedTrip {
        from: trip.from.to_string(),
        to: trip.to.to_string(),
        distance: kilometres(trip.distance_m),
        moving_seconds: trip.moving_s,
    });
    Ok(shown.collect())
}

/// The newest texts of a conversation between two instants, oldest first. Messages that did not leave the service are left
/// out.
async fn read_conversation(
    app: &App,
    scope: Scope,
    device: DeviceId,
    (from, until): (Timestamp, Timestamp),
) -> ApiResult<Vec<SharedText>> {
    let is_shown = |message: &ConversationMessage| {
        let left = matches!(
            message.state,
            TextState::Received | TextState::HandedOver | TextState::Delivered | TextState::Answered
        );
        // A device may send a text long after it was written: the delay counts from its arrival.
        left && message.kind == TextKind::Text && message.time >= from && message.received_at <= until
    };
    let mut texts = Vec::new();
    let mut after = None;
    // A conversation has at most as many messages as four pages.
    for _ in 0..4 {
        let page = PageRequest { after, limit: 500 };
        let page = app.store.list_conversation(scope, device, page).await?;
        texts.extend(page.items.into_iter().filter(is_shown));
        after = page.next;
        if after.is_none() || texts.len() >= CONVERSATION_TEXTS {
            break;
        }
    }
    texts.truncate(CONVERSATION_TEXTS);
    let shown = texts.into_iter().rev().map(|message| SharedText {
        direction: message.direction.name(),
        text: message.text,
        date_time: message.time.to_string(),
    });
    Ok(shown.collect())
}

#[expect(clippy::cast_precision_loss, reason = "whole metres are exact up to 2^53")]
fn kilometres(metres: u64) -> f64 {
    metres as f64 / 1_000.0
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
    /// The location with its place in words, if there is a reader.
    fn described(stored: StoredLocation, reader: Option<Reader>) -> Self {
        let place = place_of(reader, stored.location.latitude, stored.location.longitude);
        Self { place, ..stored.into() }
    }
}

/// Open a share link
///
/// Returns the devices of a share link with their last locations. No authentication is required: the URL contains the
/// secret. A link that does not exist, is not valid yet, is expired or was revoked returns 404. Each `GET` request
/// counts as one view of the link. Requests are rate-limited by client address and by link.
///
/// To follow the devices, repeat the request every few seconds with `again=true`, which is not counted as a view, and
/// with `trail` set to the time of the newest known location.
#[utoipa::path(get, path = "/api/shared/{secret}", tag = "shares", security(()),
    params(
        ("trail" = Option<String>, Query, description = "Start of the trail: adds to each device its locations since this time, but none before `from` of the link. Default: no trails.", example = "2026-05-01T12:00:00Z"),
        ("place" = Option<bool>, Query, description = "`true` to add `place`, the position in words, to each last location. Default: `false`.", example = true),
        ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: English."),
        ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: metric."),
        ("trips" = Option<bool>, Query, description = "`true` to add `trips` to each device, if the link shows trips. Default: `false`.", example = true),
        ("conversation" = Option<bool>, Query, description = "`true` to add `conversation` to each device, if the link shows conversations. Default: `false`.", example = true),
        ("again" = Option<bool>, Query, description = "`true` if the same client has opened the link before; the request is then not counted as a view. Default: `false`.", example = false)),
    responses((status = 200, description = "Current view of the share link.", body = SharedAnswer)))]
pub async fn get_shared(
    State(app): State<App>,
    context: RequestContext,
    method: Method,
    TextPath(secret): TextPath,
    mut params: Params,
) -> ApiResult<Response> {
    let trail = params.parsed::<Timestamp>("trail", "a time such as 2026-05-01T12:00:00Z");
    let again = params.word("again", &[("true", true), ("false", false)]).unwrap_or_default();
    let trips = params.word("trips", &[("true", true), ("false", false)]).unwrap_or_default();
    let conversation = params.word("conversation", &[("true", true), ("false", false)]).unwrap_or_default();
    let wants_place = read_flag(&mut params);
    let (language, units) = read_reader(&mut params);
    params.finish()?;
    let place = wants_place.then(|| Reader {
        language: language.unwrap_or(ConsoleLanguage::English),
        units: units.unwrap_or_default(),
    });
    let now = app.clock.now();
    let rated = app.access.rates.bad_token(context.address(), false);
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "Too many invalid share links were opened from this IP address."));
    }
    let share = match Secret::parse(&secret) {
        Some(secret) => {
            let rated = app.access.rates.view(secret.expose(), context.address());
            if !rated.allowance.allowed {
                context.set_rated(rated);
                return Err(too_many(
                    rated,
                    "Share links were opened too often from this IP address, or this link was opened too often.",
                ));
            }
            app.store.find_open_share(secret.expose()).await?.map(|share| (share, rated))
        }
        None => None,
    };
    let Some((share, rated)) = share else {
        app.access.rates.bad_token(context.address(), true);
        return Err(not_found(Kind::Share));
    };
    context.set_rated(rated);
    if method != Method::HEAD && !again {
        app.counters.views.count(&share, now);
    }
    let end = app.store.event_end(Scope::for_share_link(&share)).await?;
    let key = PageKey { trail, end, now, place, trips, conversation };
    let make = make_page(app.clone(), share.link.secret.clone(), key);
    let link = OpenLink { secret: &share.link.secret, account: share.account };
    match app.live.share_cache.get(&app.tasks.runtime, link, key, make).await {
        Ok(page) => Ok(json_of_buffers([page.body])),
        Err(PageError::Build(error)) => Err(error),
        Err(PageError::Lost(error)) => Err(internal(error)),
        Err(PageError::Exhausted(exhausted)) => Err(exhausted.into()),
        Err(PageError::Busy) => Err(ApiError::new(
            ErrorCode::RateLimited,
            "This share link is opened too often. Wait a moment and open it again.",
        )
        .with_header(header::RETRY_AFTER, "2")),
    }
}

/// The encoded view of a link.
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
