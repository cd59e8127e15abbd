//! Bodies: JSON alone, bounded before it is read, parsed strictly.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::change::unnest;
use crate::app::App;
use crate::http::code::Code;
use crate::http::error::{ApiError, ApiResult, malformed_json};
use crate::http::json::parse_strict;
use crate::serve::SlowBody;

/// Bytes an ordinary body may have.
pub const BODY_MAX: usize = 1024 * 1024;
/// Bytes a body of locations or alerts may have.
pub const SUBMISSION_MAX: usize = 8 * 1024 * 1024;

/// A JSON body, and the hash that tells it from another.
#[derive(Debug)]
pub struct JsonBody {
    /// What was sent.
    pub value: Value,
    /// The hash of its bytes.
    pub hash: [u8; 32],
}

impl FromRequest<App> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _app: &App) -> ApiResult<Self> {
        expect_media_type(request.headers(), &["application/json"])?;
        expect_no_coding(request.headers())?;
        Self::parse(&read_body(request.into_body(), BODY_MAX).await?)
    }
}

impl JsonBody {
    /// The same body, taken out of the member it is answered under: what was read may be sent as it is.
    #[must_use]
    pub fn nested(mut self, member: &str) -> Self {
        if let Some(inner) = unnest(&mut self.value, member) {
            self.value = inner;
        }
        self
    }

    /// Reads what was sent.
    pub fn parse(bytes: &Bytes) -> ApiResult<Self> {
        let value = parse_strict(bytes).map_err(malformed_json)?;
        Ok(Self { value, hash: Sha256::digest(bytes).into() })
    }
}

/// Reads a body of at most so many bytes.
pub async fn read_body(body: Body, limit: usize) -> ApiResult<Bytes> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Err(error) if caused_by::<SlowBody>(error.as_ref()) => Err(ApiError::new(
            Code::RequestTimeout,
            "The body came too slowly. Send it again over a better connection, or in parts.",
        )),
        Err(error) => Err(ApiError::new(
            Code::MalformedJson,
            "The body broke off before its end. Send the request again; nothing was stored.",
        )
        .with_cause(error)),
    }
}

/// The body is larger than is taken here.
pub(super) fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        Code::BodyTooLarge,
        format!("The body is larger than the {limit} bytes taken here. Send it in parts."),
    )
}

fn caused_by<E: std::error::Error + 'static>(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<E>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Refuses a body of another media type, and one declared in another charset than UTF-8.
pub(super) fn expect_media_type(headers: &HeaderMap, taken: &[&str]) -> ApiResult<()> {
    let media = media_type(headers);
    if !is_utf8(headers) {
        return Err(ApiError::new(
            Code::UnsupportedMediaType,
            "Send the body in UTF-8, with \"charset=utf-8\" or without a charset.",
        ));
    }
    if taken.iter().any(|taken| media.eq_ignore_ascii_case(taken)) {
        return Ok(());
    }
    Err(ApiError::new(
        Code::UnsupportedMediaType,
        format!("Send the body with \"Content-Type: {}\".", taken.join("\" or \"")),
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

/// The media type as it was given, without parameters; empty when there is none.
pub(super) fn media_type(headers: &HeaderMap) -> &str {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim()
}

/// Refuses a packed body.
pub(super) fn expect_no_coding(headers: &HeaderMap) -> ApiResult<()> {
    match headers.get(header::CONTENT_ENCODING) {
        None => Ok(()),
        Some(coding) if coding.as_bytes().eq_ignore_ascii_case(b"identity") => Ok(()),
        Some(_) => {
            Err(ApiError::new(Code::UnsupportedMediaType, "Send the body without Content-Encoding here."))
        }
    }
}
