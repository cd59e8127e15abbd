//! JSON bodies, limited in size before they are read and parsed strictly.

use axum::extract::{FromRequest, Request};
use http::{HeaderMap, header};
use perigee_core::json_size::JsonSize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::change::unnest;
use super::receive::read_body;
use crate::app::App;
use crate::budget::{Payer, Permit, UntrustedBytes};
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult, internal, malformed_json};
use crate::http::error_code::ErrorCode;
use crate::http::json::{Parsed, Unread, parse_bounded};

/// Maximum size of an ordinary body, in bytes.
pub const BODY_MAX: usize = 1024 * 1024;
/// Maximum number of JSON values in an ordinary body; the largest resource, a geofence, has far fewer.
pub const BODY_VALUES_MAX: usize = 100_000;
/// Maximum size of a body of locations or alerts, also after decompression, in bytes.
pub const SUBMISSION_MAX: usize = 8 * 1024 * 1024;
/// Maximum size of a body with credentials, which clients send before they are authenticated, in bytes.
pub const CREDENTIALS_MAX: usize = 8 * 1024;
/// Memory of a parsed value in bytes, without its text.
pub(super) const VALUE_BYTES: usize = 80;
/// The same where every value is in an object of its own.
pub(super) const VALUE_BYTES_MAX: usize = 400;
/// Bodies up to this many bytes are parsed on the connection's thread, larger ones on a blocking thread.
const INLINE_MAX: usize = 16 * 1024;

/// A JSON body and the hash of its bytes, which an idempotency key is bound to.
#[derive(Debug)]
pub struct JsonBody {
    /// The body as JSON, without duplicate members.
    pub value: Value,
    /// SHA-256 of the bytes as they were sent.
    pub hash: [u8; 32],
    /// Accounts for the memory of `value`.
    pub(super) permit: Permit,
}

/// A JSON body of a few kilobytes from an unauthenticated client.
#[derive(Debug)]
pub struct Credentials(pub JsonBody);

/// Why a body was not read.
#[derive(Debug)]
pub(super) enum Refused {
    /// It has too many JSON values, and is valid as far as it was parsed.
    TooLarge(ApiError),
    /// Any other error: not JSON, too large, too slow.
    Other(ApiError),
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::TooLarge(error) | Refused::Other(error) => error,
        }
    }
}

impl FromRequest<App> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> ApiResult<Self> {
        Self::read(request, app, BODY_MAX).await
    }
}

impl FromRequest<App> for Credentials {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> ApiResult<Self> {
        JsonBody::read(request, app, CREDENTIALS_MAX).await.map(Self)
    }
}

impl JsonBody {
    /// The same body without the member that answers wrap it in, so that a client can send an answer back.
    #[must_use]
    pub fn nested(mut self, member: &str) -> Self {
        if let Some(inner) = unnest(&mut self.value, member) {
            self.value = inner;
        }
        self
    }

    async fn read(request: Request, app: &App, limit: usize) -> ApiResult<Self> {
        expect_media_type(request.headers(), &["application/json"])?;
        expect_no_coding(request.headers())?;
        let payer = payer(request.extensions())?;
        let received = read_body(request.into_body(), limit, &app.budget.bodies, payer).await?;
        Ok(Self::parse(app, received).await?)
    }

    /// Parses the bytes and accounts for the memory of the result.
    pub(super) async fn parse(app: &App, mut received: UntrustedBytes) -> Result<Self, Refused> {
        let parse = |bytes: &[u8]| (parse_bounded(bytes, BODY_VALUES_MAX), Sha256::digest(bytes).into());
        let (parsed, hash) = if received.len() <= INLINE_MAX {
            received.read_here(parse)
        } else {
            // Parsing stops at the maximum number of values.
            let memory = received.read_here(JsonSize::of).bytes.min(BODY_VALUES_MAX * VALUE_BYTES_MAX);
            let parsed = received.read(&app.budget, memory, parse).await.map_err(ApiError::from)?;
            received.hold(memory).map_err(ApiError::from)?;
            parsed
        };
        let Parsed { value, .. } = parsed.map_err(unread)?;
        Ok(Self { value, hash, permit: received.into_permit() })
    }
}

fn unread(unread: Unread) -> Refused {
    if unread.is_too_large {
        Refused::TooLarge(ApiError::new(ErrorCode::BodyTooLarge, unread.problem.detail))
    } else {
        Refused::Other(malformed_json(unread.problem))
    }
}

/// The payer that the request's memory and work are charged to.
pub(super) fn payer(extensions: &http::Extensions) -> ApiResult<Payer> {
    let context = extensions.get::<RequestContext>();
    context.map(RequestContext::payer).ok_or_else(|| internal("the request has no context"))
}

/// Refuses a body of another media type, and one declared in another charset than UTF-8.
pub(super) fn expect_media_type(headers: &HeaderMap, accepted: &[&str]) -> ApiResult<()> {
    let media = media_type(headers);
    if !is_utf8(headers) {
        return Err(ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "Send the body in UTF-8, with \"charset=utf-8\" or without a charset.",
        ));
    }
    if accepted.iter().any(|accepted| media.eq_ignore_ascii_case(accepted)) {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::UnsupportedMediaType,
        format!("Send the body with \"Content-Type: {}\".", accepted.join("\" or \"")),
    ))
}

/// Whether the declared charset is UTF-8, or none is declared.
fn is_utf8(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').skip(1).filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
        let value = value.trim().trim_matches('"');
        !name.trim().eq_ignore_ascii_case("charset")
            || value.eq_ignore_ascii_case("utf-8")
            || value.eq_ignore_ascii_case("utf8")
    })
}

/// The media type as it was given, without parameters; empty if there is none.
pub(super) fn media_type(headers: &HeaderMap) -> &str {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim()
}

/// Refuses a body with a `Content-Encoding`.
pub(super) fn expect_no_coding(headers: &HeaderMap) -> ApiResult<()> {
    match headers.get(header::CONTENT_ENCODING) {
        None => Ok(()),
        Some(encoding) if encoding.as_bytes().eq_ignore_ascii_case(b"identity") => Ok(()),
        Some(_) => Err(ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "Send the body without Content-Encoding here.",
        )),
    }
}
