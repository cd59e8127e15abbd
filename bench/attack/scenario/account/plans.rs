//! One account runs as many plans of one device as it may, each with many waypoints, while the device reports on eight
//! connections, travellers press the buttons of their links on as many, and readers list the plans.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use anyhow::{Context, Result};
use perigee_core::time::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

/// As many as one device may have.
const PLANS: usize = 100;
const WAYPOINTS: u32 = 50;
/// Connections of the device, of travellers and of readers, each.
const CONNECTIONS: usize = 8;
/// Locations on each connection of the device.
const LOCATIONS: usize = 250;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let made = stage.call("POST /api/devices", &json!({"name": "Much expected"})).await?;
    let device = made["device"]["id"].as_str().context("a device without an id")?.to_owned();
    let waypoints: Vec<Value> = (0..WAYPOINTS)
        .map(|number| json!({"latitude": 20.0 + f64::from(number) / 10.0, "longitude": -8.0, "name": format!("W{number}")}))
        .collect();
    let mut travellers = Vec::with_capacity(CONNECTIONS);
    for number in 0..PLANS {
        let body = json!({
            "name": format!("Voyage {number}"), "devices": [device], "waypoints": waypoints,
            "checkIns": {"everyMinutes": 5, "by": {"message": true, "location": true}},
        });
        let plan = stage.call("POST /api/plans", &body).await?;
        let id = plan["id"].as_str().context("a plan without an id")?;
        stage.call(&format!("POST /api/plans/{id}/start"), &json!({})).await?;
        if travellers.len() < CONNECTIONS {
            let link = stage.call(&format!("POST /api/plans/{id}/links"), &json!({})).await?;
            let url = link["url"].as_str().context("a link without an address")?;
            travellers.push(url.rsplit('/').next().unwrap_or_default().to_owned());
        }
    }
    let done = Arc::new(AtomicBool::new(false));
    let mut others = JoinSet::new();
    for secret in travellers {
        let (mut presses, mut reads) = (stage.connect().await?, stage.connect().await?);
        let (token, done) = (stage.server.token.clone(), Arc::clone(&done));
        others.spawn(async move {
            let mut statuses = Vec::new();
            while !done.load(Ordering::Relaxed) {
                let line = format!("POST /travel/{secret}");
                statuses.push(presses.call(&line, "", b"say=checkIn").await?.status);
                statuses.push(reads.call("GET /api/plans?limit=1000", &token, b"").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = report(stage, &device).await?;
    done.store(true, Ordering::Relaxed);
    while let Some(other) = others.join_next().await {
        statuses.extend(other??);
    }
    let words = count_by_status(statuses, &[200, 201, 409, 429, 503])?;
    Ok(format!("{PLANS} running plans of one device with {WAYPOINTS} waypoints each: {words}"))
}

/// The device reports on every connection, one location at a time.
async fn report(stage: &Stage, device: &str) -> Result<Vec<u16>> {
    let next = Arc::new(AtomicI64::new(0));
    let now = SystemClock.now();
    let mut reporters = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        let (line, next) = (format!("POST /api/devices/{device}/locations"), Arc::clone(&next));
        reporters.spawn(async move {
            let mut statuses = Vec::with_capacity(LOCATIONS);
            for _ in 0..LOCATIONS {
                let time = now.plus_seconds(next.fetch_add(1, Ordering::Relaxed) - 10_000).to_string();
                let body = json!([{"dateTime": time, "latitude": 20.0, "longitude": -8.0}]).to_string();
                statuses.push(connection.call(&line, &token, body.as_bytes()).await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = reporters.join_next().await {
        statuses.extend(done??);
    }
    Ok(statuses)
}
