//! 200 connections read the complete history of a device with 50,000 locations again and again, as fast as the limit on
//! calls allows.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

/// Below the maximum number of connections of one address.
const CONNECTIONS: usize = 200;
const READS_EACH: usize = 5;
const BATCHES: u32 = 5;
const BATCH: u32 = 10_000;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let device = stage.call("POST /api/devices", &json!({"name": "Much read"})).await?;
    let device = device["device"]["id"].as_str().context("a device without an id")?.to_owned();
    for batch in 0..BATCHES {
        let locations: Vec<Value> = (0..BATCH).map(|index| location(batch * BATCH + index)).collect();
        stage.call(&format!("POST /api/devices/{device}/locations"), &json!(locations)).await?;
    }
    let line =
        format!("GET /api/devices/{device}/locations?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z");
    let mut readers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (mut connection, token, line) =
            (stage.connect().await?, stage.server.token.clone(), line.clone());
        readers.spawn(async move {
            let mut statuses = Vec::with_capacity(READS_EACH);
            for _ in 0..READS_EACH {
                statuses.push(connection.call(&line, &token, b"").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = readers.join_next().await {
        statuses.extend(done??);
    }
    let locations = BATCHES * BATCH;
    Ok(format!("histories of {locations} locations: {}", count_by_status(statuses, &[200, 429, 503])?))
}

/// The location of a second since the beginning of January 2026.
fn location(second: u32) -> Value {
    let (day, hour, minute) = (1 + second / 86_400, second / 3_600 % 24, second / 60 % 60);
    let time = format!("2026-01-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60);
    let drift = f64::from(second) / 100_000.0;
    json!({"dateTime": time, "latitude": 42.0 + drift, "longitude": -8.0 - drift, "speed": 12.5})
}
