//! Reads of a raw message of 3.9 MB, and decoding one of 9,000 locations again, all at the same time.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::scenario::feeds::feed_bodies::path;
use crate::stage::Stage;

const READS: usize = 30;
const REPROCESSINGS: usize = 20;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    stage.call("POST /api/devices", &json!({"name": "Phone", "identifier": "phone"})).await?;
    let overland = path(stage, &json!({"feed": "overland"})).await?;
    let large = format!("{{\"locations\":[],\"x\":\"{}\"}}", "y".repeat(3_900_000));
    let message = async |body: String| -> Result<String> {
        stage.connect().await?.call(&format!("POST {overland}"), "", body.as_bytes()).await?;
        let list = stage.call("GET /api/rawMessages?limit=1", &Value::Null).await?;
        Ok(list["rawMessages"][0]["id"].as_str().context("no message was kept")?.to_owned())
    };
    let large = message(large).await?;
    let many = message(many_locations()).await?;
    let lines = (0..READS).map(|_| format!("GET /api/rawMessages/{large}"));
    let again = (0..REPROCESSINGS).map(|_| format!("POST /api/rawMessages/{many}/reprocess"));
    let mut calls = JoinSet::new();
    for line in lines.chain(again) {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        calls.spawn(async move { anyhow::Ok(connection.call(&line, &token, b"").await?.status) });
    }
    let mut statuses = Vec::new();
    while let Some(done) = calls.join_next().await {
        statuses.push(done??);
    }
    Ok(format!(
        "{READS} reads, {REPROCESSINGS} reprocessings: {}",
        count_by_status(statuses, &[200, 429, 503])?
    ))
}

fn many_locations() -> String {
    let location = |second: u32| {
        let (hour, minute) = (second / 3_600 % 24, second / 60 % 60);
        format!(
            "{{\"geometry\":{{\"coordinates\":[-8.5,42.5]}},\"properties\":{{\"device_id\":\"phone\",\"wifi\":\"{}\",\
             \"timestamp\":\"2026-01-01T{hour:02}:{minute:02}:{:02}Z\"}}}},",
            "w".repeat(200),
            second % 60
        )
    };
    let locations: String = (0..9_000).map(location).collect();
    format!("{{\"locations\":[{}]}}", locations.trim_end_matches(','))
}
