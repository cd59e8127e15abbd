//! Groups of 10,000 devices that are repeatedly filled and emptied.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

const DEVICES: usize = 10_000;
const GROUPS: usize = 4;
/// Changes of each group, in turn to all devices and to none.
const CHANGES: usize = 6;
/// Connections that create the devices.
const MAKERS: usize = 8;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let devices = make_devices(stage).await?;
    let mut changes = JoinSet::new();
    for number in 0..GROUPS {
        let made = stage.call("POST /api/groups", &json!({"name": format!("group {number}")})).await?;
        let id = made["id"].as_str().context("a group without an id")?.to_owned();
        let full = json!({"name": "full", "devices": devices}).to_string();
        let empty = json!({"name": "empty", "devices": []}).to_string();
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        changes.spawn(async move {
            let mut statuses = Vec::new();
            for change in 0..CHANGES {
                let body = if change % 2 == 0 { &full } else { &empty };
                let line = format!("PUT /api/groups/{id}");
                statuses.push(connection.call(&line, &token, body.as_bytes()).await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = changes.join_next().await {
        statuses.extend(done??);
    }
    Ok(format!("groups of {DEVICES} devices changed: {}", count_by_status(statuses, &[200, 429])?))
}

async fn make_devices(stage: &Stage) -> Result<Vec<Value>> {
    let mut made = JoinSet::new();
    for maker in 0..MAKERS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        made.spawn(async move {
            let mut ids = Vec::new();
            for number in (maker..DEVICES).step_by(MAKERS) {
                let body = json!({"name": format!("device {number}")}).to_string();
                let answer = connection.call("POST /api/devices", &token, body.as_bytes()).await?.json()?;
                ids.push(answer["device"]["id"].clone());
            }
            anyhow::Ok(ids)
        });
    }
    let mut devices = Vec::new();
    while let Some(done) = made.join_next().await {
        devices.extend(done??);
    }
    Ok(devices)
}
