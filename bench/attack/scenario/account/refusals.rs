//! A user who may only read is refused as often as rate limits allow; the audit log must not grow with it.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::scenario::count_by_status;
use crate::stage::Stage;

const CONNECTIONS: usize = 32;
const LASTS: Duration = Duration::from_secs(15);
/// One entry for the operation, and perhaps a second one if an hour begins.
const MOST_ENTRIES: usize = 2;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let token = stage.make_user("reader@localhost", &["api"]).await?;
    let until = Instant::now() + LASTS;
    let mut calls = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (mut connection, token) = (stage.connect().await?, token.clone());
        calls.spawn(async move {
            let mut statuses = Vec::new();
            while Instant::now() < until {
                statuses.push(connection.call("POST /api/groups", &token, br#"{"name":"A"}"#).await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = calls.join_next().await {
        statuses.extend(done??);
    }
    // Refusals are saved every two seconds, and the token bucket must refill.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let log = stage.call("GET /api/audit?action=request.denied&limit=1000", &Value::Null).await?;
    let entries = log["audit"].as_array().map_or(0, Vec::len);
    ensure!(entries <= MOST_ENTRIES, "{entries} entries of the audit log");
    Ok(format!("{}; {entries} entries of the audit log", count_by_status(statuses, &[403, 429])?))
}
