//! `Idempotency-Key`: a request that creates something may be sent twice.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use http::HeaderName;
use http::request::Parts;
use perigee_core::id::UserId;
use perigee_core::idempotency::IdempotencyKey;

use super::{Caller, JsonBody};
use crate::app::App;
use crate::http::code::Code;
use crate::http::error::{ApiError, ApiResult, invalid_header};

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const KEY_MAX: usize = 255;

/// The client's key, if it sent one.
#[derive(Debug)]
pub struct Once {
    key: Option<String>,
    endpoint: String,
}

/// The requests with a key that are running now on this node.
#[derive(Clone, Debug, Default)]
pub struct Running(Arc<Mutex<HashSet<(UserId, String, String)>>>);

/// Holds a key while its request runs.
#[derive(Debug)]
pub struct Held {
    /// What the store compares.
    pub key: Option<IdempotencyKey>,
    running: Running,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            let mut running = self.running.0.lock().unwrap_or_else(PoisonError::into_inner);
            running.remove(&(key.user, key.endpoint, key.key));
        }
    }
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
        let running = app.running.clone();
        let Some(key) = self.key else { return Ok(Held { key: None, running }) };
        let key =
            IdempotencyKey { user: caller.user_id(), endpoint: self.endpoint, key, body_hash: body.hash };
        let fresh = running.0.lock().unwrap_or_else(PoisonError::into_inner).insert((
            key.user,
            key.endpoint.clone(),
            key.key.clone(),
        ));
        if !fresh {
            return Err(ApiError::new(
                Code::IdempotencyInProgress,
                "The first request with this Idempotency-Key is still running. Wait for its answer, or send this again shortly.",
            ));
        }
        Ok(Held { key: Some(key), running })
    }
}
