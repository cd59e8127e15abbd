//! Clients that do not take their answers.

use std::time::Duration;

use bytes::Bytes;
use perigee_server::serve::{CloseReason, ServeConfig, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{interval, timeout};

use crate::client::{
    Connection, LONGER_THAN_LIMITS, connect, connect_tls, fixture, read_until, send, soon, stays_open,
};
use crate::server::{NEVER, TestServer, patient, quick};

async fn ask(connection: &mut (impl Connection + ?Sized), path: &str) {
    send(connection, format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n")).await;
}

async fn never_read(
    mut server: TestServer,
    mut connection: impl Connection,
    path: &str,
    reason: CloseReason,
) {
    ask(&mut connection, path).await;
    soon(server.signals.answer_dropped.recv()).await;
    drop(connection);
    server.expect_closed(reason, 1).await;
}

#[tokio::test]
async fn a_client_that_never_reads_is_closed() {
    let server = TestServer::start(ServeConfig { stall_timeout: NEVER, ..quick() }).await;
    let connection = connect(server.address).await;
    never_read(server, connection, "/big", CloseReason::SlowReader).await;
}

#[tokio::test]
async fn a_client_that_never_reads_is_closed_on_tls() {
    let tls = Tls::load(fixture("first.crt"), fixture("first.key")).unwrap();
    let config = ServeConfig { stall_timeout: NEVER, ..quick() };
    let server = TestServer::start_with(config, Some(tls)).await;
    let connection = connect_tls(server.address, &["http/1.1"]).await;
    never_read(server, connection, "/big", CloseReason::SlowReader).await;
}

#[tokio::test]
async fn a_client_that_only_asks_is_closed() {
    // An answer without a body leaves nothing behind but a full socket.
    for method in ["GET", "HEAD"] {
        let server = TestServer::start(ServeConfig { stall_timeout: NEVER, ..quick() }).await;
        let mut connection = connect(server.address).await;
        let requests = format!("{method} / HTTP/1.1\r\nhost: test\r\n\r\n").repeat(100);
        soon(async { while connection.write_all(requests.as_bytes()).await.is_ok() {} }).await;
        server.expect_closed(CloseReason::SlowReader, 1).await;
    }
}

#[tokio::test]
async fn a_stream_nobody_takes_from_is_closed_by_the_stall_limit_alone() {
    let server = TestServer::start(quick()).await;
    let connection = connect(server.address).await;
    never_read(server, connection, "/big-stream", CloseReason::StalledReader).await;
}

#[tokio::test]
async fn without_limits_a_client_may_never_read() {
    let mut server = TestServer::start(patient()).await;
    let mut connection = connect(server.address).await;
    ask(&mut connection, "/big").await;
    assert!(timeout(LONGER_THAN_LIMITS, server.signals.answer_dropped.recv()).await.is_err());
    drop(connection);
    soon(server.signals.answer_dropped.recv()).await;
    server.expect_closed(CloseReason::SlowReader, 0).await;
}

#[tokio::test]
async fn a_reader_faster_than_the_limit_may_take_its_time() {
    let server = TestServer::start(ServeConfig { idle_timeout: NEVER, ..quick() }).await;
    let mut connection = connect(server.address).await;
    ask(&mut connection, "/big").await;
    let mut ticks = interval(Duration::from_millis(10));
    let mut piece = vec![0; 128 * 1024];
    let mut received = 0;
    while received < 32 * 1024 * 1024 {
        ticks.tick().await;
        let read = soon(connection.read(&mut piece)).await.expect("closed for being slow");
        assert_ne!(read, 0, "closed after {received} bytes");
        received += read;
    }
    drop(connection);
    server.expect_closed(CloseReason::SlowReader, 0).await;
}

#[tokio::test]
async fn a_quiet_stream_outlives_every_limit() {
    let server = TestServer::start(quick()).await;
    let mut connection = connect(server.address).await;
    ask(&mut connection, "/events").await;
    server.signals.events.send(Bytes::from_static(b"data: one\n\n")).unwrap();
    read_until(&mut connection, "data: one\n\n\r\n").await;
    stays_open(&mut connection).await;
    server.signals.events.send(Bytes::from_static(b"data: two\n\n")).unwrap();
    read_until(&mut connection, "data: two\n\n\r\n").await;
    drop(connection);
    server.expect_closed(CloseReason::Idle, 0).await;
}
