//! Connections that hold memory: bodies that are never finished, and histories that are never read.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::stage::Stage;

const HOLD: Duration = Duration::from_secs(5);

async fn connect(source: IpAddr, to: &str, receive_buffer: Option<u32>) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if let Some(bytes) = receive_buffer {
        socket.set_recv_buffer_size(bytes)?;
    }
    socket.bind(SocketAddr::new(source, 0))?;
    Ok(socket.connect(to.parse()?).await?)
}

/// Nearly the maximum number of connections, each with the beginning of a body.
pub(crate) async fn bodies(stage: &Stage) -> Result<String> {
    const ADDRESSES: u8 = 40;
    const CONNECTIONS_EACH: usize = 237;
    let mut open = JoinSet::new();
    for address in 0..ADDRESSES {
        let to = stage.server.address.clone();
        open.spawn(async move {
            let source = IpAddr::V4(Ipv4Addr::new(127, 0, 20, 1 + address));
            let mut streams = Vec::with_capacity(CONNECTIONS_EACH);
            for _ in 0..CONNECTIONS_EACH {
                let Ok(mut stream) = connect(source, &to, None).await else { continue };
                let head = "POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                            Content-Length: 8000\r\n\r\n";
                let _refused = stream.write_all(head.as_bytes()).await;
                let _refused = stream.write_all(&[b' '; 6_000]).await;
                streams.push(stream);
            }
            tokio::time::sleep(HOLD).await;
            streams.len()
        });
    }
    let mut count = 0;
    while let Some(done) = open.join_next().await {
        count += done?;
    }
    Ok(format!("{count} connections with 6 kB of a body of 8 kB, held for 5 s"))
}

/// Requests for the history of a device whose answers are never read.
pub(crate) async fn histories(stage: &Stage) -> Result<String> {
    const CONNECTIONS: usize = 250;
    let device = stage.call("POST /api/devices", &json!({"name": "Much read"})).await?;
    let device = device["device"]["id"].as_str().context("a device without an id")?.to_owned();
    for batch in 0..5_u32 {
        let location = |index: u32| {
            let second = batch * 10_000 + index;
            let (hour, minute) = (second / 3_600 % 24, second / 60 % 60);
            let time = format!("2026-01-01T{hour:02}:{minute:02}:{:02}Z", second % 60);
            json!({"dateTime": time, "latitude": 42.0, "longitude": -8.0 - f64::from(second) / 100_000.0})
        };
        let locations: Vec<Value> = (0..10_000).map(location).collect();
        stage.call(&format!("POST /api/devices/{device}/locations"), &json!(locations)).await?;
    }
    let mut open = Vec::with_capacity(CONNECTIONS);
    for number in 0..CONNECTIONS {
        let last = u8::try_from(number % 5).unwrap_or(0) + 1;
        let source = IpAddr::V4(Ipv4Addr::new(127, 0, 30, last));
        let mut stream = connect(source, &stage.server.address, Some(4_096)).await?;
        let request = format!(
            "GET /api/devices/{device}/locations?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z HTTP/1.1\r\n\
             Host: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
            stage.server.token
        );
        stream.write_all(request.as_bytes()).await?;
        open.push(stream);
    }
    tokio::time::sleep(HOLD).await;
    Ok(format!("{} histories of 50,000 locations that are not read for 5 s", open.len()))
}
