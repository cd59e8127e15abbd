//! TLS: protocols, handshakes that go wrong, and certificates that change.

use std::fs;
use std::io;
use std::path::Path;

use perigee_server::serve::{CloseReason, Tls, install_crypto_provider};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use tempfile::TempDir;

use crate::client::{connect, connect_tls, fixture, get_hello, send, soon, stays_open, until_closed};
use crate::server::{TestServer, patient, quick};

fn first() -> Tls {
    Tls::load(fixture("first.crt"), fixture("first.key")).unwrap()
}

/// A folder with a copy of a test certificate and its key.
fn folder(name: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), name);
    folder
}

fn put(folder: &Path, name: &str) {
    for kind in ["key", "crt"] {
        let new = folder.join(format!("new.{kind}"));
        fs::copy(fixture(&format!("{name}.{kind}")), &new).unwrap();
        fs::rename(new, folder.join(format!("server.{kind}"))).unwrap();
    }
}

fn load(folder: &TempDir) -> Tls {
    Tls::load(folder.path().join("server.crt"), folder.path().join("server.key")).unwrap()
}

async fn shown_by(server: &TestServer) -> CertificateDer<'static> {
    let connection = soon(connect_tls(server.address, &[])).await;
    connection.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

fn certificate(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(fixture(&format!("{name}.crt"))).unwrap()
}

#[tokio::test]
async fn http2_is_chosen_by_alpn() {
    install_crypto_provider();
    let server = TestServer::start_with(patient(), Some(first())).await;
    let pem = fs::read(fixture("first.crt")).unwrap();
    let client = reqwest::Client::builder()
        .tls_certs_only([reqwest::Certificate::from_pem(&pem).unwrap()])
        .no_proxy()
        .build()
        .unwrap();
    let address = format!("https://localhost:{}/whoami", server.address.port());
    let answer = soon(client.get(&address).send()).await.unwrap();
    assert_eq!(answer.version(), http::Version::HTTP_2);
    let expected = format!("127.0.0.1 https://localhost:{}", server.address.port());
    assert_eq!(soon(answer.text()).await.unwrap(), expected);
    drop(client);
    server.stop().await;
}

#[tokio::test]
async fn http1_is_spoken_to_who_offers_only_that() {
    let server = TestServer::start_with(patient(), Some(first())).await;
    let mut connection = connect_tls(server.address, &["http/1.1"]).await;
    assert_eq!(connection.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    get_hello(&mut connection).await;
    drop(connection);
    server.stop().await;
}

#[tokio::test]
async fn a_handshake_that_stalls_is_closed() {
    const HALF_HELLO: &[u8] = &[0x16, 0x03, 0x01, 0x02, 0x00, 0x01];
    for beginning in [&[][..], HALF_HELLO] {
        let server = TestServer::start_with(quick(), Some(first())).await;
        let mut connection = connect(server.address).await;
        send(&mut connection, beginning).await;
        assert!(until_closed(&mut connection).await.is_empty());
        server.expect_closed(CloseReason::HandshakeTimeout, 1).await;
    }
    let server = TestServer::start_with(patient(), Some(first())).await;
    let mut connection = connect(server.address).await;
    send(&mut connection, HALF_HELLO).await;
    stays_open(&mut connection).await;
    server.expect_closed(CloseReason::HandshakeTimeout, 0).await;
}

#[tokio::test]
async fn plain_http_on_a_tls_port_fails_the_handshake() {
    let server = TestServer::start_with(patient(), Some(first())).await;
    let mut connection = connect(server.address).await;
    send(&mut connection, "GET / HTTP/1.1\r\nhost: test\r\n\r\n").await;
    until_closed(&mut connection).await;
    server.expect_closed(CloseReason::HandshakeFailed, 1).await;
}

#[tokio::test]
async fn a_changed_certificate_is_shown_without_a_restart() {
    let folder = folder("first");
    let server = TestServer::start_with(patient(), Some(load(&folder))).await;
    assert_eq!(shown_by(&server).await, certificate("first"));
    put(folder.path(), "second");
    soon(async { while shown_by(&server).await != certificate("second") {} }).await;
    server.stop().await;
}

#[tokio::test]
async fn a_changed_pair_that_does_not_match_is_not_shown() {
    let folder = folder("first");
    let tls = load(&folder);
    assert!(!tls.reload().unwrap(), "nothing has changed");
    fs::copy(fixture("second.crt"), folder.path().join("server.crt")).unwrap();
    let error = tls.reload().unwrap_err();
    assert!(error.to_string().contains("does not belong to the certificate"), "{error}");
    let server = TestServer::start_with(patient(), Some(tls.clone())).await;
    assert_eq!(shown_by(&server).await, certificate("first"));
    server.stop().await;

    fs::copy(fixture("second.key"), folder.path().join("server.key")).unwrap();
    assert!(tls.reload().unwrap(), "tried again once the pair is whole");
}

#[test]
fn files_that_cannot_be_used_say_why() {
    let folder = folder("first");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("text"), "not PEM").unwrap();
    for (certificate, key, message) in [
        ("missing", "server.key", format!("cannot read {}", path("missing").display())),
        ("text", "server.key", format!("{} contains no PEM certificate", path("text").display())),
        (
            "server.crt",
            "text",
            format!(
                "{} contains no PEM private key, or one with a passphrase; remove the passphrase",
                path("text").display()
            ),
        ),
        ("server.key", "server.key", format!("{} contains no PEM certificate", path("server.key").display())),
    ] {
        let error = Tls::load(path(certificate), path(key)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let error = Tls::load(path("missing"), path("server.key")).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.kind(), io::ErrorKind::NotFound);
}
