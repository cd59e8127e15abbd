//! A second node that stands still while it stores locations: the first one must go on, also while a change of the account
//! waits for the second.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::server::Server;
use serde_json::json;
use tokio::task::JoinSet;

use crate::client::{Shared, locked};

/// How long the node stands still: less than PostgreSQL lets it.
const STANDS_STILL: Duration = Duration::from_secs(4);
/// The longest time in which the first node may acknowledge nothing.
const SILENCE_MAX: Duration = Duration::from_secs(2);
/// Connections that write to the node, so that it is most likely in the middle of a commit.
const WRITERS: usize = 8;

/// Runs a second node with a device of its own under load, stops it for a while, and watches the acknowledgements of the
/// first. Gives whether they stalled.
pub(crate) async fn freeze(server: &Server, shared: &Shared, name: &str) -> Result<bool> {
    let mut node = server.start_beside()?;
    node.make_named_devices(vec![name.to_owned()]).await?;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(node.address.clone(), node.token.clone(), name.to_owned(), writer));
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    signal(&node, "STOP")?;
    let change = tokio::spawn(change(server.address.clone(), server.token.clone(), format!("{name}-change")));
    let has_stalled = stalls(shared).await;
    signal(&node, "CONT")?;
    writers.abort_all();
    node.kill()?;
    change.await??;
    Ok(has_stalled)
}

fn signal(node: &Server, name: &str) -> Result<()> {
    let status = Command::new("kill").args([&format!("-{name}"), &node.id().to_string()]).status()?;
    if !status.success() {
        bail!("the node could not be signalled");
    }
    Ok(())
}

/// Whether nothing was acknowledged for too long while the node stands still.
async fn stalls(shared: &Shared) -> bool {
    let begun = Instant::now();
    let (mut last, mut since) = (locked(&shared.ledger).counts.acknowledged, Instant::now());
    let mut has_stalled = false;
    while begun.elapsed() < STANDS_STILL {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = locked(&shared.ledger).counts.acknowledged;
        if now != last {
            (last, since) = (now, Instant::now());
        }
        has_stalled |= since.elapsed() > SILENCE_MAX;
    }
    has_stalled
}

/// Sends locations of a device that is in no ledger until the connection breaks.
async fn write(address: String, token: String, device: String, writer: usize) {
    let Ok(mut connection) = Connection::open(&address).await else { return };
    let line = format!("POST /api/devices/{device}/locations");
    for second in 0.. {
        let time = format!("2021-01-{:02}T00:{:02}:{:02}Z", writer + 1, second / 60 % 60, second % 60);
        let body = json!([{"dateTime": time, "latitude": 1, "longitude": 2}]).to_string();
        if connection.call(&line, &token, body.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Creates a device, for which the account is locked. It is made, or refused for now.
async fn change(address: String, token: String, name: String) -> Result<()> {
    let mut connection = Connection::open(&address).await?;
    let body = json!({"name": name}).to_string();
    let answer = connection.call("POST /api/devices", &token, body.as_bytes()).await?;
    if !answer.is_success() && answer.status != 503 {
        bail!("a change was answered with {}: {}", answer.status, answer.text());
    }
    Ok(())
}
