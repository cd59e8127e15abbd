//! Health, metrics, background jobs, the API document and the service's own pages.

use std::net::IpAddr;

use axum::body::Body;
use http::{Request, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::accounts::limits::Limits;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::store::{Accounts as _, Devices as _, Events as _};
use perigee_server::background::{announce_expiries, delete_expired, publish_store, save_usage, trim_logs};
use perigee_server::http::error_code::ErrorCode;
use perigee_server::serve::ClientAddress;
use secrecy::SecretString;
use tower::ServiceExt;

use crate::support::app::default_config;
use crate::support::{Answer, Engine, TestApp, on_both_engines};

on_both_engines!(
    lives_and_is_ready_while_the_store_answers,
    calls_are_saved,
    calls_stay_on_their_day,
    expiries_are_announced_once,
    forgetting_what_is_over_fails_nothing,
    events_are_kept_as_long_as_set,
);

async fn lives_and_is_ready_while_the_store_answers(engine: Engine) {
    let app = TestApp::new(engine).await;
    assert_eq!(app.call("GET /healthz").send().await.expect(200)["status"], "ok");
    assert_eq!(app.call("GET /readyz").send().await.expect(200)["status"], "ready");
    app.store.close().await;
    app.app.health.readiness.reset().await;
    app.call("GET /readyz").send().await.expect_error(503, "unavailable");
    app.call("GET /healthz").send().await.expect(200);
}

async fn calls_are_saved(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    for _ in 0..3 {
        app.call("GET /api/groups").by(&tenant.owner).send().await.expect(200);
    }
    save_usage(&app.app).await;
    save_usage(&app.app).await;
    let account = app.store.find_account(tenant.account.id).await.unwrap().unwrap();
    assert_eq!((account.api_usage.total, account.api_usage.today), (3, 3));
}

async fn calls_stay_on_their_day(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let call = async || app.get(&tenant.owner, "/api/groups").await;
    for _ in 0..3 {
        call().await;
    }
    app.clock().advance_seconds(86_400);
    let later = app.equip(&tenant.account, tenant.owner.id, tenant.owner.email.clone()).await;
    let first = app.get(&later, "/api/groups").await;
    assert_eq!((&first["apiUsage"], &first["apiDailyUsage"]), (&4.into(), &1.into()));
    save_usage(&app.app).await;
    let account = app.store.find_account(tenant.account.id).await.unwrap().unwrap();
    assert_eq!((account.api_usage.total, account.api_usage.today), (4, 1));
}

async fn expiries_are_announced_once(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let today = app.app.clock.now().to_string()[..10].parse().unwrap();
    let settings = DeviceSettings {
        name: "Star".to_owned(),
        limits: Limits { expiration_date: Some(today), ..Limits::default() },
        ..DeviceSettings::default()
    };
    app.store.create_device(&Actor::operator(tenant.account.id), settings, None).await.unwrap();
    let rest = announce_expiries(&app.app).await;
    assert!((1..=30).contains(&rest.as_secs()), "{rest:?}");
    app.clock().advance_seconds(86_400);
    announce_expiries(&app.app).await;
    assert!(app.store.announce_expiries().await.unwrap().is_empty(), "already announced");
}

async fn forgetting_what_is_over_fails_nothing(engine: Engine) {
    let app = TestApp::new(engine).await;
    delete_expired(&app.app).await;
    app.store.close().await;
    delete_expired(&app.app).await;
    save_usage(&app.app).await;
    announce_expiries(&app.app).await;
}

async fn events_are_kept_as_long_as_set(engine: Engine) {
    let app = TestApp::with(engine, |config| config.events.retention_hours = 2).await;
    let account = app.tenant("acme", 10).await.account.id;
    let kept = async || app.store.list_events(Scope::for_operator(account), 0, 100).await.unwrap().len();
    let before = kept().await;
    assert!(before > 0);
    app.clock().advance_seconds(2 * 3_600);
    trim_logs(&app.app).await;
    assert_eq!(kept().await, before);
    app.clock().advance_seconds(1);
    trim_logs(&app.app).await;
    assert_eq!(kept().await, 0);
    app.store.close().await;
    trim_logs(&app.app).await;
}

#[test]
fn the_retention_of_events_has_bounds() {
    for (hours, expect) in [(0, false), (1, true), (72, true), (8_760, true), (8_761, false)] {
        let mut config = default_config();
        config.events.retention_hours = hours;
        assert_eq!(config.validate().is_ok(), expect, "{hours}");
    }
}

/// A request for the metrics from this address.
async fn figures(app: &TestApp, address: &str, headers: &[(&str, &str)]) -> (StatusCode, String) {
    let mut request = Request::get("/metrics");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Body::empty()).unwrap();
    request.extensions_mut().insert(ClientAddress(address.parse::<IpAddr>().unwrap()));
    let response = app.router.clone().oneshot(request).await.unwrap();
    let (status, body) = (response.status(), response.into_body().collect().await.unwrap().to_bytes());
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn figures_are_for_loopback_or_the_secret() {
    let secret = "a long enough secret";
    let app =
        TestApp::with(Engine::Sqlite, |config| config.metrics.secret = SecretString::from(secret)).await;
    publish_store(app.store.stats());
    app.call("GET /healthz").send().await.expect(200);
    let check = async |address: &str, headers: &[(&str, &str)], expect: u16| {
        let (status, body) = figures(&app, address, headers).await;
        assert_eq!(status, expect, "{address} {headers:?}");
        assert_eq!(body.contains("perigee_store_commits_total"), expect == 200, "{body}");
    };
    for host in ["localhost", "localhost:8080", "127.0.0.1:8080", "127.1.2.3", "[::1]:8080", "LOCALHOST"] {
        check("127.0.0.1", &[("host", host)], 200).await;
    }
    let local = ("host", "localhost");
    check("::1", &[local], 200).await;
    check("::ffff:127.0.0.1", &[local], 200).await;
    check("203.0.113.7", &[local], 404).await;
    // A proxy on this machine that adds no header passes on the name it was requested.
    for host in [
        "track.example.com",
        "localhost.example.com",
        "203.0.113.7",
        "10.0.0.1:80",
        "127.0.0.1.example.com",
        "",
    ] {
        check("127.0.0.1", &[("host", host)], 404).await;
    }
    check("127.0.0.1", &[], 404).await;
    check("127.0.0.1", &[local, ("host", "track.example.com")], 404).await;
    for name in ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded", "via"]
    {
        check("127.0.0.1", &[local, (name, "x")], 404).await;
    }
    check("203.0.113.7", &[("authorization", &format!("Bearer {secret}"))], 200).await;
    check("203.0.113.7", &[("authorization", &format!("bearer {secret}"))], 200).await;
    for wrong in ["Bearer wrong", "Bearer ", "Bearer", "", secret] {
        check("203.0.113.7", &[("authorization", wrong)], 404).await;
    }

    let without = TestApp::new(Engine::Sqlite).await;
    assert_eq!(figures(&without, "203.0.113.7", &[("authorization", "Bearer ")]).await.0, 404);
    let unknown = without.call("GET /api/nothing").send().await.expect_error(404, "not-found");
    let mut hidden: serde_json::Value =
        serde_json::from_str(&figures(&without, "203.0.113.7", &[]).await.1).unwrap();
    hidden["instance"] = unknown["instance"].clone();
    assert_eq!(hidden, unknown, "where there is nothing to see, nothing is seen");
}

#[tokio::test]
async fn made_up_methods_are_one_series() {
    let app = TestApp::new(Engine::Sqlite).await;
    publish_store(app.store.stats());
    for method in ["BREW", "BREW2", "x"] {
        app.call(&format!("{method} /healthz")).send().await.expect_error(405, "method-not-allowed");
    }
    let (_, text) = figures(&app, "127.0.0.1", &[("host", "localhost")]).await;
    assert!(text.contains("method=\"other\"") && !text.contains("BREW"), "{text}");
}

#[test]
fn the_book_has_every_code_and_no_other() {
    let book = include_str!("../../../../docs/api/errors.md");
    let found: Vec<&str> =
        book.lines().filter(|line| line.starts_with("| ") && line.contains("| `")).collect();
    let known: Vec<String> = ErrorCode::ALL
        .iter()
        .map(|code| format!("| {} | `{}` |", code.status().as_u16(), code.name()))
        .collect();
    assert_eq!(found.len(), known.len());
    for (found, known) in found.iter().zip(&known) {
        assert!(found.starts_with(known), "{found} is not {known}");
    }
}

#[track_caller]
fn assert_strict(answer: &Answer) {
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'self';") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn pages_load_nothing_that_the_policy_forbids() {
    let app = TestApp::new(Engine::Sqlite).await;
    for path in ["/", "/password", "/api/docs"] {
        let page = app.call(&format!("GET {path}")).send().await;
        assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"));
        assert_strict(&page);
        let html = String::from_utf8(page.body.clone()).unwrap();
        for inline in ["<style", "style=", "onclick", "javascript:", "://"] {
            assert!(!html.contains(inline), "{path} has {inline}");
        }
        for loaded in html.split(['"']).filter(|part| part.starts_with("pages/") || part.starts_with("docs/"))
        {
            let base = if path == "/api/docs" { "/api/" } else { "/" };
            let file = app.call(&format!("GET {base}{loaded}")).send().await;
            assert_eq!(file.status, 200, "{loaded}");
            assert!(file.header("cache-control").starts_with("public, max-age="), "{loaded}");
            assert_strict(&file);
        }
        let tag = page.header("etag").to_owned();
        let again = app.call(&format!("GET {path}")).header("if-none-match", &tag).send().await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{path}");
    }
}

#[tokio::test]
async fn files_have_their_types_and_nothing_else_is_served() {
    let app = TestApp::new(Engine::Sqlite).await;
    let types = [
        ("/api/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
        ("/api/docs/swagger-ui.css", "text/css; charset=utf-8"),
        ("/api/docs/icon.svg", "image/svg+xml"),
        ("/api/docs/LICENSE.swagger-ui", "text/plain; charset=utf-8"),
        ("/pages/password.js", "text/javascript; charset=utf-8"),
        ("/pages/de.json", "application/json"),
        ("/favicon.ico", "image/svg+xml"),
    ];
    for (path, media_type) in types {
        let file = app.call(&format!("GET {path}")).send().await;
        assert_eq!((file.status.as_u16(), file.header("content-type")), (200, media_type), "{path}");
    }
    for path in [
        "/api/docs/README.md",
        "/api/docs/vendor.sha256",
        "/api/docs/index.html",
        "/api/docs/..%2findex.html",
        "/pages/password.html",
        "/pages/%00",
    ] {
        app.call(&format!("GET {path}")).send().await.expect_error(404, "not-found");
    }
    app.call("POST /api/docs").send().await.expect_error(405, "method-not-allowed");
}

#[tokio::test]
async fn everything_follows_the_prefix() {
    let base = "https://example.com/track";
    let app = TestApp::with(Engine::Sqlite, |config| config.server.base_url = base.to_owned()).await;
    let document = app.call("GET /track/api/openapi.json").send().await;
    assert_eq!(document.expect(200)["servers"][0]["url"], base);
    let known = app.call("GET /track/API/OpenAPI.json").header("if-none-match", document.header("etag"));
    assert_eq!(known.send().await.status, 304);
    for (path, to) in [("/track", "/track/"), ("/track/api/docs/", "/track/api/docs")] {
        let answer = app.call(&format!("GET {path}")).send().await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (308, to), "{path}");
        assert_eq!(app.call(&format!("GET {to}")).send().await.status, 200, "{to}");
    }
    assert_eq!(app.call("GET /track/password").send().await.status, 200);
    assert_eq!(app.call("GET /track/pages/page.css").send().await.status, 200);
    app.call("GET /track/healthz").send().await.expect(200);
}

/// The reference page is public: it is compressed once and not for each request.
#[tokio::test]
async fn files_of_the_reference_page_are_compressed_beforehand() {
    let app = TestApp::new(Engine::Sqlite).await;
    let files = [
        "/api/docs/swagger-ui-bundle.js",
        "/api/docs/swagger-ui.css",
        "/api/openapi.json",
        "/pages/page.css",
    ];
    for (path, encoding) in files.into_iter().flat_map(|path| [(path, "br"), (path, "gzip")]) {
        let request = Request::get(path).header("accept-encoding", encoding).body(Body::empty()).unwrap();
        let response = app.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-encoding"], encoding);
        assert_eq!(response.headers()["vary"], "accept-encoding", "{path}");
        // An answer that is compressed while it is sent has no Content-Length.
        assert!(response.body().size_hint().exact().is_some(), "{path} in {encoding}");
    }
}

#[tokio::test]
async fn large_texts_are_compressed_for_those_who_take_it() {
    let app = TestApp::new(Engine::Sqlite).await;
    let plain = app.call("GET /api/openapi.json").send().await;
    for encoding in ["br", "gzip"] {
        let packed = app.call("GET /api/openapi.json").header("accept-encoding", encoding).send().await;
        assert_eq!((packed.status.as_u16(), packed.header("content-encoding")), (200, encoding));
        assert!(packed.body.len() * 3 < plain.body.len(), "{} of {}", packed.body.len(), plain.body.len());
        assert_ne!(packed.header("etag"), plain.header("etag"), "other bytes have another tag");
        let again = app.call("GET /api/openapi.json").header("accept-encoding", encoding);
        let again = again.header("if-none-match", packed.header("etag")).send().await;
        assert_eq!((again.status.as_u16(), again.header("vary")), (304, "accept-encoding"));
    }
    let tiny = app.call("GET /healthz").header("accept-encoding", "gzip").send().await;
    assert_eq!(tiny.header("content-encoding"), "");
}
