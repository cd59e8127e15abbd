//! An owner sets 50 recipients for one device and raises 2 x 50 alerts; a test mail server counts the mails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::stage::Stage;

const RECIPIENTS: usize = 50;
const ALERTS: usize = 50;
/// The default caps: ordinary e-mails per day, and critical ones beyond that.
const MOST_MAILS: usize = 1_000 + 1_000;
const LONG_ENOUGH: Duration = Duration::from_secs(30);

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let taken = Arc::new(AtomicUsize::new(0));
    let server = tokio::spawn(serve_mails(Arc::clone(&stage.mail), Arc::clone(&taken)));
    let device = stage.call("POST /api/devices", &json!({"name": "Talkative"})).await?;
    let device = device["device"]["id"].as_str().context("a device without an id")?.to_owned();
    let recipients: Vec<Value> = (0..RECIPIENTS)
        .map(|number| json!({"channel": "email", "address": format!("p{number}@example.com")}))
        .collect();
    let line = format!("PUT /api/devices/{device}/alertRouting");
    stage.call(&line, &json!({"recipients": recipients})).await?;
    for critical in [false, true] {
        let alerts: Vec<Value> = (0..ALERTS)
            .map(|number| {
                json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": format!("Alert {critical} {number}"),
                    "critical": critical})
            })
            .collect();
        stage.call(&format!("POST /api/devices/{device}/alerts"), &json!(alerts)).await?;
    }
    tokio::time::sleep(LONG_ENOUGH).await;
    server.abort();
    let mails = taken.load(Ordering::Relaxed);
    ensure!(mails <= MOST_MAILS, "{mails} mails were sent");
    Ok(format!("{} messages to {RECIPIENTS} recipients: {mails} mails sent", 2 * ALERTS * RECIPIENTS))
}

/// Runs a mail server that counts messages.
pub(crate) async fn serve_mails(listener: Arc<TcpListener>, taken: Arc<AtomicUsize>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(take_mails(stream, Arc::clone(&taken)));
    }
}

/// Serves one SMTP connection and counts its messages.
async fn take_mails(stream: TcpStream, taken: Arc<AtomicUsize>) -> Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(b"220 attack ESMTP\r\n").await?;
    while let Some(line) = lines.next_line().await? {
        let answer: &[u8] = match line.get(..4).unwrap_or_default().to_ascii_uppercase().as_str() {
            "EHLO" => b"250-attack\r\n250 8BITMIME\r\n",
            "DATA" => {
                writer.write_all(b"354 go on\r\n").await?;
                while lines.next_line().await?.is_some_and(|line| line != ".") {}
                taken.fetch_add(1, Ordering::Relaxed);
                b"250 taken\r\n"
            }
            "QUIT" => return Ok(writer.write_all(b"221 bye\r\n").await?),
            _ => b"250 yes\r\n",
        };
        writer.write_all(answer).await?;
    }
    Ok(())
}
