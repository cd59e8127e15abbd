//! What an operator's tools ask: whether the process lives, whether it can serve, and its figures.

use std::sync::OnceLock;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use secrecy::ExposeSecret;

use crate::app::App;
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult, unavailable};
use crate::http::middleware::nothing_here;

/// How long the store may take to answer while the service counts as ready.
const PING_LIMIT: Duration = Duration::from_secs(2);
const EXPOSITION: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Seconds an answer takes: from a remembered read to a client that has given up.
const SECONDS: [f64; 12] = [0.000_25, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0];

/// The process lives.
pub async fn get_health() -> Response {
    state("{\"status\":\"ok\"}")
}

/// The service can do its work: the store answers.
pub async fn get_readiness(State(app): State<App>) -> ApiResult<Response> {
    match tokio::time::timeout(PING_LIMIT, app.store.ping()).await {
        Ok(Ok(())) => Ok(state("{\"status\":\"ready\"}")),
        Ok(Err(error)) => Err(ApiError::from(error)),
        Err(_elapsed) => Err(unavailable("the store did not answer within 2 s")),
    }
}

/// The figures, for those who may see them; for others there is nothing here.
pub async fn get_metrics(
    State(app): State<App>,
    context: RequestContext,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let secret = app.config.metrics.secret.expose_secret();
    let is_local = context.address().to_canonical().is_loopback() && !is_forwarded(&headers);
    if !is_local && !bears(&headers, secret) {
        return Err(nothing_here());
    }
    let figures = recorder().map(PrometheusHandle::render).unwrap_or_default();
    Ok(([(header::CONTENT_TYPE, EXPOSITION), (header::CACHE_CONTROL, NO_STORE)], figures).into_response())
}

fn state(json: &'static str) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, JSON), (header::CACHE_CONTROL, NO_STORE)], json).into_response()
}

/// Whether somebody passed the request on. A proxy on this machine that nobody told us to trust would make the
/// whole world look local.
fn is_forwarded(headers: &HeaderMap) -> bool {
    const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
    [FORWARDED_FOR, header::FORWARDED, header::VIA].iter().any(|name| headers.contains_key(name))
}

fn bears(headers: &HeaderMap, secret: &str) -> bool {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.as_bytes().split_at_checked("Bearer ".len()))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer "))
        .map(|(_, given)| given);
    let same = |given| aws_lc_rs::constant_time::verify_slices_are_equal(given, secret.as_bytes()).is_ok();
    !secret.is_empty() && given.is_some_and(same)
}

/// The recorder of this process, installed when it is first asked for. None when another one is in place.
pub fn recorder() -> Option<&'static PrometheusHandle> {
    static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || {
        PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
            .ok()?
            .install_recorder()
            .ok()
    };
    RECORDER.get_or_init(install).as_ref()
}
