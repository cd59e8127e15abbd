//! One account makes the drivers of trips expensive: thousands of key tags on the trips of one device, tags that move
//! from driver to driver, and assignments that open and close. Meanwhile 20 connections read totals by driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

const DRIVERS: usize = 400;
const TAGS_EACH: usize = 20;
/// Locations of the device, one each minute; each trip of six minutes has a tag of its own.
const LOCATIONS: u32 = 40_000;
const BATCH: u32 = 10_000;
const READERS: usize = 20;
/// Times that a tag gets another owner and that an assignment is set and deleted.
const ROUNDS: usize = 60;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let made = stage.call("POST /api/devices", &json!({"name": "Shared van"})).await?;
    let device = made["device"]["id"].as_str().context("a device without an id")?.to_owned();
    for first in (0..LOCATIONS).step_by(BATCH as usize) {
        let body: Value = (first..first + BATCH).map(location).collect();
        stage.call(&format!("POST /api/devices/{device}/locations"), &body).await?;
    }
    let mut drivers = Vec::with_capacity(DRIVERS);
    for number in 0..DRIVERS {
        let tags: Vec<String> = (0..TAGS_EACH).map(|tag| tag_name(number * TAGS_EACH + tag)).collect();
        let made = stage
            .call("POST /api/drivers", &json!({"name": format!("Driver {number}"), "tags": tags}))
            .await?;
        drivers.push(made["id"].as_str().context("a driver without an id")?.to_owned());
    }
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        let done = Arc::clone(&done);
        readers.spawn(async move {
            let line =
                "GET /api/totals?from=2025-06-01T00:00:00Z&to=2026-06-01T00:00:00Z&by=driver&interval=day";
            let mut statuses = Vec::new();
            while !done.load(Ordering::Relaxed) {
                statuses.push(connection.call(line, &token, b"").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    for round in 0..ROUNDS {
        let (loser, winner) = (&drivers[round % DRIVERS], &drivers[(round + 1) % DRIVERS]);
        stage.call(&format!("PATCH /api/drivers/{loser}"), &json!({"tags": []})).await?;
        let tags: Vec<String> =
            (0..TAGS_EACH).map(|tag| tag_name(round % DRIVERS * TAGS_EACH + tag)).collect();
        stage.call(&format!("PATCH /api/drivers/{winner}"), &json!({"tags": tags})).await?;
        // Over all of the history, so that each trip without a tag has another driver.
        let body = json!({"deviceId": device, "from": "2026-01-01T00:00:00Z", "to": "2026-03-01T00:00:00Z"});
        let line = format!("POST /api/drivers/{winner}/assignments");
        let assigned = stage.call(&line, &body).await?;
        let id = assigned["id"].as_str().context("an assignment without an id")?;
        stage.call(&format!("DELETE /api/driverAssignments/{id}"), &Value::Null).await?;
    }
    done.store(true, Ordering::Relaxed);
    let mut statuses = Vec::new();
    while let Some(reader) = readers.join_next().await {
        statuses.extend(reader??);
    }
    let tags = DRIVERS * TAGS_EACH;
    let words = count_by_status(statuses, &[200, 429, 503])?;
    Ok(format!("{tags} tags, {ROUNDS} of their owners and assignments changed; totals by driver: {words}"))
}

fn tag_name(number: usize) -> String {
    format!("TAG{number}")
}

/// The location of a minute: six minutes at a stop, six on a trip with the next key tag.
fn location(minute: u32) -> Value {
    let (month, day) = (1 + minute / 1_440 / 28, 1 + minute / 1_440 % 28);
    let time = format!("2026-{month:02}-{day:02}T{:02}:{:02}:00Z", minute / 60 % 24, minute % 60);
    let moved = f64::from(minute / 12 * 6 + (minute % 12).saturating_sub(6));
    json!({
        "dateTime": time, "latitude": 20.0 + moved / 1_000.0, "longitude": -8.0,
        "driverUniqueId": tag_name((minute / 12) as usize % (DRIVERS * TAGS_EACH)),
    })
}
