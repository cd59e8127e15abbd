//! The operator's maps: files, tile servers that browsers ask, and tile servers that this server asks, over real sockets.

use std::path::Path;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, Uri};
use perigee_server::config::MapLayer;
use serde_json::json;

use crate::support::{Engine, Person, TestApp};

/// A tile server that counts its requests, and answers as configured.
#[derive(Clone, Default)]
struct TileServer {
    asked: Arc<Mutex<Vec<String>>>,
    /// A status other than 0 is answered instead of a tile.
    status: Arc<AtomicU16>,
    bytes: Arc<AtomicUsize>,
}

impl TileServer {
    async fn start() -> (Self, String) {
        let server = Self::default();
        let answer = |State(server): State<Self>, uri: Uri, headers: HeaderMap| async move {
            server.answer(&uri, &headers)
        };
        let router = Router::new().fallback(answer).with_state(server.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, url)
    }

    fn answer(&self, uri: &Uri, headers: &HeaderMap) -> Response {
        assert!(!headers.contains_key("cookie") && !headers.contains_key("authorization"));
        self.asked.lock().unwrap().push(uri.to_string());
        match self.status.load(Ordering::SeqCst) {
            0 => {}
            302 => return (StatusCode::FOUND, [("location", "http://localhost/")]).into_response(),
            status => return StatusCode::from_u16(status).unwrap().into_response(),
        }
        if uri.path().ends_with("/page") {
            return ([("content-type", "text/html")], "<script>").into_response();
        }
        let tile = vec![7; self.bytes.load(Ordering::SeqCst).max(10)];
        ([("content-type", "image/png")], tile).into_response()
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn layer(name: &str, source: &str) -> MapLayer {
    MapLayer {
        name: name.to_owned(),
        source: source.to_owned(),
        overlay: false,
        vector: false,
        attribution: "© Tiles".to_owned(),
        min_zoom: 0,
        max_zoom: 10,
        proxy: None,
    }
}

async fn app_with(data: &Path, layers: Vec<MapLayer>) -> TestApp {
    TestApp::with(Engine::Sqlite, |config| {
        data.clone_into(&mut config.store.data);
        config.map.layers = layers;
    })
    .await
}

/// The addresses of the layers, as browsers receive them.
async fn urls(app: &TestApp) -> Vec<String> {
    let facts = app.call("GET /api/console").send().await.expect(200);
    let layers = facts["map"]["layers"].as_array().unwrap();
    layers.iter().map(|layer| layer["url"].as_str().unwrap().to_owned()).collect()
}

fn tile(url: &str, z: &str, x: &str, y: &str) -> String {
    format!("GET /{}", url.replace("{z}", z).replace("{x}", x).replace("{y}", y))
}

#[tokio::test]
async fn tiles_are_fetched_once_and_kept() {
    let data = tempfile::tempdir().unwrap();
    let (server, url) = TileServer::start().await;
    let app =
        app_with(data.path(), vec![layer("Sea", &format!("{url}/sea/{{z}}/{{x}}/{{y}}.png?key=secret"))])
            .await;
    let address = urls(&app).await.remove(0);
    assert!(!address.contains("secret"), "{address}");
    let owner = app.tenant("acme", 10).await.owner;
    let get = async |z, x, y| app.call(&tile(&address, z, x, y)).by(&owner).send().await;

    for _ in 0..3 {
        let answer = get("3", "4", "2").await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (200, 10));
        assert_eq!(answer.header("content-type"), "image/png");
        assert!(answer.header("cache-control").contains("max-age"));
    }
    assert_eq!(server.asked(), ["/sea/3/4/2.png?key=secret"], "the cache answered twice");

    // After a restart the tile is still there, also while its server is down; then it is requested again.
    let again =
        app_with(data.path(), vec![layer("Sea", &format!("{url}/sea/{{z}}/{{x}}/{{y}}.png?key=secret"))])
            .await;
    let tenant = again.tenant("acme", 10).await;
    let kept = again.call(&tile(&address, "3", "4", "2")).by(&tenant.owner).send().await;
    assert_eq!(kept.status.as_u16(), 200);
    assert_eq!(server.asked(), [] as [String; 0]);
    again.clock().advance_seconds(31 * 86_400);
    let Person { id, email, .. } = tenant.owner;
    let later = again.equip(&tenant.account, id, email).await;
    server.status.store(500, Ordering::SeqCst);
    let old = again.call(&tile(&address, "3", "4", "2")).by(&later).send().await;
    assert_eq!(old.status.as_u16(), 200, "an old one");
    assert_eq!(server.asked().len(), 1);

    // A missing tile is answered with 204, which is cached too.
    server.status.store(404, Ordering::SeqCst);
    for _ in 0..2 {
        let missing = get("3", "0", "0").await;
        assert_eq!((missing.status.as_u16(), missing.body.len()), (204, 0));
    }
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn only_tiles_of_the_layer_can_be_asked_for() {
    let data = tempfile::tempdir().unwrap();
    let (server, url) = TileServer::start().await;
    let app = app_with(data.path(), vec![layer("Sea", &format!("{url}/{{z}}/{{x}}/{{y}}"))]).await;
    let address = urls(&app).await.remove(0);
    let owner = app.tenant("acme", 10).await.owner;
    for (z, x, y) in [
        ("11", "0", "0"),
        ("3", "8", "0"),
        ("3", "0", "8"),
        ("3", "-1", "0"),
        ("3", "%2e%2e", "0"),
        ("3", "1", "0.png"),
        ("03", "1", "0"),
        ("3", "1", "http:%2f%2f127.0.0.1"),
    ] {
        app.call(&tile(&address, z, x, y)).by(&owner).send().await.expect_error(404, "not-found");
    }
    let unknown = app.call("GET /api/map/layers/000000000000/1/0/0").by(&owner).send().await;
    unknown.expect_error(404, "not-found");
    let file = address.replace("{z}/{x}/{y}", "tiles.pmtiles");
    app.call(&format!("GET /{file}"))
        .header("range", "bytes=0-9")
        .send()
        .await
        .expect_error(404, "not-found");
    assert_eq!(server.asked(), [] as [String; 0], "nobody was asked");
}

#[tokio::test]
async fn a_bad_tile_server_does_no_harm() {
    let data = tempfile::tempdir().unwrap();
    let (server, url) = TileServer::start().await;
    // A port at which nobody listens any more.
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let layers = vec![
        layer("Sea", &format!("{url}/{{z}}/{{x}}/{{y}}")),
        layer("Page", &format!("{url}/{{z}}/{{x}}/{{y}}/page")),
        layer("Closed", &format!("http://{closed}/{{z}}/{{x}}/{{y}}")),
    ];
    let app = app_with(data.path(), layers).await;
    let [sea, page, closed_layer] = urls(&app).await.try_into().unwrap();
    let owner = app.tenant("acme", 10).await.owner;
    let refused = async |url: &str, x: &str| {
        let answer = app.call(&tile(url, "5", x, "0")).by(&owner).send().await;
        let body = answer.expect_error(503, "unavailable").to_string();
        assert!(!body.contains("127.0.0.1"), "{body}");
    };
    // Redirects are not followed, pages not passed on, large answers cut off.
    for (x, status) in [("0", 302), ("1", 500), ("2", 403)] {
        server.status.store(status, Ordering::SeqCst);
        refused(&sea, x).await;
    }
    server.status.store(0, Ordering::SeqCst);
    refused(&page, "0").await;
    refused(&closed_layer, "0").await;
    server.bytes.store(3 * 1024 * 1024, Ordering::SeqCst);
    refused(&sea, "3").await;
    server.bytes.store(0, Ordering::SeqCst);
    assert_eq!(
        app.call(&tile(&sea, "5", "3", "0")).by(&owner).send().await.status.as_u16(),
        200,
        "nothing bad was kept"
    );
}

#[tokio::test]
async fn browsers_may_ask_only_servers_that_are_not_proxied() {
    let data = tempfile::tempdir().unwrap();
    let direct =
        MapLayer { proxy: Some(false), ..layer("Direct", "https://direct.example.com/{z}/{x}/{y}.png") };
    let layers = vec![
        layer("Proxied", "https://proxied.example.com/{z}/{x}/{y}.png"),
        direct,
        layer("File", "https://files.example.com/world.pmtiles"),
        MapLayer { overlay: true, ..layer("Marks", "https://marks.example.com/{z}/{x}/{y}.png") },
    ];
    let app = app_with(data.path(), layers).await;
    let page = app.call("GET /").send().await;
    let policy = page.header("content-security-policy");
    assert!(
        policy.contains("connect-src 'self' https://direct.example.com https://files.example.com;"),
        "{policy}"
    );
    assert!(!policy.contains("proxied") && !policy.contains("marks"), "{policy}");
    let facts = app.call("GET /api/console").send().await.expect(200);
    let member_of = |index: usize, member: &str| facts["map"]["layers"][index][member].clone();
    assert_eq!(member_of(1, "url"), "https://direct.example.com/{z}/{x}/{y}.png");
    assert_eq!((member_of(2, "kind"), member_of(0, "kind")), (json!("pmtiles"), json!("tiles")));
    assert_eq!((member_of(3, "name"), member_of(3, "overlay")), (json!("Marks"), json!(true)));
    assert_eq!((member_of(0, "attribution"), member_of(0, "maxZoom")), (json!("© Tiles"), json!(10)));
}

#[tokio::test]
async fn added_layers_come_after_those_of_the_settings() {
    use perigee_server::map_layers::{AddedLayers, Layers};

    let data = tempfile::tempdir().unwrap();
    let added = AddedLayers { layers: vec![layer("Added", "https://tiles.example.com/{z}/{x}/{y}?key=1")] };
    added.write(data.path()).unwrap();
    assert_eq!(AddedLayers::read(data.path()).unwrap(), added, "keys in addresses are kept");
    let app = app_with(data.path(), vec![layer("Set", "https://tiles.example.com/a/{z}/{x}/{y}")]).await;
    let facts = app.call("GET /api/console").send().await.expect(200);
    let names: Vec<_> =
        facts["map"]["layers"].as_array().unwrap().iter().map(|layer| &layer["name"]).collect();
    assert_eq!(names, ["Set", "Added"]);

    let mut map = crate::support::app::default_config().map;
    map.layers = vec![layer("Added", "https://tiles.example.com/{z}/{x}/{y}")];
    assert!(Layers::open(&map, data.path()).unwrap_err().problem.contains("more than once"));
    map.layers = vec![layer("None", "/nowhere/world.pmtiles")];
    assert!(Layers::open(&map, data.path()).unwrap_err().problem.contains("cannot read"));
    std::fs::write(data.path().join("map-layers.json"), "{").unwrap();
    map.layers.clear();
    assert!(Layers::open(&map, data.path()).unwrap_err().problem.contains("map-layers.json"));
}

#[tokio::test]
async fn strangers_have_nothing_fetched_and_others_have_a_rate() {
    let data = tempfile::tempdir().unwrap();
    let (server, url) = TileServer::start().await;
    let app = app_with(data.path(), vec![layer("Sea", &format!("{url}/{{z}}/{{x}}/{{y}}?key=1"))]).await;
    let address = urls(&app).await.remove(0);
    let line = tile(&address, "3", "4", "2");
    app.call(&line).send().await.expect_error(401, "unauthenticated");
    let guessed = app.call(&format!("{line}?share=q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")).send().await;
    guessed.expect_error(404, "not-found");
    app.call(&format!("{line}?share=")).send().await.expect_error(404, "not-found");
    assert_eq!(server.asked(), [] as [String; 0], "nothing was fetched with the operator's key");

    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Boat"})).await;
    let until = app.app.clock.now().plus_seconds(3_600).to_string();
    let body = json!({"deviceId": device, "until": until});
    let made = app.send(&tenant.owner, "POST /api/shares", &body).await.expect(201);
    let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let answer = app.call(&format!("{line}?share={secret}")).send().await;
    assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, "private, max-age=86400"));
    app.clock().advance_seconds(3_601);
    app.call(&format!("{line}?share={secret}")).send().await.expect_error(404, "not-found");

    let owner = app.equip(&tenant.account, tenant.owner.id, tenant.owner.email).await;
    let before = app.call("GET /api/account").by(&owner).send().await.expect(200)["apiUsage"].clone();
    let mut refused = 0;
    for _ in 0..700 {
        let answer = app.call(&line).by(&owner).send().await;
        if answer.status.as_u16() == 429 {
            assert_eq!(answer.header("retry-after"), "1");
            refused += 1;
        }
    }
    assert_eq!(refused, 100, "a reader has 600 at once");
    let after = app.call("GET /api/account").by(&owner).send().await.expect(200)["apiUsage"].clone();
    assert_eq!(after.as_i64(), before.as_i64().map(|calls| calls + 1), "tiles are no calls of the API");
}
