//! Twelve polled feeds of the attacker, whose provider accepts requests and never answers. The feed of the other
//! tenant, which is created afterwards, must be polled nevertheless.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::stage::Stage;

const TARPITS: usize = 12;
/// After this time the attacker's feeds are being polled, and the other tenant creates its own.
const HEAD_START: Duration = Duration::from_secs(12);
/// The server looks for polls that are due every 5 s; more is a delay by others.
const MOST_WAIT: Duration = Duration::from_secs(10);

fn feed(listener: &TcpListener) -> Result<Value> {
    let url = format!("http://{}/Location.svc/History", listener.local_addr()?);
    let options = json!({"url": url, "apiKey": "key", "imeis": ["300434000000001"]});
    Ok(json!({"feed": "garmin-history", "options": options}))
}

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let tarpit = TcpListener::bind("127.0.0.1:0").await?;
    let honest = TcpListener::bind("127.0.0.1:0").await?;
    let (slow, fast) = (feed(&tarpit)?, feed(&honest)?);
    let holding = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = tarpit.accept().await {
            held.push(stream);
        }
    });
    for _ in 0..TARPITS {
        stage.call("POST /api/gateways", &slow).await?;
    }
    tokio::time::sleep(HEAD_START).await;
    stage.call_as(&stage.other.token, "POST /api/gateways", &fast).await?;
    let made = Instant::now();
    let (mut stream, _) = tokio::time::timeout(MOST_WAIT * 3, honest.accept())
        .await
        .context("the feed of the other tenant was not fetched")??;
    let waited = made.elapsed();
    let mut request = [0; 4_096];
    let _read = stream.read(&mut request).await?;
    stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await?;
    holding.abort();
    ensure!(waited <= MOST_WAIT, "the feed of the other tenant waited {:.1} s", waited.as_secs_f64());
    Ok(format!(
        "{TARPITS} feeds without an answer: another tenant's feed was fetched after {:.1} s",
        waited.as_secs_f64()
    ))
}
