//! Clients that speak bytes, so that they can stop anywhere.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use perigee_server::serve::install_crypto_provider;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Far longer than any limit under test: reached only when something hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longer than every limit of `quick()`, to see that something is *not* closed.
pub(crate) const LONGER_THAN_LIMITS: Duration = Duration::from_secs(1);

/// Either kind of connection.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Connection for T {}

pub(crate) async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

/// Waits for `event`, which has to come.
pub(crate) async fn soon<T>(event: impl Future<Output = T>) -> T {
    timeout(PATIENCE, event).await.expect("it should have happened by now")
}

pub(crate) async fn send(connection: &mut (impl Connection + ?Sized), bytes: impl AsRef<[u8]>) {
    connection.write_all(bytes.as_ref()).await.unwrap();
    connection.flush().await.unwrap();
}

/// Everything the server sends until it closes, cleanly or not.
pub(crate) async fn until_closed(connection: &mut (impl Connection + ?Sized)) -> Vec<u8> {
    let mut received = Vec::new();
    soon(async {
        let _ = connection.read_to_end(&mut received).await;
    })
    .await;
    received
}

/// Asserts that the server neither sends nor closes for longer than all limits.
pub(crate) async fn stays_open(connection: &mut (impl Connection + ?Sized)) {
    let mut byte = [0];
    let read = timeout(LONGER_THAN_LIMITS, connection.read(&mut byte)).await;
    assert!(read.is_err(), "closed or answered: {read:?}");
}

/// Reads until `end` has arrived.
pub(crate) async fn read_until(connection: &mut (impl Connection + ?Sized), end: &str) -> String {
    let mut received = Vec::new();
    soon(async {
        while !received.ends_with(end.as_bytes()) {
            let byte = connection.read_u8().await.expect("the server closed early");
            received.push(byte);
        }
    })
    .await;
    String::from_utf8(received).unwrap()
}

/// A whole request for `path` and its answer, on a connection that stays open.
pub(crate) async fn get_hello(connection: &mut (impl Connection + ?Sized)) {
    send(connection, "GET / HTTP/1.1\r\nhost: test\r\n\r\n").await;
    let answer = read_until(connection, "hello").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/serve/fixtures").join(name)
}

/// Connects with TLS, trusting both test certificates and offering `alpn`.
pub(crate) async fn connect_tls(address: SocketAddr, alpn: &[&str]) -> TlsStream<TcpStream> {
    install_crypto_provider();
    let mut roots = RootCertStore::empty();
    for name in ["first.crt", "second.crt"] {
        roots.add(CertificateDer::from_pem_file(fixture(name)).unwrap()).unwrap();
    }
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, connect(address).await).await.unwrap()
}

/// A client of the ordinary kind, speaking HTTP/2 at once.
pub(crate) fn http2_client() -> reqwest::Client {
    install_crypto_provider();
    reqwest::Client::builder().http2_prior_knowledge().no_proxy().build().unwrap()
}

/// A body of `pieces` pieces, one every `pause`.
pub(crate) fn paced_body(piece: &'static str, pieces: usize, pause: Duration) -> reqwest::Body {
    let frames = stream::unfold((0, interval(pause)), move |(sent, mut ticks)| async move {
        ticks.tick().await;
        let frame = Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(piece.as_bytes())));
        (sent < pieces).then_some((frame, (sent + 1, ticks)))
    });
    reqwest::Body::wrap(StreamBody::new(frames))
}
