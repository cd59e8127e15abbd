//! Requests to gateways whose decoding would take far more memory and time than their size suggests: a mapping that
//! copies one object into every message, a long id in the key of every message, nothing but small values, long names,
//! and thousands of unknown devices.

use anyhow::{Context, Result};
use perigee_bench::http::Connection;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

/// Simultaneous requests of each kind, and how often each is repeated.
const EACH: usize = 4;
const TIMES: usize = 2;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let mapping = json!({"each": ["/i"], "identifiers": ["^/id"], "rest": ["^/b"]});
    let bomb = path(stage, &json!({"feed": "json", "options": {"mapping": mapping}})).await?;
    let plain = json!({"feed": "json", "options": {"mapping": {"fields": {"a": "/a"}}}});
    let values = path(stage, &plain).await?;
    let globalstar = path(stage, &json!({"feed": "globalstar"})).await?;
    let overland = path(stage, &json!({"feed": "overland"})).await?;
    let bodies = [
        (bomb, mapping_bomb()),
        (values.clone(), format!("[{}[]]", "[],".repeat(1_300_000))),
        (values.clone(), format!("[{}0]", r#"{"":0},"#.repeat(550_000))),
        (values, format!("{{{}\"z\":0}}", long_names())),
        (globalstar, long_id()),
        (overland, unknown_devices()),
    ];
    let requests = bodies.len() * EACH * TIMES;
    let bytes: usize = bodies.iter().map(|(_, body)| body.len() * EACH * TIMES).sum();
    let mut calls = JoinSet::new();
    for (path, body) in bodies {
        for _ in 0..EACH {
            let (address, path, body) = (stage.server.address.clone(), path.clone(), body.clone());
            calls.spawn(async move {
                let mut statuses = Vec::new();
                for _ in 0..TIMES {
                    // The server does not read a refused body and closes the connection, perhaps before the client
                    // has received the refusal.
                    let mut connection = Connection::open(&address).await?;
                    let answer = connection.call(&format!("POST {path}"), "", body.as_bytes()).await;
                    statuses.extend(answer.ok().map(|answer| answer.status));
                }
                anyhow::Ok(statuses)
            });
        }
    }
    let mut statuses = Vec::new();
    while let Some(done) = calls.join_next().await {
        statuses.extend(done??);
    }
    let closed = requests - statuses.len();
    Ok(format!(
        "{requests} requests of {} MB in all: {}; {closed} closed while they were sent",
        bytes / 1_000_000,
        count_by_status(statuses, &[200, 413, 429, 503])?
    ))
}

/// The path of a new gateway.
pub(crate) async fn path(stage: &Stage, body: &Value) -> Result<String> {
    let made = stage.call("POST /api/gateways", body).await?;
    let url = made["url"].as_str().context("a gateway without a url")?;
    let from = url.find("://").map_or(0, |at| at + 3);
    let path = url[from..].find('/').context("a url without a path")?;
    Ok(url[from + path..].to_owned())
}

/// A body of 28 kB in which each of 10,000 items would copy half of it.
pub(crate) fn mapping_bomb() -> String {
    let names: Vec<String> = (0..500).map(|number| format!("\"reading number {number}\":{number}")).collect();
    format!("{{\"id\":\"x\",\"b\":{{{}}},\"i\":[{}0]}}", names.join(","), "0,".repeat(9_999))
}

fn long_names() -> String {
    let name = "n".repeat(1_000);
    (0..3_500).fold(String::new(), |members, number| members + &format!("\"{name}{number}\":0,"))
}

fn long_id() -> String {
    let message = "<stuMessage><esn>0-1</esn></stuMessage>";
    format!("<stuMessages messageID=\"{}\">{}</stuMessages>", "x".repeat(1_500_000), message.repeat(30_000))
}

fn unknown_devices() -> String {
    let device = |number: usize| {
        format!("{{\"properties\":{{\"device_id\":\"unknown {number}\",\"wifi\":\"{}\"}}}},", "w".repeat(300))
    };
    let devices: String = (0..9_999).map(device).collect();
    format!("{{\"locations\":[{devices}{{}}]}}")
}
