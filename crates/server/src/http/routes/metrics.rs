//! `/metrics` for Prometheus: open to loopback, to requests with the secret, or on a separate listener.

use std::net::IpAddr;

use axum::Router;
use axum::extract::OriginalUri;
use axum::routing::get;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use metrics_exporter_prometheus::PrometheusHandle;
use secrecy::ExposeSecret;

use crate::auth::same_bytes;
use crate::http::context::RequestContext;
use crate::http::middleware::nothing_here;
use crate::http::prelude::*;
use crate::recorder::recorder;

const EXPOSITION: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Headers that proxies add to requests they forward.
const FORWARDING: [HeaderName; 6] = [
    header::FORWARDED,
    header::VIA,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
];

/// The metrics, for clients that may read them; for others the path does not exist.
pub async fn get_metrics(
    State(app): State<App>,
    context: RequestContext,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let settings = &app.config.metrics;
    let is_local = settings.listen.is_empty()
        && context.address().to_canonical().is_loopback()
        && names_loopback(uri.authority(), &headers)
        && !is_forwarded(&headers);
    if !is_local && !sends_secret(&headers, settings.secret.expose_secret()) {
        return Err(nothing_here());
    }
    Ok(render_metrics())
}

/// The router of the separate listener for metrics. Clients must send the secret if one is set.
pub fn metrics_router(app: App) -> Router {
    Router::new().route("/metrics", get(get_metrics_alone)).with_state(app)
}

async fn get_metrics_alone(State(app): State<App>, headers: HeaderMap) -> Response {
    let secret = app.config.metrics.secret.expose_secret();
    if secret.is_empty() || sends_secret(&headers, secret) {
        return render_metrics();
    }
    (
        StatusCode::UNAUTHORIZED,
        [(header::WWW_AUTHENTICATE, "Bearer")],
        "Send the value of metrics.secret as a bearer token.\n",
    )
        .into_response()
}

fn render_metrics() -> Response {
    let text = recorder().map(PrometheusHandle::render).unwrap_or_default();
    ([(header::CONTENT_TYPE, EXPOSITION), (header::CACHE_CONTROL, NO_STORE)], text).into_response()
}

/// Whether the request names the host as `localhost` or a loopback address. A proxy on this machine forwards the public
/// host name, even when it adds no header of its own.
fn names_loopback(authority: Option<&Authority>, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter().map(|host| host.to_str().ok()?.parse().ok());
    let named: Option<Authority> = match (authority, hosts.next()) {
        (Some(authority), _) => Some(authority.clone()),
        (None, first) => first.flatten(),
    };
    hosts.next().is_none() && named.is_some_and(|named| is_loopback_name(named.host()))
}

fn is_loopback_name(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Whether a proxy forwarded the request. Through a proxy on this machine that is not configured as trusted, every
/// client would look local.
fn is_forwarded(headers: &HeaderMap) -> bool {
    FORWARDING.iter().any(|name| headers.contains_key(name))
}

fn sends_secret(headers: &HeaderMap, secret: &str) -> bool {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.as_bytes().split_at_checked("Bearer ".len()))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer "))
        .map(|(_, given)| given);
    !secret.is_empty() && given.is_some_and(|given| same_bytes(given, secret.as_bytes()))
}
