//! The outermost layer: request id, log line, metrics, common headers, and the body of every error.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use axum::body::HttpBody;
use axum::extract::{FromRequestParts as _, MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use perigee_core::access::audit::Refusals;
use tokio::time::{Duration, Instant};
use tracing::Instrument;

use super::cors::CrossOrigin;
use super::problem;
use super::query::KnownOperations;
use super::redact::{method_label, redacted_path};
use crate::app::App;
use crate::http::accept::Accept;
use crate::http::authenticate::has_credentials;
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult, chain, internal, invalid_header};
use crate::http::error_code::ErrorCode;
use crate::http::extract::Caller;
use crate::http::format::is_negotiated;
use crate::serve::AmbiguousHost;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const API_VERSION: HeaderName = HeaderName::from_static("api-version");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// The Content-Security-Policy of the server's pages: nothing from other hosts, nothing inline.
const CONTENT_SECURITY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

/// The most bytes in path and query.
const ADDRESS_MAX: usize = 8_192;

/// The state of this layer.
#[derive(Clone)]
pub struct Framing {
    /// Settings, limits and metrics of the service.
    pub app: App,
    /// The operations of the document, by method and route.
    pub known: KnownOperations,
}

/// Handles everything that all requests share. It is a single layer because each layer costs allocations per
/// request, and memory while a request waits for a commit.
pub async fn frame(
    State(Framing { app, known }): State<Framing>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let context = RequestContext::new(request.extensions());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|matched| matched.as_str().to_owned());
    let path = redacted_path(request.uri().path(), route.as_deref());
    request.extensions_mut().insert(context.clone());

    let cross_origin = CrossOrigin::of(&request, &app.config.server.cors_origins);
    let route_name = route.as_deref();
    let mut checked = check_head(&request)
        .and_then(|()| check_accept(&request, route_name))
        .and_then(|()| known.check(&request, route_name));
    let is_unanswered = checked.is_err() || known.is_unanswered(&request, route_name);
    if is_unanswered && known.counts(&request, route_name) {
        checked = identify(&app, &mut request).await.and(checked);
    }
    let mut response = match (checked, cross_origin.preflight(&request)) {
        (Err(error), _) => error.into_response(),
        (Ok(()), Some(preflight)) => preflight,
        (Ok(()), None) => run(request, next, &context).await,
    };
    let error = response.extensions_mut().remove::<ApiError>().or_else(|| bare_error(&response));
    if let Some(error) = &error {
        log_cause(error, &context, &method, &path);
        let allow = response.headers().get(header::ALLOW).cloned();
        response = problem::render(error, &context, &path);
        if let Some(allow) = allow {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        audit_denial(&app, error, &context, &method, (route_name, &path));
    }
    if path.starts_with("/api") {
        add_api_headers(response.headers_mut(), &app, &context);
    } else if route_name.is_some_and(has_secret) {
        // Shared computers and proxies must not keep what a secret link shows.
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    add_common_headers(response.headers_mut(), &context, app.base_url.is_secure());
    cross_origin.add_headers(response.headers_mut());

    let status = response.status().as_u16();
    let elapsed = started.elapsed();
    let route = route.unwrap_or_else(|| "(none)".to_owned());
    metrics::histogram!("perigee_http_request_seconds", "method" => method_label(&method), "route" => route, "status" => status.to_string())
        .record(elapsed.as_secs_f64());
    log_answer(&context, &method, &path, status, error.as_ref(), elapsed);
    response
}

/// Authenticates and counts a request that no handler answers, so that its error has usage counts like any other
/// answer. A request without a token or a session is not counted.
async fn identify(app: &App, request: &mut Request) -> ApiResult<()> {
    if !has_credentials(request.headers()) {
        return Ok(());
    }
    let (mut parts, body) = std::mem::take(request).into_parts();
    let caller = Caller::from_request_parts(&mut parts, app).await;
    *request = Request::from_parts(parts, body);
    caller.map(drop)
}

/// Whether the path of this route contains a secret that gives access without signing in.
fn has_secret(route: &str) -> bool {
    ["/a/{", "/mail/{", "/gateways/{", "/password"].iter().any(|start| route.starts_with(start))
}

/// Runs the handler. A panic fails only this request, with 500.
async fn run(request: Request, next: Next, context: &RequestContext) -> Response {
    let answered = next.run(request).instrument(tracing::error_span!("request", id = context.id()));
    // Only the context is used after a panic, and it is consistent at any time.
    let outcome = AssertUnwindSafe(answered).catch_unwind().await;
    outcome.unwrap_or_else(|panic| of_panic(&*panic).into_response())
}

/// Logs an answer: errors at a visible level, the rest at debug (`perigee_server=debug`), because thousands of
/// submissions a second would flood the log.
fn log_answer(
    context: &RequestContext,
    method: &Method,
    path: &str,
    status: u16,
    error: Option<&ApiError>,
    elapsed: Duration,
) {
    if error.is_none() && !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    let (request, address) = (context.id(), context.address());
    let account = context.caller().map(|(account, _, _)| account.to_string());
    let user = context.caller().map(|(_, user, _)| user.to_string());
    if let Some(code) = error.map(|error| error.code.name()) {
        tracing::info!(request, %method, path, status, code, %address, account, user, micros, "refused");
    } else {
        tracing::debug!(request, %method, path, status, %address, account, user, micros, "answered");
    }
}

/// Refuses a request whose path and query are too long or whose host is ambiguous.
fn check_head(request: &Request) -> ApiResult<()> {
    let address = request.uri().path_and_query().map_or("", |address| address.as_str());
    if address.len() > ADDRESS_MAX {
        return Err(ApiError::new(ErrorCode::AddressTooLong, problem::ADDRESS_TOO_LONG));
    }
    if request.extensions().get::<AmbiguousHost>().is_some() {
        return Err(invalid_header("The request must have the header Host exactly once."));
    }
    Ok(())
}

/// Refuses with 406, before the handler runs, a client that does not accept JSON where there is no other format.
fn check_accept(request: &Request, route: Option<&str>) -> ApiResult<()> {
    let is_data = request.uri().path().starts_with("/api/") && !request.uri().path().starts_with("/api/docs");
    let is_negotiated = route.is_some_and(|route| is_negotiated(request.method(), route));
    let accept = Accept::of(request.headers());
    let accepts_json =
        ["application/json", "application/problem+json"].iter().any(|media| accept.quality(media) > 0);
    if !is_data || is_negotiated || accepts_json {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::NotAcceptable,
        "This operation answers only with JSON. Send \"Accept: application/json\", or no Accept header.",
    ))
}

fn bare_error(response: &Response) -> Option<ApiError> {
    let is_bare = response.status().is_client_error()
        && response.headers().get(header::CONTENT_TYPE).is_none_or(|kind| {
            // Plain texts are the framework's own errors.
            kind.as_bytes().starts_with(b"text/plain")
        });
    if is_bare || (response.status().is_client_error() && response.body().size_hint().exact() == Some(0)) {
        problem::of_bare_status(response.status())
    } else {
        None
    }
}

fn of_panic(panic: &(dyn Any + Send)) -> ApiError {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
    internal(format!("the handler panicked: {}", message.unwrap_or("(no message)")))
}

fn log_cause(error: &ApiError, context: &RequestContext, method: &Method, path: &str) {
    if error.code.status().is_server_error() {
        let cause = error.cause.as_deref().map(|cause| chain(cause.as_ref()));
        tracing::error!(request = context.id(), %method, path, code = error.code.name(), cause, "request failed");
    }
}

/// Counts a denied request of an authenticated user for the audit log: one entry an hour for each user and
/// operation, whatever the ids in the path.
fn audit_denial(
    app: &App,
    error: &ApiError,
    context: &RequestContext,
    method: &Method,
    (route, path): (Option<&str>, &str),
) {
    let Some((account, user, via)) = context.caller() else { return };
    if error.code != ErrorCode::Forbidden {
        return;
    }
    let (action, now) = ("request.denied", app.clock.now());
    app.counters.refusals.add(Refusals {
        account,
        kind: format!("{action} {user} {} {method} {}", via.name(), route.unwrap_or_default()),
        origin: context.origin(via, Some(user)),
        action: action.to_owned(),
        target: Some(format!("{method} {path}")),
        detail: Some(error.message.clone()),
        count: 1,
        first_at: now,
        last_at: now,
    });
}

fn add_api_headers(headers: &mut HeaderMap, app: &App, context: &RequestContext) {
    headers.insert(API_VERSION, HeaderValue::from_static("1"));
    let rated = context.rated().unwrap_or_else(|| app.access.rates.bad_token(context.address(), false));
    let policy = format!("\"{}\";q={};w={}", rated.policy, rated.quota.burst, rated.quota.window_s());
    let left = format!("\"{}\";r={};t={}", rated.policy, rated.allowance.remaining, rated.allowance.wait_s);
    insert(headers, RATE_LIMIT_POLICY, policy);
    insert(headers, RATE_LIMIT, left);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

fn add_common_headers(headers: &mut HeaderMap, context: &RequestContext, secure: bool) {
    insert(headers, REQUEST_ID, context.id().to_owned());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let policy =
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(CONTENT_SECURITY));
    // Pages of share links may be framed; old browsers support only `X-Frame-Options`.
    if !policy.as_bytes().ends_with(b"frame-ancestors *") {
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    if secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: String) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}
