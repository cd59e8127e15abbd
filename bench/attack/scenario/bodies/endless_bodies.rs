//! HTTP/2 request bodies that send a megabyte and never end, from anonymous clients and from an account.

use std::time::Duration;

use anyhow::Result;
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::scenario::http2::{Http2, Sent};
use crate::stage::Stage;

const CONNECTIONS: usize = 10;
const STREAMS: usize = 127;
const BYTES: usize = 1_000_000;
/// How long the bodies are held open.
const HOLD: Duration = Duration::from_secs(8);

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let made = stage.call("POST /api/devices", &serde_json::json!({"name": "Target"})).await?;
    let submit = format!("/api/devices/{}/locations", made["device"]["id"].as_str().unwrap_or_default());
    let mut bodies = JoinSet::new();
    for index in 0..CONNECTIONS {
        let connection = Http2::open(&stage.server.address).await?;
        let (path, token) = match index % 3 {
            0 => ("/api/session".to_owned(), String::new()),
            1 => ("/api/devices".to_owned(), stage.server.token.clone()),
            _ => (submit.clone(), stage.server.token.clone()),
        };
        for _ in 0..STREAMS {
            let (connection, path, token) = (connection.clone(), path.clone(), token.clone());
            bodies.spawn(async move {
                let sent = connection.send(&path, &token, Sent::Endless(BYTES));
                tokio::time::timeout(HOLD, sent).await.ok()
            });
        }
    }
    let (mut statuses, mut held) = (Vec::new(), 0_usize);
    while let Some(done) = bodies.join_next().await {
        match done? {
            Some(answered) => statuses.extend(answered?),
            None => held += 1,
        }
    }
    Ok(format!(
        "1,270 bodies of 1 MB: {}; {held} without an answer",
        count_by_status(statuses, &[408, 413, 429, 503])?
    ))
}
