//! The Content-Security-Policy of the console.

use axum::response::Response;
use http::{HeaderName, HeaderValue, header};

use crate::config::Map;

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
/// The page asks where its reader is to find the nearest device, and for nothing else.
const PERMISSIONS: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(self), gyroscope=(), \
     hid=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()";

/// What browsers are told with every file of the console. A worker obeys the policy of its own file, so that it stands
/// on all of them.
#[derive(Clone, Debug)]
pub(super) struct PagePolicy {
    content: HeaderValue,
}

impl PagePolicy {
    /// Nothing inline, nothing evaluated, nothing from elsewhere but the operator's tiles.
    pub(super) fn new(map: &Map) -> Self {
        let tiles = map.tile_origin().map(|origin| format!(" {origin}")).unwrap_or_default();
        let content = format!(
            "default-src 'self'; script-src 'self'; style-src 'self'; font-src 'self'; worker-src 'self'; \
             img-src 'self' data: blob:; connect-src 'self'{tiles}; object-src 'none'; base-uri 'self'; \
             form-action 'self'; frame-ancestors 'none'"
        );
        // An origin is ASCII without spaces, so it is always a valid header value.
        let content = HeaderValue::try_from(content)
            .unwrap_or_else(|_never| HeaderValue::from_static("default-src 'self'"));
        Self { content }
    }

    /// Tells it with this answer.
    pub(super) fn put_on(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, self.content.clone());
        headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(PERMISSIONS_POLICY, HeaderValue::from_static(PERMISSIONS));
        response
    }
}
