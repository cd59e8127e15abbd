//! The whole service on real sockets: behaviour that depends on the connection of a request.

use std::net::SocketAddr;
use std::sync::Arc;

use perigee_core::time::SystemClock;
use perigee_server::run::{FirstOwner, Service};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::app::default_config;

/// A service that runs until it is stopped.
struct Running {
    address: SocketAddr,
    metrics: Option<SocketAddr>,
    owner: FirstOwner,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    _data: tempfile::TempDir,
}

impl Running {
    async fn start(change: impl FnOnce(&mut perigee_server::config::Config)) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut config = default_config();
        config.server.listen = "127.0.0.1:0".parse().unwrap();
        config.store.data = data.path().to_owned();
        change(&mut config);
        let service = Service::open(config, Arc::new(SystemClock)).await.unwrap();
        let owner = service.first_owner().await.unwrap().unwrap();
        let (address, metrics) = (service.address(), service.metrics_address());
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            service.run(async move { drop(stopped.await) }).await;
        });
        Self { address, metrics, owner, stop, task, _data: data }
    }

    async fn end(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }

    fn credentials(&self) -> String {
        let password = self.owner.password.expose_secret();
        json!({"email": self.owner.email.as_str(), "password": password}).to_string()
    }
}

/// Sends one request on a connection of its own; gives status and the whole answer.
async fn ask(address: SocketAddr, line: &str, headers: &[&str], body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let headers = headers.iter().flat_map(|header| [*header, "\r\n"]).collect::<String>();
    let request = format!(
        "{line} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

#[tokio::test]
async fn figures_have_a_listener_of_their_own() {
    let secret = "a long enough secret";
    for with_secret in [false, true] {
        let service = Running::start(|config| {
            config.metrics.listen = "127.0.0.1:0".to_owned();
            config.metrics.secret = SecretString::from(if with_secret { secret } else { "" });
        })
        .await;
        let (main, own) = (service.address, service.metrics.unwrap());
        let bearer = format!("Authorization: Bearer {secret}");
        let known = ["Host: anything.example.com", &bearer];
        let local = ["Host: localhost"];
        assert_eq!(ask(main, "GET /metrics", &local, "").await.0, 404, "the main listener shows nothing");
        assert_eq!(ask(main, "GET /metrics", &known, "").await.0, if with_secret { 200 } else { 404 });
        assert_eq!(ask(own, "GET /metrics", &local, "").await.0, if with_secret { 401 } else { 200 });
        let (status, answer) = ask(own, "GET /metrics", &known, "").await;
        assert!(status == 200 && answer.contains("perigee_"), "{answer}");
        assert_eq!(ask(own, "GET /api/session", &known, "").await.0, 404, "nothing else is there");
        service.end().await;
        assert!(TcpStream::connect(own).await.is_err(), "it ends with the service");
    }
}

#[tokio::test]
async fn a_taken_or_wrong_address_for_figures_is_reported() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    for (listen, expect) in [
        (taken.local_addr().unwrap().to_string(), "cannot listen"),
        ("localhost:9090".to_owned(), "metrics.listen"),
    ] {
        let mut config = default_config();
        config.server.listen = "127.0.0.1:0".parse().unwrap();
        config.metrics.listen = listen;
        let error = Service::open(config, Arc::new(SystemClock)).await.err().unwrap();
        assert!(error.to_string().contains(expect), "{error}");
    }
}

#[tokio::test]
async fn cookies_are_secure_behind_trusted_tls_proxies() {
    let cases: [(&[&str], &[&str], bool); 6] = [
        (&[], &["X-Forwarded-Proto: https"], false),
        (&["127.0.0.1"], &[], false),
        (&["127.0.0.1"], &["X-Forwarded-Proto: https"], true),
        (&["127.0.0.1"], &["X-Forwarded-Proto: http"], false),
        // TLS ends at the outer one of two proxies.
        (
            &["127.0.0.1", "10.0.0.2"],
            &["X-Forwarded-For: 198.51.100.1, 10.0.0.2", "X-Forwarded-Proto: https, http"],
            true,
        ),
        (
            &["127.0.0.1"],
            &["X-Forwarded-For: 198.51.100.1, 10.0.0.2", "X-Forwarded-Proto: https, http"],
            false,
        ),
    ];
    for (trusted, headers, expect) in cases {
        let service = Running::start(|config| {
            config.server.trusted_proxies = trusted.iter().map(|&network| network.to_owned()).collect();
        })
        .await;
        let headers = [&["Host: track.example.com"], headers].concat();
        let (status, answer) =
            ask(service.address, "POST /api/session", &headers, &service.credentials()).await;
        assert_eq!(status, 200, "{answer}");
        let cookie = answer.lines().find(|line| line.to_lowercase().starts_with("set-cookie:")).unwrap();
        assert_eq!(cookie.contains("; Secure"), expect, "{trusted:?} {headers:?}");
        service.end().await;
    }
}
