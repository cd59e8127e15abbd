//! The operations of operators, and what others see.

use perigee_core::store::Users as _;
use serde_json::{Value, json};

use super::source::{Mood, Source};
use super::tiles::Map;
use crate::support::{Engine, TestApp};

struct House {
    app: TestApp,
    cookie: String,
    source: Source,
    url: String,
    _data: tempfile::TempDir,
}

impl House {
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let (source, url) = Source::start(Map::streets(11, "first").file()).await;
        let url = format!("{url}/world.pmtiles");
        let app = TestApp::with(Engine::Sqlite, |config| {
            data.path().clone_into(&mut config.store.data);
            config.store.warn_free_mib = 0;
            config.webhooks.allow_http = true;
            config.webhooks.allow_private = true;
            config.map.fetch_source.clone_from(&url);
        })
        .await;
        let house = app.tenant("house", 10).await;
        app.store.set_operator(house.owner.id, true).await.unwrap();
        let cookie = app.sign_in(&house.owner).await;
        Self { app, cookie, source, url, _data: data }
    }

    async fn send(&self, line: &str, body: &Value) -> crate::support::Answer {
        let call = self.app.call(line).cookie(&self.cookie);
        if body.is_null() { call.send().await } else { call.json(body).send().await }
    }

    /// Waits until the work in the background is done.
    async fn settled(&self, id: &str) -> Value {
        let fetcher = &self.app.app.maps.fetcher;
        while fetcher.find(id.parse().unwrap()).unwrap().unwrap().live.is_some() {
            tokio::task::yield_now().await;
        }
        self.send(&format!("GET /api/operator/maps/{id}"), &Value::Null).await.expect(200)["map"].clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_fetches_streets_and_everybody_sees_them_without_a_restart() {
    let house = House::new().await;
    let layers = async || {
        let facts = house.app.call("GET /api/console").send().await.expect(200);
        facts["map"]["layers"].as_array().unwrap().clone()
    };
    assert_eq!(layers().await, [] as [Value; 0]);
    let body = json!({"name": "Streets", "bbox": [-8.85, 42.15, -8.6, 42.3], "maxZoom": 11});
    let made = house.send("POST /api/operator/maps", &body).await.expect(201);
    let id = made["map"]["id"].as_str().unwrap().to_owned();
    let map = house.settled(&id).await;
    assert_eq!((&map["state"], &map["sourceHost"]), (&json!("measured"), &json!("127.0.0.1")), "{map}");
    assert!(
        map["size"]["bytes"].as_u64().unwrap() > 1_000
            && map["size"]["zooms"].as_array().unwrap().len() == 12
    );
    assert_eq!(layers().await, [] as [Value; 0]);

    house.send(&format!("POST /api/operator/maps/{id}/fetch"), &Value::Null).await.expect(200);
    let map = house.settled(&id).await;
    assert_eq!((&map["state"], &map["size"]), (&json!("ready"), &Value::Null), "{map}");
    let all = layers().await;
    assert_eq!((&all[0]["name"], &all[0]["format"]), (&json!("Streets"), &json!("vector")));
    let url = all[0]["url"].as_str().unwrap();
    let tiles = house.app.call(&format!("GET /{url}")).header("range", "bytes=0-6").send().await;
    assert_eq!((tiles.status.as_u16(), &tiles.body[..]), (206, &b"PMTiles"[..]));

    house.send(&format!("DELETE /api/operator/maps/{id}"), &Value::Null).await.expect(200);
    assert_eq!(layers().await, [] as [Value; 0]);
    let gone = house.app.call(&format!("GET /{url}")).header("range", "bytes=0-6").send().await;
    gone.expect_error(404, "not-found");
    house.send(&format!("GET /api/operator/maps/{id}"), &Value::Null).await.expect_error(404, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_map_at_a_time_is_copied_and_can_be_stopped() {
    let house = House::new().await;
    house.source.mood(Mood::Hangs, 0, 100);
    let body = json!({"name": "Streets", "country": "ES"});
    let made = house.send("POST /api/operator/maps", &body).await.expect(201);
    let id = made["map"]["id"].as_str().unwrap().to_owned();
    house.source.hung.notified().await;
    let other = json!({"name": "Other", "country": "Portugal"});
    house.send("POST /api/operator/maps", &other).await.expect_error(409, "map-busy");
    let fetch = format!("POST /api/operator/maps/{id}/fetch");
    house.send(&fetch, &Value::Null).await.expect_error(409, "map-busy");
    house.send(&format!("DELETE /api/operator/maps/{id}"), &Value::Null).await.expect_error(409, "map-busy");
    house.send(&format!("POST /api/operator/maps/{id}/stop"), &Value::Null).await.expect(200);
    let map = house.settled(&id).await;
    assert_eq!((&map["state"], &map["country"]), (&json!("stopped"), &json!("ES")));
    house.send(&format!("DELETE /api/operator/maps/{id}"), &Value::Null).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_places_of_devices_are_an_area() {
    let house = House::new().await;
    let owner = house.app.tenant("acme", 10).await.owner;
    let device = house.app.device(&owner, &json!({"name": "Boat"})).await;
    let now = house.app.app.clock.now().to_string();
    let fix = json!({"dateTime": now, "latitude": 42.24, "longitude": -8.72});
    house.app.send(&owner, &format!("POST /api/devices/{device}/locations"), &fix).await.expect(201);
    let body = json!({"name": "Streets", "deviceDays": 30, "maxZoom": 11});
    let made = house.send("POST /api/operator/maps", &body).await.expect(201);
    let map = house.settled(made["map"]["id"].as_str().unwrap()).await;
    // The device belongs to another account than the operator's: its places are not shown by a map.
    assert_eq!((&map["state"], &map["problem"]["code"]), (&json!("failed"), &json!("area")), "{map}");
}

#[tokio::test]
async fn bad_bodies_are_refused() {
    let house = House::new().await;
    for body in [
        json!({"country": "ES"}),
        json!({"name": "Streets"}),
        json!({"name": "Streets", "country": "ES", "deviceDays": 3}),
        json!({"name": "Streets", "bbox": [0, 1, 2]}),
        json!({"name": "Streets", "bbox": [0, 5, 2, 1]}),
        json!({"name": "Streets", "bbox": [0, 5, 2, 500]}),
        json!({"name": "Streets", "outline": [[0, 0], [1, 1]]}),
        json!({"name": "Streets", "outline": [[0, 0], [1, 1], [1, 91]]}),
        json!({"name": "Streets", "deviceDays": 731}),
        json!({"name": "Streets", "country": "ES", "maxZoom": 19}),
        json!({"name": "x".repeat(61), "country": "ES"}),
        json!({"name": "Streets", "country": "ES", "path": "/etc/passwd"}),
    ] {
        house.send("POST /api/operator/maps", &body).await.expect_error(400, "invalid-body");
    }
    assert_eq!(house.source.asked(), []);
    let list = house.send("GET /api/operator/maps", &Value::Null).await.expect(200);
    assert_eq!((list["maps"].as_array().unwrap().len(), &list["defaultSource"]), (0, &json!(house.url)));
}

#[tokio::test]
async fn nobody_else_has_anything_fetched() {
    let house = House::new().await;
    let owner = house.app.tenant("acme", 10).await.owner;
    let cookie = house.app.sign_in(&owner).await;
    let body = json!({"name": "Streets", "source": house.url, "country": "ES"});
    for line in [
        "GET /api/operator/maps",
        "POST /api/operator/maps",
        "POST /api/operator/maps/map_01jc2m8k4n5p6/fetch",
        "POST /api/operator/maps/map_01jc2m8k4n5p6/stop",
        "DELETE /api/operator/maps/map_01jc2m8k4n5p6",
    ] {
        let call = || {
            if line.ends_with("/maps") && line.starts_with("POST") {
                house.app.call(line).json(&body)
            } else {
                house.app.call(line)
            }
        };
        call().send().await.expect_error(401, "unauthenticated");
        call().by(&owner).send().await.expect_error(403, "session-required");
        call().cookie(&cookie).send().await.expect_error(403, "forbidden");
    }
    assert_eq!(house.source.asked(), [], "no request of a tenant or a stranger reaches another server");
}
