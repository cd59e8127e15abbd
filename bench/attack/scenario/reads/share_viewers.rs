//! 16 viewers of a share link to a group of 10,000 devices with locations, polling continuously. Half of them also
//! request the track since an instant, which differs in each request.

use anyhow::{Context, Result, ensure};
use perigee_core::time::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

const DEVICES: usize = 10_000;
const VIEWERS: usize = 16;
/// Requests of each viewer.
const OPENINGS: usize = 10;
/// Locations of each device.
const LOCATIONS: i64 = 20;
/// Connections that create the devices.
const MAKERS: usize = 8;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let now = SystemClock.now();
    let location = |number: i64| {
        let time = now.plus_seconds((number - LOCATIONS) * 60).to_string();
        json!({"dateTime": time, "latitude": 42.0, "longitude": -8.0, "speed": 12.5, "course": 90.0})
    };
    let locations = Value::Array((0..LOCATIONS).map(location).collect()).to_string();
    let mut makers = JoinSet::new();
    for maker in 0..MAKERS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        let locations = locations.clone();
        makers.spawn(async move {
            let mut made: Vec<Value> = Vec::new();
            for number in (maker..DEVICES).step_by(MAKERS) {
                let body = json!({"name": format!("Device {number}")}).to_string();
                let answer = connection.call("POST /api/devices", &token, body.as_bytes()).await?.json()?;
                let id = answer["device"]["id"].clone();
                let line = format!("POST /api/devices/{}/locations", id.as_str().unwrap_or_default());
                let stored = connection.call(&line, &token, locations.as_bytes()).await?;
                ensure!(stored.is_success(), "{line}: {}", stored.text());
                made.push(id);
            }
            anyhow::Ok(made)
        });
    }
    let mut devices = Vec::with_capacity(DEVICES);
    while let Some(done) = makers.join_next().await {
        devices.extend(done??);
    }
    let group = stage.call("POST /api/groups", &json!({"name": "All", "devices": devices})).await?;
    let (from, until) = (now.plus_seconds(-86_400).to_string(), now.plus_seconds(86_400).to_string());
    let body = json!({"groupId": group["id"], "from": from, "until": until});
    let share = stage.call("POST /api/shares", &body).await?;
    let url = share["url"].as_str().context("a link without an address")?;
    let secret = url.rsplit('/').next().unwrap_or_default().to_owned();
    let mut viewers = JoinSet::new();
    for viewer in 0..VIEWERS {
        let (mut connection, secret) = (stage.connect().await?, secret.clone());
        viewers.spawn(async move {
            let mut statuses = Vec::with_capacity(OPENINGS);
            for opening in 0..OPENINGS {
                // A different instant in each request, so that no answer can come from a cache.
                let query = if viewer.is_multiple_of(2) {
                    String::new()
                } else {
                    let after = i64::try_from(viewer * OPENINGS + opening)?;
                    format!("?again=true&trail={}", now.plus_seconds(-86_400).plus_millis(after))
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
    Ok(format!("{VIEWERS} viewers of {DEVICES} devices: {}", count_by_status(statuses, &[200, 429, 503])?))
}
