//! 16 viewers of a share link to a group of 10,000 devices, polling continuously, with and without a trail.

use anyhow::{Context, Result};
use perigee_core::time::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::count_by_status;
use crate::stage::Stage;

const DEVICES: usize = 10_000;
const VIEWERS: usize = 16;
const OPENINGS: usize = 10;
/// Connections that create the devices.
const MAKERS: usize = 8;

pub(super) async fn run(stage: &Stage) -> Result<String> {
    let mut makers = JoinSet::new();
    for maker in 0..MAKERS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        makers.spawn(async move {
            let mut made: Vec<Value> = Vec::new();
            for number in (maker..DEVICES).step_by(MAKERS) {
                let body = json!({"name": format!("Device {number}")}).to_string();
                let answer = connection.call("POST /api/devices", &token, body.as_bytes()).await?.json()?;
                made.push(answer["device"]["id"].clone());
            }
            anyhow::Ok(made)
        });
    }
    let mut devices = Vec::with_capacity(DEVICES);
    while let Some(done) = makers.join_next().await {
        devices.extend(done??);
    }
    let group = stage.call("POST /api/groups", &json!({"name": "All", "devices": devices})).await?;
    let body = json!({"groupId": group["id"], "until": SystemClock.now().plus_seconds(86_400).to_string()});
    let share = stage.call("POST /api/shares", &body).await?;
    let url = share["url"].as_str().context("a link without an address")?;
    let secret = url.rsplit('/').next().unwrap_or_default().to_owned();
    let mut viewers = JoinSet::new();
    for viewer in 0..VIEWERS {
        let (mut connection, secret) = (stage.connect().await?, secret.clone());
        viewers.spawn(async move {
            let mut statuses = Vec::with_capacity(OPENINGS);
            for opening in 0..OPENINGS {
                // Every other viewer asks for a trail from a different instant, so that few answers can be shared.
                let query = if viewer.is_multiple_of(2) {
                    String::new()
                } else {
                    format!("?again=true&trail=2026-01-01T00:00:{:02}.{viewer:03}Z", opening % 60)
                };
                let line = format!("GET /api/shared/{secret}{query}");
                statuses.push(connection.call(&line, "", b"").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = viewers.join_next().await {
        statuses.extend(done??);
    }
    Ok(format!("{VIEWERS} viewers of {DEVICES} devices: {}", count_by_status(statuses)))
}
