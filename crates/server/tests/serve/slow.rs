//! Clients that send too slowly or not at all, over HTTP/1.1 with and without TLS.

use std::time::Duration;

use perigee_server::serve::{CloseReason, ServeConfig, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::interval;

use crate::client::{
    Connection, connect, connect_tls, fixture, get_hello, http2_client, paced_body, read_until, send, soon,
    stays_open, until_closed,
};
use crate::server::{NEVER, TestServer, patient, quick};

/// How a client reaches the server.
#[derive(Debug, Clone, Copy)]
enum Transport {
    Plain,
    Tls,
}

impl Transport {
    async fn start(self, config: ServeConfig) -> TestServer {
        let tls = match self {
            Self::Plain => None,
            Self::Tls => Some(Tls::load(fixture("first.crt"), fixture("first.key")).unwrap()),
        };
        TestServer::start_with(config, tls).await
    }

    async fn connect(self, server: &TestServer) -> Box<dyn Connection> {
        match self {
            Self::Plain => Box::new(connect(server.address).await),
            Self::Tls => Box::new(connect_tls(server.address, &["http/1.1"]).await),
        }
    }
}

/// Checks that a connection that sends only `beginning` is closed for `reason`, and stays open
/// when the server is patient.
async fn closed_after(transport: Transport, beginning: &str, reason: CloseReason) {
    let server = transport.start(ServeConfig { idle_timeout: NEVER, ..quick() }).await;
    let mut connection = transport.connect(&server).await;
    send(&mut connection, beginning).await;
    assert!(until_closed(&mut connection).await.is_empty());
    server.expect_closed(reason, 1).await;

    let server = transport.start(patient()).await;
    let mut connection = transport.connect(&server).await;
    send(&mut connection, beginning).await;
    stays_open(&mut connection).await;
    drop(connection);
    server.expect_closed(reason, 0).await;
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    closed_after(Transport::Plain, "", CloseReason::Silent).await;
}

#[tokio::test]
async fn a_silent_connection_is_closed_on_tls() {
    closed_after(Transport::Tls, "", CloseReason::Silent).await;
}

#[tokio::test]
async fn a_half_sent_head_is_closed() {
    closed_after(Transport::Plain, "GET / HTTP/1.1\r\nhost: te", CloseReason::HalfHead).await;
}

#[tokio::test]
async fn a_half_sent_head_is_closed_on_tls() {
    closed_after(Transport::Tls, "GET / HTTP/1.1\r\nhost: te", CloseReason::HalfHead).await;
}

#[tokio::test]
async fn half_a_preface_is_closed() {
    closed_after(Transport::Plain, "PRI * HTTP/2.0\r\n", CloseReason::HalfHead).await;
}

#[tokio::test]
async fn a_head_sent_byte_by_byte_is_closed() {
    let server = TestServer::start(quick()).await;
    let (mut reader, mut writer) = connect(server.address).await.into_split();
    let trickle = tokio::spawn(async move {
        let mut ticks = interval(Duration::from_millis(20));
        for byte in b"GET / HTTP/1.1\r\nx: ".iter().chain(std::iter::repeat(&b'x')) {
            ticks.tick().await;
            if writer.write_all(&[*byte]).await.is_err() {
                return;
            }
        }
    });
    let mut answer = Vec::new();
    let _ = soon(reader.read_to_end(&mut answer)).await;
    assert!(answer.is_empty());
    soon(trickle).await.unwrap();
    server.expect_closed(CloseReason::HalfHead, 1).await;
}

#[tokio::test]
async fn a_second_head_has_no_more_time_than_the_first() {
    let server = TestServer::start(ServeConfig { idle_timeout: NEVER, ..quick() }).await;
    let mut connection = connect(server.address).await;
    get_hello(&mut connection).await;
    send(&mut connection, "GET / HT").await;
    assert!(until_closed(&mut connection).await.is_empty());
    server.expect_closed(CloseReason::HalfHead, 1).await;
}

async fn idle_is_closed(transport: Transport) {
    let server = transport.start(ServeConfig { head_timeout: NEVER, ..quick() }).await;
    let mut connection = transport.connect(&server).await;
    get_hello(&mut connection).await;
    assert!(until_closed(&mut connection).await.is_empty());
    server.expect_closed(CloseReason::Idle, 1).await;

    // The limit on heads is not one on the time between requests.
    let server = transport.start(ServeConfig { idle_timeout: NEVER, ..quick() }).await;
    let mut connection = transport.connect(&server).await;
    get_hello(&mut connection).await;
    stays_open(&mut connection).await;
    get_hello(&mut connection).await;
    drop(connection);
    server.expect_closed(CloseReason::Idle, 0).await;
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    idle_is_closed(Transport::Plain).await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_on_tls() {
    idle_is_closed(Transport::Tls).await;
}

/// Sends the head and the beginning of a body, then nothing more.
async fn stuck_body(transport: Transport) {
    const REQUEST: &str = "POST /count HTTP/1.1\r\nhost: test\r\ncontent-length: 100\r\n\r\nbegin";
    let server = transport.start(quick()).await;
    let mut connection = transport.connect(&server).await;
    send(&mut connection, REQUEST).await;
    let answer = String::from_utf8(until_closed(&mut connection).await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    assert_eq!(server.stop().await.slow_bodies, 1);

    let server = transport.start(patient()).await;
    let mut connection = transport.connect(&server).await;
    send(&mut connection, REQUEST).await;
    stays_open(&mut connection).await;
    send(&mut connection, "x".repeat(95)).await;
    assert!(read_until(&mut connection, "\r\n\r\n100").await.starts_with("HTTP/1.1 200"));
    drop(connection);
    assert_eq!(server.stop().await.slow_bodies, 0);
}

#[tokio::test]
async fn a_stuck_body_is_answered_408() {
    stuck_body(Transport::Plain).await;
}

#[tokio::test]
async fn a_stuck_body_is_answered_408_on_tls() {
    stuck_body(Transport::Tls).await;
}

#[tokio::test]
async fn a_body_byte_by_byte_is_answered_408_and_closed() {
    let server = TestServer::start(quick()).await;
    let (mut reader, mut writer) = connect(server.address).await.into_split();
    writer.write_all(b"POST /count HTTP/1.1\r\nhost: test\r\ncontent-length: 100000\r\n\r\n").await.unwrap();
    let trickle = tokio::spawn(async move {
        let mut ticks = interval(Duration::from_millis(20));
        loop {
            ticks.tick().await;
            if writer.write_all(b"x").await.is_err() {
                return;
            }
        }
    });
    let mut answer = String::new();
    let _ = soon(reader.read_to_string(&mut answer)).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer:?}");
    soon(trickle).await.unwrap();
    assert_eq!(server.stop().await.slow_bodies, 1);
}

#[tokio::test]
async fn a_slow_body_is_answered_408_on_http2_and_the_connection_lives() {
    let server = TestServer::start(ServeConfig { idle_timeout: NEVER, ..quick() }).await;
    let client = http2_client();
    let address = format!("http://{}", server.address);
    let body = paced_body("x", 1000, Duration::from_millis(20));
    let answer = soon(client.post(format!("{address}/count")).body(body).send()).await.unwrap();
    assert_eq!(answer.version(), http::Version::HTTP_2);
    assert_eq!(answer.status(), 408);
    let hello = soon(client.get(&address).send()).await.unwrap();
    assert_eq!(hello.text().await.unwrap(), "hello");
    drop(client);
    let report = server.stop().await;
    assert_eq!((report.accepted, report.slow_bodies), (1, 1), "{report:?}");
}

#[tokio::test]
async fn a_body_faster_than_the_limit_may_take_its_time() {
    let piece: &'static str = "0123456789".repeat(20).leak();
    let server = TestServer::start(quick()).await;
    for client in [http2_client(), reqwest::Client::builder().no_proxy().build().unwrap()] {
        let body = paced_body(piece, 40, Duration::from_millis(40));
        let request = client.post(format!("http://{}/count", server.address)).body(body);
        let answer = soon(request.send()).await.unwrap();
        assert_eq!(soon(answer.text()).await.unwrap(), "8000");
    }
    assert_eq!(server.stop().await.slow_bodies, 0);
}

#[tokio::test]
async fn an_early_answer_reaches_a_client_that_is_still_sending() {
    let server = TestServer::start(quick()).await;
    let mut connection = connect(server.address).await;
    let head = "POST /refuse HTTP/1.1\r\nhost: test\r\ncontent-length: 4000000\r\n\r\n";
    send(&mut connection, head).await;
    // More than the socket buffers hold, so the server has answered before it is all sent.
    send(&mut connection, vec![b'x'; 4_000_000]).await;
    let answer = String::from_utf8(until_closed(&mut connection).await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer:?}");
    server.stop().await;
}
