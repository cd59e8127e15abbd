//! 100 connections run reports of thousands of rows in every format, and totals of a year by day, as fast as the limits
//! allow.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

/// Below the maximum number of connections of one address.
const CONNECTIONS: usize = 100;
const REPORTS_EACH: usize = 3;
const BATCHES: u32 = 4;
const BATCH: u32 = 10_000;
const FORMATS: [&str; 5] = ["json", "ndjson", "csv", "xlsx", "pdf"];

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let device = stage.call("POST /api/devices", &json!({"name": "Much reported"})).await?;
    let device = device["device"]["id"].as_str().context("a device without an id")?.to_owned();
    for batch in 0..BATCHES {
        let locations: Vec<Value> = (0..BATCH).map(|index| location(batch * BATCH + index)).collect();
        stage.call(&format!("POST /api/devices/{device}/locations"), &json!(locations)).await?;
    }
    let timeline = format!("GET /api/devices/{device}/timeline?limit=1");
    while stage.call(&timeline, &Value::Null).await?["pending"] == true {
        tokio::task::yield_now().await;
    }
    let mut tenants = JoinSet::new();
    for number in 0..CONNECTIONS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        tenants.spawn(async move {
            let mut statuses = Vec::with_capacity(2 * REPORTS_EACH);
            for run in 0..REPORTS_EACH {
                let format = FORMATS[(number + run) % FORMATS.len()];
                let body =
                    json!({"kind": "timeline", "from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"});
                let line = format!("POST /api/reports/run?format={format}");
                statuses.push(connection.call(&line, &token, body.to_string().as_bytes()).await?.status);
                let line = "GET /api/totals?from=2025-06-01T00:00:00Z&to=2026-06-01T00:00:00Z&by=account";
                statuses.push(connection.call(line, &token, b"").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = tenants.join_next().await {
        statuses.extend(done??);
    }
    // A PDF document holds fewer rows than the month has.
    Ok(format!("reports and totals: {}", count_by_status(statuses, &[200, 400, 429, 503])?))
}

/// The location of a minute since the beginning of January 2026. The device stands for six minutes and moves for six, in
/// turn.
fn location(minute: u32) -> Value {
    let (day, hour) = (1 + minute / 1_440, minute / 60 % 24);
    let time = format!("2026-01-{day:02}T{hour:02}:{:02}:00Z", minute % 60);
    let moved = f64::from(minute / 12 * 6 + (minute % 12).saturating_sub(6));
    json!({"dateTime": time, "latitude": 20.0 + moved / 1_000.0, "longitude": -8.0, "ignition": true})
}
