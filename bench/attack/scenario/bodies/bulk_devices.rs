//! Bodies of many devices: the largest that are accepted, again and again on several connections, and ones that would take
//! far more memory or work than their size suggests.

use anyhow::Result;
use perigee_bench::http::Connection;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

/// Connections that send each kind of body, and how often each is repeated.
const EACH: usize = 4;
const TIMES: usize = 3;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let mut calls = JoinSet::new();
    for kind in 0..KINDS {
        for sender in 0..EACH {
            let (address, token) = (stage.server.address.clone(), stage.server.token.clone());
            calls.spawn(async move {
                let mut statuses = Vec::new();
                for time in 0..TIMES {
                    let (line, body) = request(kind, &format!("{sender}-{time}"));
                    let mut connection = Connection::open(&address).await?;
                    // A refused body is not read to its end, and the connection is closed.
                    let answer = connection.call(line, &token, body.as_bytes()).await;
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
    let requests = KINDS * EACH * TIMES;
    let closed = requests - statuses.len();
    let seen = count_by_status(statuses, &[200, 201, 400, 409, 413, 429, 503])?;
    Ok(format!("{requests} bodies of devices: {seen}; {closed} closed while they were sent"))
}

const KINDS: usize = 5;
const MAKE: &str = "POST /api/bulk/devices";

/// The line and the body of one kind.
fn request(kind: usize, name: &str) -> (&'static str, String) {
    let rows =
        |row: &dyn Fn(usize) -> Value| -> String { (0..5_000).map(row).collect::<Value>().to_string() };
    match kind {
        // As many expired devices as possible, which take no licence.
        0 => (
            MAKE,
            rows(
                &|row| json!({"name": "x", "identifier": format!("{name}-{row}"), "limits": {"expirationDate": "2020-01-01"}}),
            ),
        ),
        // A dry run of devices with many identifiers.
        1 => {
            let named = |row: usize, each: usize| json!({"identifier": format!("{name}-{row}-{each}")});
            let further = |row: usize| (0..2).map(|each| named(row, each)).collect::<Vec<_>>();
            (
                "POST /api/bulk/devices?dryRun=true",
                rows(&|row| json!({"name": "x", "identifiers": further(row)})),
            )
        }
        // Small values, groups without end, and objects within objects.
        2 => (MAKE, format!("[[{}0]]", "0,".repeat(1_900_000))),
        3 => (MAKE, format!("[{{\"name\":\"x\",\"groups\":[{}\"a\"]}}]", "\"a\",".repeat(900_000))),
        _ => (MAKE, format!("[{}{{}}]", r#"{"":{"":{}}},"#.repeat(300_000))),
    }
}
