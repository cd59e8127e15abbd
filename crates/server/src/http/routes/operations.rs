//! Liveness and readiness probes.

use axum::body::Body;
use http::{HeaderValue, header};

use crate::disk::DiskSpace;
use crate::http::error::unavailable;
use crate::http::prelude::*;

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Answers 200 while the process runs.
pub async fn get_health() -> Response {
    state("{\"status\":\"ok\"}")
}

/// Answers 200 if the store can be written and read and its disk has free space.
pub async fn get_readiness(State(app): State<App>) -> ApiResult<Response> {
    let disk = DiskSpace::of_store(&app.config);
    if let Some(disk) = disk.filter(|disk| disk.is_full()) {
        return Err(unavailable(format!("the disk of the store is full: {} bytes are free", disk.free)));
    }
    app.health
        .readiness
        .check(&app.store, &app.tasks.runtime)
        .await
        .map_err(|reason| unavailable(reason.to_string()))?;
    let damage = app.store.damage_metrics().await?;
    let mut ready = serde_json::json!({
        "status": "ready",
        "damagedRows": damage.passed_over,
        "quarantinedRows": damage.set_aside,
    });
    if let Some(disk) = disk {
        ready["freeBytes"] = disk.free.into();
        ready["spaceLow"] = disk.is_low(&app.config.store).into();
    }
    Ok(state(ready.to_string()))
}

fn state(json: impl Into<Body>) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, JSON), (header::CACHE_CONTROL, NO_STORE)], json.into()).into_response()
}
