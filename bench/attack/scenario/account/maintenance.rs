//! One account has as many maintenance plans of a device as it may, which count from ever earlier dates over a long
//! history, while late locations change that history and 50 connections read the plans.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

const PLANS: usize = 50;
const LOCATIONS: u32 = 40_000;
const BATCH: u32 = 10_000;
const READERS: usize = 50;
/// Times that every plan counts from another date, after a late location.
const ROUNDS: u32 = 10;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let made = stage.call("POST /api/devices", &json!({"name": "Old truck"})).await?;
    let device = made["device"]["id"].as_str().context("a device without an id")?.to_owned();
    let submit = format!("POST /api/devices/{device}/locations");
    for first in (0..LOCATIONS).step_by(BATCH as usize) {
        let body: Value = (first..first + BATCH).map(|minute| location(minute, 0)).collect();
        stage.call(&submit, &body).await?;
    }
    let mut plans = Vec::with_capacity(PLANS);
    for number in 0..PLANS {
        let body = json!({
            "deviceId": device, "name": format!("Plan {number}"), "distance": 1_000, "engineHours": 100,
            "lastDone": "2026-01-01T00:00:00Z",
        });
        let made = stage.call("POST /api/maintenance", &body).await?;
        plans.push(made["id"].as_str().context("a plan without an id")?.to_owned());
    }
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        let done = Arc::clone(&done);
        readers.spawn(async move {
            let mut statuses = Vec::new();
            while !done.load(Ordering::Relaxed) {
                let line = "GET /api/maintenance?limit=1000";
                statuses.push(connection.call(line, &token, b"").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    for round in 0..ROUNDS {
        // Seconds that have no location yet.
        stage.call(&submit, &json!([location(round * 60, 1 + round)])).await?;
        for plan in &plans {
            let body = json!({"lastDone": format!("2026-01-{:02}T00:00:00Z", 1 + round % 2)});
            stage.call(&format!("PATCH /api/maintenance/{plan}"), &body).await?;
        }
    }
    done.store(true, Ordering::Relaxed);
    let mut statuses = Vec::new();
    while let Some(reader) = readers.join_next().await {
        statuses.extend(reader??);
    }
    let words = count_by_status(statuses, &[200, 429, 503])?;
    Ok(format!(
        "{PLANS} plans over {LOCATIONS} locations, changed {ROUNDS} times each; lists of plans: {words}"
    ))
}

/// The location of a minute: six minutes at a stop with the engine on, six on a trip.
fn location(minute: u32, second: u32) -> Value {
    let (month, day) = (1 + minute / 1_440 / 28, 1 + minute / 1_440 % 28);
    let time = format!("2026-{month:02}-{day:02}T{:02}:{:02}:{second:02}Z", minute / 60 % 24, minute % 60);
    let moved = f64::from(minute / 12 * 6 + (minute % 12).saturating_sub(6));
    json!({"dateTime": time, "latitude": 20.0 + moved / 1_000.0, "longitude": -8.0, "ignition": true})
}
