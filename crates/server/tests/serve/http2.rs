//! Misuse that only HTTP/2 allows, frame by frame.

use std::time::Duration;

use perigee_server::serve::{CloseReason, ServeConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};

use crate::client::{LONGER_THAN_LIMITS, connect, send, soon, until_closed};
use crate::server::{NEVER, TestServer, patient, quick};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The start of a connection on which the server may send `window` bytes of each answer.
fn preface(window: u32) -> Vec<u8> {
    let mut settings = INITIAL_WINDOW_SIZE.to_be_bytes().to_vec();
    settings.extend(window.to_be_bytes());
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(SETTINGS, 0, 0, &settings));
    bytes
}

/// A GET in HPACK without compression.
fn get(stream: u32, flags: u8, path: &str) -> Vec<u8> {
    let mut block = vec![0x82, 0x86];
    for (name_index, value) in [(0x04, path), (0x01, "test")] {
        block.push(name_index);
        block.push(u8::try_from(value.len()).unwrap());
        block.extend(value.as_bytes());
    }
    frame(HEADERS, flags, stream, &block)
}

/// The kinds of the frames in `bytes`, each with its payload's length.
fn frames(mut bytes: &[u8]) -> Vec<(u8, usize)> {
    let mut frames = Vec::new();
    while let [a, b, c, kind, rest @ ..] = bytes {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        frames.push((*kind, length));
        bytes = rest.get(5 + length..).unwrap_or_default();
    }
    frames
}

/// The bytes of answers in `bytes`.
fn data_bytes(bytes: &[u8]) -> usize {
    frames(bytes).into_iter().filter(|(kind, _)| *kind == DATA).map(|(_, length)| length).sum()
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let server = TestServer::start(quick()).await;
    let mut connection = connect(server.address).await;
    send(&mut connection, preface(65_535)).await;
    until_closed(&mut connection).await;
    server.expect_closed(CloseReason::HalfHead, 1).await;
}

#[tokio::test]
async fn a_connection_has_few_requests_at_once() {
    let server = TestServer::start(patient()).await;
    let mut connection = connect(server.address).await;
    send(&mut connection, preface(65_535)).await;
    let mut head = [0; 9];
    soon(connection.read_exact(&mut head)).await.unwrap();
    assert_eq!(head[3], SETTINGS);
    let mut settings = vec![0; usize::from(head[2])];
    soon(connection.read_exact(&mut settings)).await.unwrap();
    let offered = settings.chunks(6).find(|setting| setting[..2] == MAX_CONCURRENT_STREAMS.to_be_bytes());
    assert_eq!(offered.map(|setting| &setting[2..]), Some(&32_u32.to_be_bytes()[..]));
}

#[tokio::test]
async fn a_head_without_its_end_is_closed() {
    let server = TestServer::start(quick()).await;
    let mut connection = connect(server.address).await;
    send(&mut connection, preface(65_535)).await;
    send(&mut connection, get(1, END_STREAM, "/")).await;
    until_closed(&mut connection).await;
    server.expect_closed(CloseReason::HalfHead, 1).await;
}

#[tokio::test]
async fn an_idle_connection_gets_a_goaway() {
    let config = ServeConfig { head_timeout: NEVER, ..quick() };
    let server = TestServer::start(config).await;
    let mut connection = connect(server.address).await;
    send(&mut connection, preface(65_535)).await;
    send(&mut connection, get(1, END_STREAM | END_HEADERS, "/")).await;
    let received = until_closed(&mut connection).await;
    assert_eq!(data_bytes(&received), "hello".len());
    assert!(frames(&received).iter().any(|(kind, _)| *kind == GOAWAY), "{:?}", frames(&received));
    server.expect_closed(CloseReason::Idle, 1).await;
}

/// Asks for `path` with no window for the answer, on a client that reads its socket.
async fn ask_without_window(server: &TestServer, path: &str) -> TcpStream {
    let mut connection = connect(server.address).await;
    send(&mut connection, preface(0)).await;
    send(&mut connection, get(1, END_STREAM | END_HEADERS, path)).await;
    connection
}

#[tokio::test]
async fn an_answer_without_a_window_is_closed() {
    for path in ["/", "/big"] {
        let config = ServeConfig { stall_timeout: NEVER, idle_timeout: NEVER, ..quick() };
        let server = TestServer::start(config).await;
        let mut connection = ask_without_window(&server, path).await;
        assert_eq!(data_bytes(&until_closed(&mut connection).await), 0);
        server.expect_closed(CloseReason::SlowReader, 1).await;
    }
}

#[tokio::test]
async fn without_limits_an_answer_may_wait_for_its_window() {
    let server = TestServer::start(patient()).await;
    let mut connection = ask_without_window(&server, "/").await;
    let mut received = Vec::new();
    assert!(timeout(LONGER_THAN_LIMITS, connection.read_to_end(&mut received)).await.is_err());
    drop(connection);
    server.expect_closed(CloseReason::SlowReader, 0).await;
}

/// Opens the window of the answer by ten bytes at a time, far below the rate, until the server closes or `bytes` have
/// arrived; returns what arrived.
async fn take_slowly(connection: TcpStream, bytes: usize) -> usize {
    let (mut reader, mut writer) = connection.into_split();
    let opener = tokio::spawn(async move {
        let mut ticks = interval(Duration::from_millis(50));
        loop {
            ticks.tick().await;
            if writer.write_all(&frame(WINDOW_UPDATE, 0, 1, &10u32.to_be_bytes())).await.is_err() {
                return;
            }
        }
    });
    let mut received = Vec::new();
    soon(async {
        while data_bytes(&received) < bytes && matches!(reader.read_buf(&mut received).await, Ok(1..)) {}
    })
    .await;
    opener.abort();
    data_bytes(&received)
}

#[tokio::test]
async fn an_answer_taken_below_the_rate_is_closed() {
    let server = TestServer::start(quick()).await;
    let connection = ask_without_window(&server, "/big").await;
    let taken = take_slowly(connection, 1000).await;
    assert!(taken < 1000, "{taken}");
    server.expect_closed(CloseReason::SlowReader, 1).await;
}

#[tokio::test]
async fn a_stream_may_be_taken_below_the_rate() {
    let server = TestServer::start(quick()).await;
    let connection = ask_without_window(&server, "/big-stream").await;
    assert!(take_slowly(connection, 400).await >= 400, "closed early");
    let report = server.stop().await;
    assert_eq!(report.closed(CloseReason::SlowReader), 0, "{report:?}");
    assert_eq!(report.closed(CloseReason::StalledReader), 0, "{report:?}");
}

#[tokio::test]
async fn a_stream_of_which_nothing_is_taken_is_closed() {
    let server = TestServer::start(quick()).await;
    let mut connection = ask_without_window(&server, "/big-stream").await;
    until_closed(&mut connection).await;
    server.expect_closed(CloseReason::StalledReader, 1).await;
}
