//! JSON Patches of a device whose cost grows faster than their size.

use anyhow::Result;
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

/// Elements of the array that is changed: about a megabyte of JSON.
const ELEMENTS: usize = 480_000;
/// Operations that each move the first element of one array to the front of another.
const MOVES: usize = 999;
/// Simultaneous requests with each of the two patches.
const AT_ONCE: usize = 4;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let made = stage.call("POST /api/devices", &serde_json::json!({"name": "Target"})).await?;
    let line = format!("PATCH /api/devices/{}", made["device"]["id"].as_str().unwrap_or_default());
    let token = stage.server.token.clone();
    // Every move at the front of an array shifts all of its elements.
    let zeros = vec!["0"; ELEMENTS].join(",");
    let steps = (0..MOVES).map(|step| {
        let (from, to) = if step % 2 == 0 { ("a", "b") } else { ("b", "a") };
        format!(r#",{{"op":"move","from":"/{from}/0","path":"/{to}/0"}}"#)
    });
    let moved = format!(
        r#"[{{"op":"add","path":"/a","value":[{zeros}]}},{{"op":"add","path":"/b","value":[]}}{}]"#,
        steps.collect::<String>()
    );
    // Every element is inserted before all others.
    let front = vec![r#"{"op":"add","path":"/a/0","value":0}"#; 25_000].join(",");
    let front = format!(r#"[{{"op":"add","path":"/a","value":[]}},{front}]"#);
    let mut calls = JoinSet::new();
    for body in [moved, front] {
        for _ in 0..AT_ONCE {
            let (mut connection, token, body) = (stage.connect().await?, token.clone(), body.clone());
            let line = line.clone();
            calls.spawn(
                async move { anyhow::Ok(connection.call(&line, &token, body.as_bytes()).await?.status) },
            );
        }
    }
    let mut statuses = Vec::new();
    while let Some(done) = calls.join_next().await {
        statuses.push(done??);
    }
    Ok(format!("8 patches of 1 MB: {}", count_by_status(statuses, &[422])?))
}
