//! Checks before a request is processed: hosts, addresses, codings, charsets, origins, and requests that
//! are not HTTP.

use std::net::SocketAddr;

use http::header;
use perigee_server::http::middleware::refuse_unreadable;
use perigee_server::serve::{Listener, ServeConfig, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    nothing_is_made_for_who_refuses_the_answer,
    other_charsets_are_refused,
    tags_differ_by_coding
);

async fn nothing_is_made_for_who_refuses_the_answer(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    for encoding in ["identity;q=0", "*;q=0", "identity;q=0, *;q=0"] {
        let call = app.call("POST /api/groups").by(&owner).header("accept-encoding", encoding);
        call.json(&json!({"name": encoding})).send().await.expect(201);
    }
    let call = app.call("POST /api/groups").by(&owner).header("accept", "text/html");
    call.json(&json!({"name": "html"})).send().await.expect_error(406, "not-acceptable");
    assert_eq!(app.get(&owner, "/api/groups").await["groups"].as_array().unwrap().len(), 3);
}

async fn other_charsets_are_refused(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Boat"})).await;
    let location = json!({"dateTime": "2025-12-31T12:00:00Z", "latitude": 1, "longitude": 2}).to_string();
    for (line, body) in [
        ("POST /api/groups".to_owned(), json!({"name": "North"}).to_string()),
        (format!("POST /api/devices/{device}/locations"), location),
        (format!("PATCH /api/devices/{device}"), json!({"name": "Star"}).to_string()),
    ] {
        for (charset, is_taken) in
            [("iso-8859-1", false), ("UTF-16", false), ("\"UTF-8\"", true), ("utf-8", true)]
        {
            let media = format!("application/json; charset={charset}");
            let answer = app.call(&line).by(&owner).body(&media, body.clone()).send().await;
            if is_taken {
                assert!(answer.status.is_success(), "{line} {charset}");
            } else {
                answer.expect_error(415, "unsupported-media-type");
            }
        }
    }
}

async fn tags_differ_by_coding(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let group = app.group(&owner, &json!({"name": "North", "description": "x".repeat(1_900)})).await;
    let path = format!("/api/groups/{group}");
    let get = async |encoding: &str, known: &str| {
        let call = app.call(&format!("GET {path}")).by(&owner).header("accept-encoding", encoding);
        call.header("if-none-match", known).send().await
    };
    let plain = get("identity", "\"none\"").await;
    let packed = get("gzip", "\"none\"").await;
    assert_eq!((plain.header("etag"), packed.header("etag")), ("\"r1\"", "\"r1-gz\""));
    assert_eq!(packed.header("content-encoding"), "gzip");
    for known in ["\"r1\"", "\"r1-gz\""] {
        let unchanged = get("gzip", known).await;
        assert_eq!((unchanged.status.as_u16(), unchanged.header("etag")), (304, known));
    }
    let rename = async |tag: &str, name: &str| {
        let call = app.call(&format!("PATCH {path}")).by(&owner).header("if-match", tag);
        call.json(&json!({ "name": name })).send().await
    };
    rename("\"r1-gz\"", "South").await.expect(200);
    rename("\"r1-gz\"", "East").await.expect_error(412, "precondition-failed");
    rename("\"r2-br\"", "West").await.expect(200);
}

/// A service that is reached over a socket.
struct Reached {
    app: TestApp,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: tokio::task::JoinHandle<()>,
}

impl Reached {
    async fn new() -> Self {
        let app = TestApp::new(Engine::Sqlite).await;
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.local_addr();
        let (stop, stopped) = oneshot::channel();
        let config = ServeConfig { unreadable: Some(refuse_unreadable), ..ServeConfig::default() };
        let router = app.router.clone();
        let served = tokio::spawn(async move {
            serve(listener, None, router, config, async { drop(stopped.await) }).await;
        });
        Self { app, address, stop, served }
    }

    /// Sends bytes and returns the head and the body of the last answer, once the connection is closed.
    async fn send(&self, bytes: &[u8]) -> (String, Value) {
        let mut connection = TcpStream::connect(self.address).await.unwrap();
        connection.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.rsplit_once("\r\n\r\n").unwrap();
        let last = head.rfind("HTTP/1.1 ").unwrap();
        let body = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error} in {answer}"));
        (head[last..].to_owned(), body)
    }

    #[track_caller]
    fn expect((head, body): &(String, Value), status: u16, code: &str) {
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert!(head.contains("content-type: application/problem+json"), "{head}");
        assert_eq!(
            (&body["success"], &body["code"], &body["status"]),
            (&json!(false), &json!(code), &json!(status))
        );
        assert_eq!(body["error"], body["detail"], "{body}");
        let id = body["instance"].as_str().unwrap();
        assert!(head.contains(&format!("x-request-id: {id}")), "{head}");
        let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        assert_eq!(length.parse::<usize>().unwrap(), body.to_string().len(), "{head}");
    }

    async fn end(self) {
        let _ = self.stop.send(());
        self.served.await.unwrap();
        drop(self.app);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_cannot_be_read_get_the_form_of_all_errors() {
    let it = Reached::new().await;
    let long = "x".repeat(70_000);
    for (request, status, code) in [
        ("GET /api/groups HTTP/1.1\r\nbad header\r\n\r\n".to_owned(), 400, "malformed-request"),
        ("G\u{1}T / HTTP/1.1\r\nhost: a\r\n\r\n".to_owned(), 400, "malformed-request"),
        (format!("GET / HTTP/1.1\r\nhost: a\r\nx: {long}\r\n\r\n"), 431, "head-too-large"),
        (format!("GET /{long} HTTP/1.1\r\nhost: a\r\n\r\n"), 431, "head-too-large"),
        (
            format!("GET /api/groups?{} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", &long[..9_000]),
            414,
            "address-too-long",
        ),
        ("GET /api/groups HTTP/1.1\r\nconnection: close\r\n\r\n".to_owned(), 400, "invalid-header"),
        (
            "GET /api/groups HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n".to_owned(),
            400,
            "invalid-header",
        ),
        // After one that is answered as ever.
        ("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\nGET bad\r\n\r\n".to_owned(), 400, "malformed-request"),
    ] {
        let answer = it.send(request.as_bytes()).await;
        Reached::expect(&answer, status, code);
    }
    it.end().await;
}

#[tokio::test]
async fn pages_of_other_origins_read_nothing_unless_named() {
    let origin = "https://fleet.example.com";
    let ask = async |app: &TestApp, method: &str, origin: &str| {
        let call = app.call(&format!("{method} /api/groups")).header("origin", origin);
        call.header("access-control-request-method", "PATCH").send().await
    };
    let closed = TestApp::new(Engine::Sqlite).await;
    for method in ["OPTIONS", "GET"] {
        let answer = ask(&closed, method, origin).await;
        assert!(!answer.headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN));
        assert!(!answer.status.is_success());
    }
    let open =
        TestApp::with(Engine::Sqlite, |config| config.server.cors_origins = vec![origin.to_owned()]).await;
    let owner = open.tenant("acme", 1).await.owner;
    let preflight = ask(&open, "OPTIONS", origin).await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), origin);
    assert!(preflight.header("access-control-allow-methods").contains("PATCH"));
    assert!(preflight.header("access-control-allow-headers").contains("Authorization"));
    assert!(!preflight.headers.contains_key(header::ACCESS_CONTROL_ALLOW_CREDENTIALS));
    for (asked, is_named) in
        [(origin, true), ("https://evil.example.com", false), ("https://fleet.example.com.evil", false)]
    {
        let answer = open.call("GET /api/groups").by(&owner).header("origin", asked).send().await;
        answer.expect(200);
        assert_eq!(answer.headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN), is_named, "{asked}");
        assert_eq!(answer.headers.contains_key(header::ACCESS_CONTROL_EXPOSE_HEADERS), is_named, "{asked}");
        let vary: Vec<_> = answer.headers.get_all(header::VARY).iter().collect();
        assert!(vary.contains(&&"origin".parse().unwrap()), "{asked}");
    }
    let refused = ask(&open, "OPTIONS", "https://evil.example.com").await;
    assert!(!refused.headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN));
    let unknown = open.call("GET /api/groups").header("origin", origin).send().await;
    unknown.expect_error(401, "unauthenticated");
    assert_eq!(unknown.header("access-control-allow-origin"), origin, "a page may read why it failed");
    let page = open.call("GET /healthz").header("origin", origin).send().await;
    assert!(!page.headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN), "the API alone");
}
