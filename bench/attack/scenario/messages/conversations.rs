//! A gateway's address floods one conversation with texts, users write to devices whose provider accepts connections and
//! never answers, and 50 connections read conversations. A message of the other tenant must be handed over in time.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::scenario::feeds::feed_bodies::path;
use crate::stage::Stage;

/// Texts in one request, and requests.
const TEXTS: usize = 2_000;
const REQUESTS: usize = 10;
const SENT: usize = 40;
const DEVICES: usize = 12;
const READERS: usize = 50;
const READS_EACH: usize = 20;
/// After this time the provider holds as many connections as the server opens.
const HEAD_START: Duration = Duration::from_secs(5);
const MOST_WAIT: Duration = Duration::from_secs(15);

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let tarpit = TcpListener::bind("127.0.0.1:0").await?;
    let honest = TcpListener::bind("127.0.0.1:0").await?;
    stage.call("POST /api/gateways", &provider(&tarpit)?).await?;
    stage.call_as(&stage.other.token, "POST /api/gateways", &provider(&honest)?).await?;
    let holding = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = tarpit.accept().await {
            held.push(stream);
        }
    });
    let mut devices = Vec::with_capacity(DEVICES);
    for number in 0..DEVICES {
        devices.push(boat(stage, &stage.server.token, 300_234_000_000_000 + number).await?);
    }
    let mut sent = 0;
    for device in &devices {
        for number in 0..SENT {
            let body = json!({"text": format!("Message {number}")});
            stage.call(&format!("POST /api/devices/{device}/conversation"), &body).await?;
            sent += 1;
        }
    }
    let flood = flood(stage).await?;
    let reads = read_all(stage, &devices[0]).await?;
    tokio::time::sleep(HEAD_START).await;

    let other = &stage.other;
    let device = boat(stage, &other.token, 300_234_099_999_999).await?;
    let body = json!({"text": "Return to port"});
    stage.call_as(&other.token, &format!("POST /api/devices/{device}/conversation"), &body).await?;
    let began = Instant::now();
    let (mut stream, _) = tokio::time::timeout(MOST_WAIT * 3, honest.accept())
        .await
        .context("the message of the other tenant was not sent")??;
    let waited = began.elapsed();
    let mut request = [0; 4_096];
    let _read = stream.read(&mut request).await?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nOK,1234").await?;
    holding.abort();
    ensure!(waited <= MOST_WAIT, "the message of another tenant waited {:.1} s", waited.as_secs_f64());
    Ok(format!(
        "{} texts received ({flood}), {sent} sent without an answer, conversations read: {reads}; message of another tenant handed over after {:.1} s",
        TEXTS * REQUESTS,
        waited.as_secs_f64()
    ))
}

fn provider(listener: &TcpListener) -> Result<Value> {
    let url = format!("http://{}/rockblock/MT", listener.local_addr()?);
    let options = json!({"sendUrl": url, "sendUser": "user", "sendPassword": "password"});
    Ok(json!({"feed": "rockblock", "options": options}))
}

/// A device with a modem of `RockBLOCK`.
async fn boat(stage: &Stage, token: &str, imei: usize) -> Result<String> {
    let identifiers = json!([{"identifier": imei.to_string(), "link": "rockblock"}]);
    let body = json!({"name": format!("Boat {imei}"), "identifiers": identifiers});
    let made = stage.call_as(token, "POST /api/devices", &body).await?;
    Ok(made["device"]["id"].as_str().context("a device without an id")?.to_owned())
}

/// Sends texts of one device to a gateway as fast as it accepts them.
async fn flood(stage: &Stage) -> Result<String> {
    stage.call("POST /api/devices", &json!({"name": "Chatterbox", "identifier": "chatterbox"})).await?;
    let mapping = json!({"each": ["/m"], "identifiers": ["^/id"], "text": "/t", "fields": {"time": "/at"}});
    let path = path(stage, &json!({"feed": "json", "options": {"mapping": mapping}})).await?;
    let (mut connection, mut statuses) = (stage.connect().await?, Vec::new());
    for request in 0..REQUESTS {
        let texts: Vec<Value> = (0..TEXTS)
            .map(|text| json!({"t": format!("{request} {text} {}", "long ".repeat(100)), "at": 1_767_225_600 + text}))
            .collect();
        let body = json!({"id": "chatterbox", "m": texts}).to_string();
        statuses.push(connection.call(&format!("POST {path}"), "", body.as_bytes()).await?.status);
    }
    count_by_status(statuses, &[200, 429, 503])
}

async fn read_all(stage: &Stage, device: &str) -> Result<String> {
    let listed = stage.call("GET /api/devices?q=Chatterbox", &Value::Null).await?;
    let chatterbox = listed["devices"][0]["id"].as_str().unwrap_or(device).to_owned();
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        let lines = [
            format!("GET /api/devices/{chatterbox}/conversation?limit=1000"),
            "GET /api/conversations?limit=1000".to_owned(),
        ];
        readers.spawn(async move {
            let mut statuses = Vec::new();
            for read in 0..READS_EACH {
                statuses.push(connection.call(&lines[read % 2], &token, b"").await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(reader) = readers.join_next().await {
        statuses.extend(reader??);
    }
    count_by_status(statuses, &[200, 429, 503])
}
