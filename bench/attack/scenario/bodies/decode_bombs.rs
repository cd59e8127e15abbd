//! Previews of messages that would copy one object into thousands, by a user without and by one with the privilege.

use anyhow::Result;
use serde_json::json;
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::scenario::feeds::feed_bodies::mapping_bomb;
use crate::stage::Stage;

const CALLS_EACH: usize = 20;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let reader = stage.make_user("reader@localhost", &["api"]).await?;
    let mapping = json!({"each": ["/i"], "identifiers": ["^/id"], "rest": ["^/b"]});
    let body = json!({"feed": "json", "text": mapping_bomb(), "options": {"mapping": mapping}}).to_string();
    let mut calls = JoinSet::new();
    for token in [&reader, &stage.server.token] {
        for _ in 0..CALLS_EACH {
            let (mut connection, token, body) = (stage.connect().await?, token.clone(), body.clone());
            calls.spawn(async move {
                anyhow::Ok(
                    connection.call("POST /api/gateways/decode", &token, body.as_bytes()).await?.status,
                )
            });
        }
    }
    let mut statuses = Vec::new();
    while let Some(done) = calls.join_next().await {
        statuses.push(done??);
    }
    Ok(format!(
        "40 previews of {} kB: {}",
        body.len() / 1000,
        count_by_status(statuses, &[200, 403, 429, 503])?
    ))
}
