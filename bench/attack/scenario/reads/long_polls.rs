//! 2,400 long polls of one token on 240 connections, while a device of the account reports.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

/// Below the maximum number of connections of one address.
const CONNECTIONS: usize = 240;
const POLLS_EACH: usize = 10;
const LOCATIONS: u32 = 100;
/// Pause between two locations; each wakes every waiting poll.
const PAUSE: Duration = Duration::from_millis(150);

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let device = stage.call("POST /api/devices", &json!({"name": "Talkative"})).await?;
    let device = device["device"]["id"].as_str().context("a device without an id")?.to_owned();
    let mut polls = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        polls.spawn(async move {
            let mut statuses = Vec::with_capacity(POLLS_EACH);
            for _ in 0..POLLS_EACH {
                statuses.push(connection.call("GET /api/events?wait=5", &token, b"").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let line = format!("POST /api/devices/{device}/locations");
    for number in 0..LOCATIONS {
        let time = format!("2026-01-01T{:02}:{:02}:00Z", number / 60, number % 60);
        let location: Value = json!({"dateTime": time, "latitude": 42.0, "longitude": -8.0});
        let mut connection = stage.connect().await?;
        // Submitting and polling have separate limits, so a refusal would be a bug.
        connection.call(&line, &stage.server.token, location.to_string().as_bytes()).await?;
        tokio::time::sleep(PAUSE).await;
    }
    let mut statuses = Vec::new();
    while let Some(done) = polls.join_next().await {
        statuses.extend(done??);
    }
    Ok(format!(
        "{} long polls, {LOCATIONS} locations: {}",
        statuses.len(),
        count_by_status(statuses, &[200, 429])?
    ))
}
