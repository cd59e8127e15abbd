//! The limits on connections, and their metrics.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use axum::Extension;
use metrics_exporter_prometheus::PrometheusBuilder;
use perigee_server::serve::{ClientAddress, CloseReason, Listener, ServeConfig, TrustedProxies, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::client::{connect, get_hello, soon, until_closed};
use crate::server::{TestServer, patient};

async fn admitted(server: &TestServer) -> TcpStream {
    let mut connection = connect(server.address).await;
    get_hello(&mut connection).await;
    connection
}

async fn third_is_refused(config: ServeConfig) {
    let server = TestServer::start(config).await;
    let first = admitted(&server).await;
    let mut second = admitted(&server).await;
    assert!(until_closed(&mut connect(server.address).await).await.is_empty());
    get_hello(&mut second).await;
    drop(first);
    // The server learns of the close when it learns of it; until then it refuses.
    soon(async {
        loop {
            let mut third = connect(server.address).await;
            let request =
                tokio::io::AsyncWriteExt::write_all(&mut third, b"GET / HTTP/1.1\r\nhost: t\r\n\r\n");
            if request.await.is_ok() && tokio::io::AsyncReadExt::read_u8(&mut third).await.is_ok() {
                break;
            }
        }
    })
    .await;
    drop(second);
    let report = server.stop().await;
    assert_eq!(report.accepted, 3);
    assert!(report.refused >= 1);
}

#[tokio::test]
async fn connections_beyond_the_total_are_closed_at_once() {
    third_is_refused(ServeConfig { max_connections: 2, ..patient() }).await;
}

#[tokio::test]
async fn connections_beyond_one_address_share_are_closed_at_once() {
    third_is_refused(ServeConfig { max_connections_per_address: 2, ..patient() }).await;
}

#[tokio::test]
async fn a_trusted_proxy_is_not_one_address() {
    let proxies = TrustedProxies::new(vec!["127.0.0.1".parse().unwrap()]);
    let config = ServeConfig { max_connections_per_address: 2, trusted_proxies: proxies, ..patient() };
    let server = TestServer::start(config).await;
    let mut connections = Vec::new();
    for _ in 0..10 {
        connections.push(admitted(&server).await);
    }
    drop(connections);
    assert_eq!(server.stop().await.refused, 0);
}

#[tokio::test]
async fn the_metrics_count_open_refused_and_closed() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    // The test runs on one thread, and so does all that it serves.
    let _recording = metrics::set_default_local_recorder(&recorder);
    let server = TestServer::start(ServeConfig { max_connections: 1, ..patient() }).await;
    let connection = admitted(&server).await;
    until_closed(&mut connect(server.address).await).await;
    let open = metrics.render();
    assert!(open.contains("perigee_http_connections_open 1\n"), "{open}");
    assert!(open.contains("perigee_http_connections_refused_total{reason=\"total\"} 1\n"), "{open}");
    drop(connection);
    server.expect_closed(CloseReason::Finished, 1).await;
    let closed = metrics.render();
    assert!(closed.contains("perigee_http_connections_open 0\n"), "{closed}");
    assert!(closed.contains("perigee_http_connections_closed_total{reason=\"finished\"} 1\n"), "{closed}");
}

/// A connection from this address that has sent a request.
async fn asked(from: [u8; 4], to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(to).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: t\r\n\r\n").await.unwrap();
    stream
}

/// All connections wait to be accepted when the server begins.
#[tokio::test]
async fn many_new_connections_of_a_network_do_not_delay_those_of_another() {
    const MANY: usize = 500;
    let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.local_addr();
    let mut flood = Vec::new();
    for number in 0..MANY {
        let host = u8::try_from(number % 100).unwrap() + 1;
        flood.push(asked([127, 0, 20, host], address).await);
    }
    let mut other = asked([127, 0, 30, 1], address).await;
    let served = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&served);
    let note = move |Extension(client): Extension<ClientAddress>| async move {
        seen.lock().unwrap().push(client.0);
    };
    let router = axum::Router::new().route("/", axum::routing::get(note));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(serve(listener, None, router, patient(), async {
        let _ = stopped.await;
    }));
    soon(other.read_u8()).await.unwrap();
    for connection in &mut flood {
        soon(connection.read_u8()).await.unwrap();
    }
    let other_address: IpAddr = [127, 0, 30, 1].into();
    let position = served.lock().unwrap().iter().position(|client| *client == other_address).unwrap();
    assert!(position < MANY / 2, "it was served after {position} others");
    drop((flood, other));
    stop.send(()).unwrap();
    assert_eq!(serving.await.unwrap().accepted, 501);
}
