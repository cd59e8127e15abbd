//! Graceful shutdown: accepted work finishes, new work is refused, and there is an end to waiting.

use std::time::Duration;

use bytes::Bytes;
use perigee_server::serve::{CloseReason, ServeConfig};
use tokio::net::TcpStream;

use crate::client::{connect, get_hello, http2_client, read_until, send, soon, until_closed};
use crate::server::{NEVER, TestServer, patient};

const WAIT: &str = "GET /wait HTTP/1.1\r\nhost: test\r\n\r\n";

#[tokio::test]
async fn a_request_under_way_finishes_and_new_ones_are_refused() {
    let mut server = TestServer::start(patient()).await;
    let address = server.address;
    let mut busy = connect(address).await;
    send(&mut busy, WAIT).await;
    soon(server.signals.arrived.recv()).await;
    let mut idle = connect(address).await;
    get_hello(&mut idle).await;

    let (report, signals) = server.begin_stop();
    assert!(until_closed(&mut idle).await.is_empty(), "idle connections end at once");
    assert!(TcpStream::connect(address).await.is_err(), "new connections are refused");
    signals.release.send(()).unwrap();
    let answer = String::from_utf8(until_closed(&mut busy).await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("released"), "{answer}");

    let report = soon(report).await.unwrap();
    assert_eq!((report.drained, report.cut), (2, 0), "{report:?}");
}

#[tokio::test]
async fn a_request_under_way_finishes_on_http2() {
    let mut server = TestServer::start(patient()).await;
    let request = http2_client().get(format!("http://{}/wait", server.address)).send();
    let answer = tokio::spawn(async { request.await.unwrap().text().await.unwrap() });
    soon(server.signals.arrived.recv()).await;
    let (report, signals) = server.begin_stop();
    signals.release.send(()).unwrap();
    assert_eq!(soon(answer).await.unwrap(), "released");
    let report = soon(report).await.unwrap();
    assert_eq!((report.drained, report.cut), (1, 0), "{report:?}");
}

#[tokio::test]
async fn work_that_does_not_finish_is_cut() {
    let config = ServeConfig { shutdown_timeout: Duration::from_millis(100), ..patient() };
    let mut server = TestServer::start(config).await;
    let mut busy = connect(server.address).await;
    send(&mut busy, WAIT).await;
    soon(server.signals.arrived.recv()).await;
    let (report, _signals) = server.begin_stop();
    assert!(until_closed(&mut busy).await.is_empty());
    let report = soon(report).await.unwrap();
    assert_eq!((report.drained, report.cut), (0, 1), "{report:?}");
    assert_eq!(report.closed(CloseReason::Cut), 1);
}

#[tokio::test]
async fn streams_are_ended_properly() {
    let server = TestServer::start(ServeConfig { shutdown_timeout: NEVER, ..patient() }).await;
    let mut stream = connect(server.address).await;
    send(&mut stream, "GET /events HTTP/1.1\r\nhost: test\r\n\r\n").await;
    server.signals.events.send(Bytes::from_static(b"data: one\n\n")).unwrap();
    read_until(&mut stream, "data: one\n\n\r\n").await;
    let (report, _signals) = server.begin_stop();
    assert_eq!(until_closed(&mut stream).await, b"0\r\n\r\n", "the last chunk");
    let report = soon(report).await.unwrap();
    assert_eq!((report.drained, report.cut), (1, 0), "{report:?}");
}

#[tokio::test]
async fn a_dropped_server_leaves_no_connection_behind() {
    let mut server = TestServer::start(patient()).await;
    let mut busy = connect(server.address).await;
    send(&mut busy, WAIT).await;
    soon(server.signals.arrived.recv()).await;
    server.abort();
    assert!(until_closed(&mut busy).await.is_empty());
}
