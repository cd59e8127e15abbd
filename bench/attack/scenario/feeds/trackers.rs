//! Connections of trackers: thousands that never finish a long frame, from a few addresses; and one known device on
//! many connections that sends the same frames again and again.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::stage::{OTHER_ADDRESS, Stage};

/// Addresses of the attacker, and connections of each: together nearly the maximum.
const ADDRESSES: u8 = 5;
const CONNECTIONS_EACH: usize = 1_900;
/// Bytes of a frame without an end, as many as Wialon IPS allows.
const FRAME: usize = 64 * 1024;
/// How long connections are held.
const HOLD: Duration = Duration::from_secs(5);

async fn connect(source: IpAddr, to: SocketAddr) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(source, 0))?;
    Ok(socket.connect(to).await?)
}

/// Long frames of peers that name no device.
pub(crate) async fn long_frames(stage: &Stage) -> Result<String> {
    let trackers = stage.trackers;
    let mut attackers = JoinSet::new();
    for address in 0..ADDRESSES {
        attackers.spawn(async move {
            let source = IpAddr::V4(Ipv4Addr::new(127, 0, 10 + address, 1));
            let mut open = Vec::with_capacity(CONNECTIONS_EACH);
            for _ in 0..CONNECTIONS_EACH {
                // Refused connections are part of the attack.
                let Ok(mut stream) = connect(source, trackers).await else { continue };
                let _refused =
                    tokio::time::timeout(Duration::from_millis(50), stream.write_all(&frame())).await;
                open.push(stream);
            }
            tokio::time::sleep(HOLD).await;
            open.len()
        });
    }
    // Meanwhile a tracker of the other tenant must be served.
    let device = json!({"name": "Car", "identifier": "other-imei"});
    stage.call_as(&stage.other.token, "POST /api/devices", &device).await?;
    let mut served = 0;
    let (mut open, mut longest) = (0, Duration::ZERO);
    while let Some(done) = tokio::select! {
        done = attackers.join_next() => done,
        () = tokio::time::sleep(Duration::from_millis(200)) => Some(Ok(0)),
    } {
        open += done?;
        let began = std::time::Instant::now();
        let mut tracker = connect(OTHER_ADDRESS, trackers).await?;
        tracker.write_all(b"#L#other-imei;NA\r\n").await?;
        let mut answer = [0; 64];
        let count = tokio::time::timeout(Duration::from_secs(10), tracker.read(&mut answer)).await??;
        ensure!(answer[..count].starts_with(b"#AL#1"), "the other tenant's tracker was not answered");
        longest = longest.max(began.elapsed());
        served += 1;
    }
    ensure!(longest <= Duration::from_secs(1), "the other tenant's tracker waited {longest:?}");
    Ok(format!(
        "{open} connections from {ADDRESSES} addresses, frames of 64 KiB; another tracker was answered {served} times within {} ms",
        longest.as_millis()
    ))
}

fn frame() -> Vec<u8> {
    let mut frame = b"#SD#".to_vec();
    frame.resize(FRAME, b'1');
    frame
}

/// One known device on many connections.
pub(crate) async fn one_device(stage: &Stage) -> Result<String> {
    const CONNECTIONS: usize = 50;
    const FRAMES: usize = 3_000;
    const WITHIN: Duration = Duration::from_secs(15);
    let trackers = stage.trackers;
    stage.call("POST /api/devices", &json!({"name": "Car", "identifier": "imei"})).await?;
    let mut senders = JoinSet::new();
    for number in 0..CONNECTIONS {
        senders.spawn(async move {
            let mut stream = connect(IpAddr::V4(Ipv4Addr::LOCALHOST), trackers).await?;
            let mut bytes = b"#L#imei;NA\r\n".to_vec();
            for second in 0..FRAMES {
                let (hour, minute) = (second / 3_600, second / 60 % 60);
                let line = format!(
                    "#SD#010126;{hour:02}{minute:02}{:02};4230.0;N;00815.{number:02};W;10;90;5;7\r\n",
                    second % 60
                );
                bytes.extend_from_slice(line.as_bytes());
            }
            let (mut reader, mut writer) = stream.split();
            let send = async {
                let _displaced = writer.write_all(&bytes).await;
                // Keeps the connection open while `receive` reads the answers.
                std::future::pending::<()>().await;
            };
            let receive = async {
                let mut chunk = [0; 4_096];
                while matches!(reader.read(&mut chunk).await, Ok(1..)) {}
            };
            let _over = tokio::time::timeout(WITHIN, async {
                tokio::select! { () = send => {}, () = receive => {} }
            })
            .await;
            anyhow::Ok(())
        });
    }
    while let Some(done) = senders.join_next().await {
        done??;
    }
    let listed = stage.call("GET /api/rawMessages?limit=1000", &Value::Null).await?;
    let count = listed["rawMessages"].as_array().context("no list")?.len();
    Ok(format!(
        "one device on {CONNECTIONS} connections, {FRAMES} frames each, for 15 s; at least {count} messages kept"
    ))
}
