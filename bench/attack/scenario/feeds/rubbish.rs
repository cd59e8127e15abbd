//! Rubbish sent to one gateway, as fast as it accepts it. The raw messages that are kept must stay within the quota.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::scenario::feeds::feed_bodies::path;
use crate::stage::Stage;

const CONNECTIONS: usize = 8;
const REQUESTS_EACH: usize = 30;
const BYTES: usize = 3_900_000;
/// A quarter of the default quota of a gateway.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let mapping = json!({"fields": {"a": "/a"}});
    let path = path(stage, &json!({"feed": "json", "options": {"mapping": mapping}})).await?;
    let mut calls = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (mut connection, line) = (stage.connect().await?, format!("POST {path}"));
        calls.spawn(async move {
            let body = vec![b'x'; BYTES];
            let mut statuses = Vec::new();
            for _ in 0..REQUESTS_EACH {
                statuses.push(connection.call(&line, "", &body).await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = calls.join_next().await {
        statuses.extend(done??);
    }
    let words = count_by_status(statuses, &[200, 429, 503])?;
    let listed = stage.call("GET /api/rawMessages?limit=1000", &Value::Null).await?;
    let sizes = listed["rawMessages"].as_array().into_iter().flatten();
    let kept: u64 = sizes.filter_map(|message| message["size"].as_u64()).sum();
    ensure!(kept <= MOST_BYTES, "{kept} bytes are kept");
    Ok(format!("936 MB of rubbish: {words}; {} MB kept", kept / 1_000_000))
}
