//! What an operator's tools ask: whether the process lives, and whether it can serve.

use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};

use crate::app::App;
use crate::http::error::{ApiError, ApiResult, unavailable};

/// How long the store may take to answer while the service counts as ready.
const PING_LIMIT: Duration = Duration::from_secs(2);
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

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

fn state(json: &'static str) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, JSON), (header::CACHE_CONTROL, NO_STORE)], json).into_response()
}
