//! What a share link shows, to whoever has it.

use axum::extract::State;
use http::Method;
use perigee_core::device::Device;
use perigee_core::error::Kind;
use perigee_core::location::{Milli, StoredLocation};
use perigee_core::store::SharedView;
use perigee_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::{App, too_many};
use crate::auth::Secret;
use crate::http::context::RequestContext;
use crate::http::error::{ApiResult, not_found};
use crate::http::extract::{Params, TextPath};
use crate::http::reply::Reply;

/// A live view of what was shared: names and positions, nothing else of the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SharedView)]
pub struct SharedAnswer {
    /// What the link is for.
    #[schema(example = "Delivery to Vigo", max_length = 200)]
    name: Option<String>,
    /// From when the link shows anything.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    from: String,
    /// From when it shows nothing any more.
    #[schema(example = "2026-05-08T12:00:00Z", format = DateTime)]
    until: String,
    /// The devices.
    devices: Vec<SharedDevice>,
}

/// A device as a share link shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedDevice {
    /// Its name.
    #[schema(example = "Northern Star", min_length = 1, max_length = 200)]
    name: String,
    /// Whether it reports as it should: `online`, `late`, `offline` or `never`.
    #[schema(example = "online", pattern = "^(online|late|offline|never)$")]
    status: &'static str,
    /// Where it was last; null when it has not been anywhere since `from`.
    last_location: Option<SharedLocation>,
}

/// A position as a share link shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedLocation {
    /// When it was there.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// Degrees north.
    #[schema(example = 42.2406, minimum = -90, maximum = 90)]
    latitude: f64,
    /// Degrees east.
    #[schema(example = -8.7207, minimum = -180, maximum = 180)]
    longitude: f64,
    /// Kilometres an hour.
    #[schema(example = 18.5)]
    speed: Option<f64>,
    /// Degrees from true north.
    #[schema(example = 270.0, minimum = 0, maximum = 360)]
    course: Option<f64>,
}

impl SharedAnswer {
    fn of(view: SharedView, now: Timestamp) -> Self {
        let link = view.share.link;
        Self {
            name: link.name,
            from: link.from.to_string(),
            until: link.until.to_string(),
            devices: view.devices.into_iter().map(|device| SharedDevice::of(device, now)).collect(),
        }
    }
}

impl SharedDevice {
    fn of((device, last): (Device, Option<StoredLocation>), now: Timestamp) -> Self {
        Self {
            status: device.status(now).name(),
            name: device.settings.name,
            last_location: last.map(SharedLocation::from),
        }
    }
}

impl From<StoredLocation> for SharedLocation {
    fn from(stored: StoredLocation) -> Self {
        let location = stored.location;
        Self {
            date_time: location.time.to_string(),
            latitude: location.latitude.as_degrees(),
            longitude: location.longitude.as_degrees(),
            speed: location.readings.speed.map(Milli::as_f64),
            course: location.readings.course.map(Milli::as_f64),
        }
    }
}

/// Open a share link.
///
/// Needs no token: the address is the secret. A link that does not exist, is not open yet, is over or was taken
/// back is answered alike. Openings are counted, and limited by address and by link.
#[utoipa::path(get, path = "/api/shared/{secret}", tag = "shares", security(()),
    params(("secret" = String, Path, description = "The last part of the link's `url`.", example = "q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")),
    responses((status = 200, description = "What the link shows now.", body = SharedAnswer)))]
pub async fn get_shared(
    State(app): State<App>,
    context: RequestContext,
    method: Method,
    TextPath(secret): TextPath,
    params: Params,
) -> ApiResult<Reply<SharedAnswer>> {
    params.finish()?;
    let now = app.clock.now();
    let rated = app.rates.bad_token(context.address(), now, false);
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "Too many addresses that show nothing were tried from here."));
    }
    let view = match Secret::parse(&secret) {
        Some(secret) => {
            let rated = app.rates.view(secret.expose(), context.address(), now);
            if !rated.allowance.allowed {
                context.set_rated(rated);
                return Err(too_many(rated, "Share links are opened too often."));
            }
            app.store.open_share(secret.expose()).await?.map(|view| (view, rated))
        }
        None => None,
    };
    let Some((view, rated)) = view else {
        app.rates.bad_token(context.address(), now, true);
        return Err(not_found(Kind::Share));
    };
    context.set_rated(rated);
    if method != Method::HEAD {
        app.views.count(&view.share, now);
    }
    Ok(Reply::new(None, SharedAnswer::of(view, now)))
}
