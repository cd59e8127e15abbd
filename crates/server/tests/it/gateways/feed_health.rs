//! Feeds that fall silent or are refused: announced once by an event, and shown in the API.

use serde_json::{Value, json};

use crate::support::{Engine, Tenant, TestApp, on_both_engines};

/// Tokens that outlast the days of the test, in seconds.
const TOKEN_SECONDS: u32 = 400 * 86_400;

on_both_engines!(
    a_silent_feed_is_announced_once,
    refused_requests_are_announced_once_an_hour,
    health_counts_messages_and_errors
);

struct World {
    app: TestApp,
    tenant: Tenant,
    id: String,
    path: String,
    cursor: String,
}

impl World {
    async fn new(engine: Engine, gateway: Value) -> Self {
        let app = TestApp::with(engine, |config| config.auth.token_seconds = TOKEN_SECONDS).await;
        let tenant = app.tenant("acme", 10).await;
        let made = app.send(&tenant.owner, "POST /api/gateways", &gateway).await.expect(201);
        let path = made["url"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap().to_owned();
        let cursor = app.get(&tenant.owner, "/api/events").await["nextCursor"].as_str().unwrap().to_owned();
        Self { cursor, id: made["id"].as_str().unwrap().to_owned(), path, app, tenant }
    }

    async fn send(&self, query: &str) -> u16 {
        let answer = self.app.call(&format!("POST {}?{query}", self.path)).send().await.status.as_u16();
        self.app.app.ingest.feeds.save(&*self.app.app.store).await.unwrap();
        answer
    }

    async fn health(&self) -> Value {
        self.app.get(&self.tenant.owner, &format!("/api/gateways/{}", self.id)).await["health"].clone()
    }

    async fn events(&self, kind: &str) -> Vec<Value> {
        let list = self
            .app
            .get(&self.tenant.owner, &format!("/api/events?cursor={}&types={kind}", self.cursor))
            .await;
        list["events"].as_array().unwrap().clone()
    }
}

async fn a_silent_feed_is_announced_once(engine: Engine) {
    let world = World::new(engine, json!({"feed": "osmand", "name": "Phones"})).await;
    assert_eq!(world.health().await["lastMessage"], Value::Null);
    for second in 0..200 {
        world.send(&format!("id=x&lat=1&lon=1&timestamp={}", 1_767_225_600 + second * 600)).await;
        world.app.clock().advance_seconds(600);
    }
    let health = world.health().await;
    assert_eq!((&health["intervalSeconds"], &health["lateSince"]), (&json!(600), &Value::Null), "{health}");
    assert_eq!(health["messagesLastDay"], 140);
    assert_eq!(world.app.app.store.announce_late_gateways().await.unwrap(), 0);
    for expect in [1, 0] {
        world.app.clock().advance_seconds(1_300);
        assert_eq!(world.app.app.store.announce_late_gateways().await.unwrap(), expect);
    }
    let events = world.events("feed.late").await;
    assert_eq!(events.len(), 1);
    assert_eq!(
        (&events[0]["data"]["id"], &events[0]["data"]["name"]),
        (&json!(world.id), &json!("Phones")),
        "{events:?}"
    );
    assert!(world.health().await["lateSince"].is_string());
    world.send("id=x&lat=1&lon=1&timestamp=1767400000").await;
    assert_eq!(world.health().await["lateSince"], Value::Null);
    world.app.clock().advance_seconds(86_400);
    assert_eq!(world.app.app.store.announce_late_gateways().await.unwrap(), 1, "silent again");
}

async fn refused_requests_are_announced_once_an_hour(engine: Engine) {
    let world = World::new(engine, json!({"feed": "garmin", "options": {"token": "right"}})).await;
    for _ in 0..5 {
        assert_eq!(world.send("").await, 403);
    }
    let events = world.events("feed.refused").await;
    assert_eq!(events.len(), 1);
    assert!(events[0]["data"]["reason"].as_str().unwrap().contains("X-Outbound-Auth-Token"), "{events:?}");
    let health = world.health().await;
    assert_eq!((&health["refused"], &health["lastMessage"]), (&json!(5), &Value::Null));
    world.app.clock().advance_seconds(3_600);
    assert_eq!(world.send("").await, 403);
    assert_eq!(world.events("feed.refused").await.len(), 2);
    let shown = world.app.get(&world.tenant.owner, &format!("/api/gateways/{}", world.id)).await;
    assert_eq!(shown["options"], json!({"token": null}), "secrets are not shown");
}

async fn health_counts_messages_and_errors(engine: Engine) {
    let world = World::new(engine, json!({"feed": "osmand"})).await;
    assert_eq!(world.send("id=x&lat=1&lon=1&timestamp=1767225600").await, 200);
    assert_eq!(world.send("").await, 200);
    let health = world.health().await;
    assert_eq!(
        (&health["messagesLastDay"], &health["errors"], &health["refused"]),
        (&json!(2), &json!(1), &json!(0))
    );
    assert!(health["lastError"].is_string() && health["lastMessage"] == "2026-01-01T00:00:00Z", "{health}");
    world.app.clock().advance_seconds(25 * 3_600);
    assert_eq!(world.health().await["messagesLastDay"], 0);
}
