//! A good client is served while two hundred bad clients hold connections open.

use std::time::Duration;

use perigee_server::serve::{CloseReason, ServeConfig};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::client::{connect, get_hello, send, until_closed};
use crate::server::{TestServer, quick};

const OF_EACH_KIND: usize = 40;

/// Limit of the 99th percentile of the good client: far less than bad clients can hold a slot, far more than a
/// request waits on a busy machine.
const P99_MOST: Duration = Duration::from_secs(1);

const BAD: [&str; 5] = [
    "",
    "GET / HTTP/1.1\r\nhost: te",
    "POST /count HTTP/1.1\r\nhost: test\r\ncontent-length: 100000\r\n\r\nbegin",
    "GET /big HTTP/1.1\r\nhost: test\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_client_is_served_meanwhile() {
    let limit = Duration::from_secs(2);
    let config = ServeConfig { head_timeout: limit, rate_window: limit, stall_timeout: limit * 4, ..quick() };
    let mut server = TestServer::start(config).await;
    let began = Instant::now();
    let mut bad: Vec<TcpStream> = Vec::new();
    for beginning in BAD {
        for _ in 0..OF_EACH_KIND {
            let mut connection = connect(server.address).await;
            send(&mut connection, beginning).await;
            bad.push(connection);
        }
    }

    let mut latencies = Vec::new();
    let mut good = connect(server.address).await;
    while began.elapsed() < limit {
        let asked = Instant::now();
        get_hello(&mut good).await;
        latencies.push(asked.elapsed());
    }
    latencies.sort_unstable();
    assert!(latencies.len() >= 10, "only {} requests answered", latencies.len());
    let p99 = latencies[latencies.len() * 99 / 100];
    println!("p99 of {} requests: {p99:?}", latencies.len());
    assert!(p99 < P99_MOST, "one in a hundred requests took {p99:?} or longer");
    drop(good);

    // A client that does not read cannot see that it was closed, so the server is asked.
    for _ in 0..OF_EACH_KIND {
        server.signals.answer_dropped.recv().await;
    }
    for connection in &mut bad {
        until_closed(connection).await;
    }
    let report = server.stop().await;
    let each = OF_EACH_KIND as u64;
    assert_eq!(report.closed(CloseReason::Silent), each, "{report:?}");
    assert_eq!(report.closed(CloseReason::HalfHead), 2 * each, "{report:?}");
    assert_eq!(report.closed(CloseReason::SlowReader), each, "{report:?}");
    assert_eq!(report.slow_bodies, each, "{report:?}");
}
