//! Compressed bodies that expand a thousandfold, from users with and without the privilege to store locations.

use std::io::Write as _;

use anyhow::Result;
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

/// Values of a body: a little below the limit on values, and the limit on bytes after decompression.
const VALUES: usize = 499_990;
const VALUE: &str = r#""123456789012","#;
/// Objects of a body: a little below the limit on the memory of a parsed document.
const OBJECTS: usize = 172_000;
/// Simultaneous bodies of each of the two users.
const BODIES_EACH: usize = 50;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let reader = stage.make_user("reader@localhost", &["api"]).await?;
    let made = stage.call("POST /api/devices", &serde_json::json!({"name": "Target"})).await?;
    let line = format!("POST /api/devices/{}/locations", made["device"]["id"].as_str().unwrap_or_default());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(format!("[[{}0]]", VALUE.repeat(VALUES)).as_bytes())?;
    let texts = gzip.finish()?;
    // Each value in an object of its own, which takes far more memory.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(format!("[{}{{}}]", r#"{"":0},"#.repeat(OBJECTS)).as_bytes())?;
    let objects = gzip.finish()?;
    let mut calls = JoinSet::new();
    for token in [&stage.server.token, &reader] {
        for number in 0..BODIES_EACH {
            let (mut connection, line) = (stage.connect().await?, line.clone());
            let compressed = if number % 2 == 0 { texts.clone() } else { objects.clone() };
            let token = token.clone();
            calls.spawn(async move {
                let headers = "Content-Encoding: gzip\r\n";
                anyhow::Ok(connection.call_with(&line, &token, headers, &compressed).await?.status)
            });
        }
    }
    let mut statuses = Vec::new();
    while let Some(done) = calls.join_next().await {
        statuses.push(done??);
    }
    Ok(format!(
        "100 bodies of {} KB: {}",
        texts.len() / 1000,
        count_by_status(statuses, &[400, 403, 413, 429, 503])?
    ))
}
