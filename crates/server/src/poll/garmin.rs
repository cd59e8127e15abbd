//! Garmin IPC Inbound: the history of devices, which closes the gap that an outage leaves in IPC Outbound.

use perigee_core::time::Timestamp;
use perigee_gateways::setting::SettingError;
use perigee_gateways::{FeedDecoded, Options};
use serde_json::Value as Json;
use url::Url;

use super::options;
use super::provider::{Context, Provider, Request, Step};
use super::window::Window;
use crate::webhook::{Credentials, Guard};

/// Seconds between requests while a gap is closed, and between devices.
const CATCH_UP_WAIT_S: i64 = 5;
/// Seconds between requests otherwise. Outbound delivers messages immediately; this finds those that it lost.
const USUAL_WAIT_S: i64 = 900;
/// Maximum number of devices of one gateway.
const DEVICES_MAX: usize = 500;

pub(super) const HISTORY: Provider = Provider {
    feed: "garmin-history",
    spacing_s: 0,
    refused_s: 3_600,
    retry_s: 60,
    check,
    request,
    step,
    shorter: |context| Some(Window::read(context).shorter().cursor()),
};

fn imeis(options: &Options) -> Result<Vec<String>, SettingError> {
    let list = options.get("imeis").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let imeis: Option<Vec<String>> = list
        .iter()
        .map(|imei| Some(imei.as_str()?.trim().to_owned()).filter(|imei| imei.len() == 15))
        .map(|imei| imei.filter(|imei| imei.bytes().all(|byte| byte.is_ascii_digit())))
        .collect();
    imeis.filter(|imeis| (1..=DEVICES_MAX).contains(&imeis.len())).ok_or_else(|| {
        let problem = format!("must be an array of 1 to {DEVICES_MAX} IMEIs, each a string of 15 digits");
        options::invalid("imeis", problem)
    })
}

fn credentials(options: &Options) -> Result<Credentials, SettingError> {
    if let Some(key) = options.text("apiKey") {
        return Ok(Credentials::Header { name: "x-api-key", value: key.to_owned() });
    }
    match (options.text("user"), options.text("password")) {
        (Some(user), Some(password)) => {
            Ok(Credentials::Basic { user: user.to_owned(), password: password.to_owned() })
        }
        _ => Err(options::invalid("apiKey", "is required unless \"user\" and \"password\" are given")),
    }
}

fn address(options: &Options, guard: &Guard) -> Result<Url, SettingError> {
    options::url(options::text(options, "url")?, guard)
}

fn check(options: &Options, guard: &Guard) -> Result<(), SettingError> {
    address(options, guard)?;
    credentials(options)?;
    imeis(options).map(drop)
}

fn date(instant: Timestamp) -> String {
    Timestamp::from_millis(instant.as_seconds() * 1000).to_string()
}

fn request(context: &Context<'_>) -> Result<Request, SettingError> {
    let imeis = imeis(context.options)?;
    let window = Window::read(context);
    let span = window.span(context.now);
    let imei = imeis.get(window.part).or_else(|| imeis.first()).map(String::as_str).unwrap_or_default();
    let mut url = address(context.options, context.guard)?;
    url.query_pairs_mut()
        .append_pair("start", &date(span.from))
        .append_pair("end", &date(span.to.plus_seconds(1)))
        .append_pair("IMEI", imei);
    Ok(Request { url, credentials: credentials(context.options)? })
}

fn step(context: &Context<'_>, _decoded: &FeedDecoded) -> Step {
    let window = Window::read(context);
    let span = window.span(context.now);
    let devices = imeis(context.options).map_or(1, |imeis| imeis.len());
    if window.part + 1 < devices {
        return Step { cursor: window.after_part(span).cursor(), complete_to: None, wait_s: CATCH_UP_WAIT_S };
    }
    let is_behind = span.to.plus_seconds(USUAL_WAIT_S) < context.now;
    let wait_s = if is_behind { CATCH_UP_WAIT_S } else { USUAL_WAIT_S };
    Step { cursor: window.after(span).cursor(), complete_to: Some(span.to), wait_s }
}
