//! CORS for the origins in `server.cors_origins`; off by default. Credentials are never allowed, so that a page of
//! another origin needs a token.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";
const REQUEST_HEADERS: &str = "Accept, Authorization, Content-Encoding, Content-Type, Idempotency-Key, If-Match, \
     If-None-Match, Last-Event-ID";
const ANSWER_HEADERS: &str = "Api-Version, Content-Disposition, Deprecation, ETag, Link, Location, RateLimit, \
     RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id";
/// `Access-Control-Max-Age` in seconds. Some browsers cap it at two hours.
const MAX_AGE_S: &str = "7200";

/// The CORS decision about one request.
#[derive(Debug)]
pub(super) struct CrossOrigin {
    /// Whether any origin is configured, so that answers vary by `Origin`.
    applies: bool,
    /// The request's origin, if it is allowed.
    allowed: Option<HeaderValue>,
}

impl CrossOrigin {
    /// Compares the request's `Origin` with the allowed ones.
    pub(super) fn of(request: &Request, origins: &[String]) -> Self {
        let path = request.uri().path();
        let applies = !origins.is_empty() && (path.starts_with("/api/") || path.starts_with("/.well-known/"));
        let origin = request.headers().get(header::ORIGIN).filter(|_| applies);
        let is_named =
            |origin: &&HeaderValue| origins.iter().any(|named| named.as_bytes() == origin.as_bytes());
        Self { applies, allowed: origin.filter(is_named).cloned() }
    }

    /// The answer to a preflight request; None if the request is not one.
    pub(super) fn preflight(&self, request: &Request) -> Option<Response> {
        let asks = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if self.allowed.is_none() || request.method() != Method::OPTIONS || !asks {
            return None;
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE_S));
        Some(response)
    }

    /// Adds the CORS headers for an allowed origin, and `Vary: Origin` for caches.
    pub(super) fn add_headers(self, headers: &mut HeaderMap) {
        if self.applies {
            headers.append(header::VARY, HeaderValue::from_static("origin"));
        }
        if let Some(origin) = self.allowed {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(ANSWER_HEADERS));
        }
    }
}
