//! The Content-Security-Policy of the console.

use axum::response::Response;
use http::{HeaderName, HeaderValue, header};

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
/// The page uses the position of its user to find the nearest device, and no other permission.
const PERMISSIONS: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(self), gyroscope=(), \
     hid=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()";

/// Headers that are sent with every file of the console. A worker obeys the policy of its own file, so all files have
/// it.
#[derive(Clone, Debug)]
pub(super) struct PagePolicy {
    content: HeaderValue,
    /// The same for pages of share links, which may be embedded in pages of others. Cookies of the console are not sent
    /// from there (`SameSite=Strict`), so such a page can show only what the link shows.
    embedded: HeaderValue,
}

impl PagePolicy {
    /// Forbids inline code, evaluated code and other hosts, except these origins of the operator tiles.
    pub(super) fn new(tile_origins: &[String]) -> Self {
        let tiles = tile_origins.iter().fold(String::new(), |tiles, origin| format!("{tiles} {origin}"));
        let policy = format!(
            "default-src 'self'; script-src 'self'; style-src 'self'; font-src 'self'; worker-src 'self'; \
             img-src 'self' data: blob:; connect-src 'self'{tiles}; object-src 'none'; base-uri 'self'; \
             form-action 'self'; frame-ancestors"
        );
        // An origin is ASCII without spaces, so it is always a valid header value.
        let framed_by = |who: &str| {
            HeaderValue::try_from(format!("{policy} {who}"))
                .unwrap_or_else(|_never| HeaderValue::from_static("default-src 'self'"))
        };
        Self { content: framed_by("'none'"), embedded: framed_by("*") }
    }

    /// Adds the headers to an answer.
    pub(super) fn put_on(&self, mut response: Response, may_be_framed: bool) -> Response {
        let headers = response.headers_mut();
        let policy = if may_be_framed { &self.embedded } else { &self.content };
        headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
        headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(PERMISSIONS_POLICY, HeaderValue::from_static(PERMISSIONS));
        response
    }
}
