//! Garmin's `MapShare` pages: KML of the messages between two instants.

use perigee_core::time::Timestamp;
use perigee_gateways::setting::SettingError;
use perigee_gateways::{FeedDecoded, Options};
use url::Url;

use super::options;
use super::provider::{Context, Provider, Request, Step, newest};
use super::window::Window;
use crate::webhook::{Credentials, Guard, Refused};

/// Base URL of the pages; the setting `url` replaces it.
const BASE: &str = "https://share.garmin.com/Feed/Share";
/// Seconds between requests while a gap is closed.
const CATCH_UP_WAIT_S: i64 = 30;
/// Seconds to wait after a refusal: Garmin blocks clients that fetch too often, for an hour.
const BLOCKED_S: i64 = 3_600;

pub(super) const MAPSHARE: Provider = Provider {
    feed: "garmin-mapshare",
    spacing_s: 0,
    refused_s: BLOCKED_S,
    retry_s: 240,
    check,
    request,
    step,
    shorter: |context| Some(Window::read(context).shorter().cursor()),
};

fn address(options: &Options, guard: &Guard) -> Result<Url, SettingError> {
    let name = options::text(options, "mapShare")?;
    if name.contains(['/', '?', '#', '%', '\\']) || name.starts_with('.') {
        let problem = "must be the name at the end of the URL of the MapShare page";
        return Err(options::invalid("mapShare", problem));
    }
    let mut url = options::url(options.text("url").unwrap_or(BASE), guard)?;
    match url.path_segments_mut() {
        Ok(mut segments) => drop(segments.pop_if_empty().push(name)),
        Err(()) => return Err(options::invalid("url", Refused::NotWeb.to_string())),
    }
    Ok(url)
}

fn check(options: &Options, guard: &Guard) -> Result<(), SettingError> {
    address(options, guard).map(drop)
}

/// A date as `MapShare` reads it, to the second.
fn date(instant: Timestamp) -> String {
    Timestamp::from_millis(instant.as_seconds() * 1000).to_string()
}

fn request(context: &Context<'_>) -> Result<Request, SettingError> {
    let mut url = address(context.options, context.guard)?;
    let span = Window::read(context).span(context.now);
    let pairs = [("d1", date(span.from)), ("d2", date(span.to.plus_seconds(1)))];
    url.query_pairs_mut().extend_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str())));
    let credentials = match context.options.text("password") {
        // MapShare has a password and no user.
        Some(password) => Credentials::Basic { user: String::new(), password: password.to_owned() },
        None => Credentials::None,
    };
    Ok(Request { url, credentials })
}

fn step(context: &Context<'_>, decoded: &FeedDecoded) -> Step {
    let window = Window::read(context);
    let span = window.span(context.now);
    let wait_s =
        if span.to < context.now { CATCH_UP_WAIT_S } else { usual_wait_s(newest(decoded), context.now) };
    Step { cursor: window.after(span).cursor(), complete_to: Some(span.to), wait_s }
}

/// Seconds until the next request, from 4 minutes to an hour: the longer a device has been silent, the longer the wait.
fn usual_wait_s(newest: Option<Timestamp>, now: Timestamp) -> i64 {
    match newest.map(|newest| now.as_seconds() - newest.as_seconds()) {
        Some(..1_800) => 240,
        Some(..21_600) => 900,
        _ => 3_600,
    }
}
