//! The limits on connections, and their metrics.

use metrics_exporter_prometheus::PrometheusBuilder;
use perigee_server::serve::{CloseReason, ServeConfig, TrustedProxies};
use tokio::net::TcpStream;

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
