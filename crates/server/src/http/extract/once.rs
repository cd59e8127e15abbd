//! `Idempotency-Key`: a request that creates a resource can be sent again without creating a second one.

use axum::extract::FromRequestParts;
use http::HeaderName;
use http::request::Parts;
use perigee_core::idempotency::IdempotencyKey;

use super::{Caller, JsonBody};
use crate::access::RunningKey;
use crate::app::App;
use crate::http::error::{ApiError, ApiResult, invalid_header};
use crate::http::error_code::ErrorCode;

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const KEY_MAX: usize = 255;

/// The client's key, if it sent one.
#[derive(Debug)]
pub struct Once {
    key: Option<String>,
    endpoint: String,
}

/// Holds a key while its request runs.
#[derive(Debug)]
pub struct Held {
    /// The fingerprint that the store compares.
    pub key: Option<IdempotencyKey>,
    _running: Option<RunningKey>,
}

impl<S: Send + Sync> FromRequestParts<S> for Once {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> ApiResult<Self> {
        let endpoint = format!("{} {}", parts.method, parts.uri.path());
        let Some(value) = parts.headers.get(HEADER) else { return Ok(Self { key: None, endpoint }) };
        match value.to_str() {
            Ok(text) if (1..=KEY_MAX).contains(&text.len()) => {
                Ok(Self { key: Some(text.to_owned()), endpoint })
            }
            _ => Err(invalid_header(format!(
                "The header Idempotency-Key must have 1 to {KEY_MAX} printable ASCII characters, for example a UUID."
            ))),
        }
    }
}

impl Once {
    /// Takes the key for this request; refused while another request with it is running.
    pub fn hold(self, app: &App, caller: &Caller, body: &JsonBody) -> ApiResult<Held> {
        self.hold_for(app, caller, body.hash)
    }

    /// Takes the key for a request whose body has this SHA-256.
    pub fn hold_for(self, app: &App, caller: &Caller, body_hash: [u8; 32]) -> ApiResult<Held> {
        let Some(key) = self.key else { return Ok(Held { key: None, _running: None }) };
        let key = IdempotencyKey { user: caller.user_id(), endpoint: self.endpoint, key, body_hash };
        let Some(running) = app.access.running_keys.hold(&key) else {
            return Err(ApiError::new(
                ErrorCode::IdempotencyInProgress,
                "The first request with this Idempotency-Key is still running. Wait for its answer, or send the request again shortly.",
            ));
        };
        Ok(Held { key: Some(key), _running: Some(running) })
    }
}
