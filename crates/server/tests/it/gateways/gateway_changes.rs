//! Changes of gateways: options are validated immediately, old messages are decoded with the current settings,
//! addresses are renewed, and deleting asks for confirmation.

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Answer, Engine, Tenant, TestApp, on_both_engines, pointers};

on_both_engines!(
    options_are_checked_before_anything_is_stored,
    a_corrected_mapping_reads_old_messages,
    changes_name_the_revision_and_keep_secrets,
    a_renewed_address_leaves_the_old_one_for_a_day,
    deleting_asks_and_keeps_what_reprocessing_needs,
    a_gateway_given_to_another_device_keeps_old_messages_where_they_are,
    settings_are_tried_before_they_are_stored,
);

struct World {
    app: TestApp,
    tenant: Tenant,
    /// The end of the event log before the test.
    cursor: String,
}

impl World {
    async fn new(engine: Engine) -> Self {
        // Tests move the clock by a day.
        let app = TestApp::with(engine, |config| config.auth.token_seconds = 30 * 86_400).await;
        let tenant = app.tenant("acme", 10).await;
        let cursor = app.get(&tenant.owner, "/api/events").await["nextCursor"].as_str().unwrap().to_owned();
        Self { app, tenant, cursor }
    }

    /// Creates a gateway; returns its ID and the path of its address.
    async fn gateway(&self, body: &Value) -> (String, String) {
        let made = self.send("POST /api/gateways", body).await.expect(201);
        (made["id"].as_str().unwrap().to_owned(), path_of(&made))
    }

    async fn send(&self, line: &str, body: &Value) -> Answer {
        self.app.send(&self.tenant.owner, line, body).await
    }

    async fn call(&self, line: &str) -> Answer {
        self.app.call(line).by(&self.tenant.owner).send().await
    }

    async fn get(&self, path: &str) -> Value {
        self.app.get(&self.tenant.owner, path).await
    }

    async fn post(&self, path: &str, body: &Value) -> u16 {
        let call = self.app.call(&format!("POST {path}"));
        call.body("application/json", body.to_string().into_bytes()).send().await.status.as_u16()
    }

    async fn newest_message(&self) -> Value {
        self.get("/api/rawMessages?limit=1").await["rawMessages"][0].clone()
    }

    async fn reprocess(&self, message: &Value) -> Value {
        let id = message["id"].as_str().unwrap();
        self.call(&format!("POST /api/rawMessages/{id}/reprocess")).await.expect(200)["result"].clone()
    }

    async fn locations(&self, device: &str) -> Vec<Value> {
        let list = self.get(&format!("/api/devices/{device}/locations")).await;
        list["locations"].as_array().unwrap().clone()
    }

    async fn event_types(&self, id: &str) -> Vec<String> {
        let events = self.get(&format!("/api/events?cursor={}", self.cursor)).await["events"].clone();
        let events = events.as_array().unwrap();
        let ours = events.iter().filter(|event| event["data"]["id"] == id);
        ours.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }
}

fn path_of(gateway: &Value) -> String {
    gateway["url"].as_str().unwrap().strip_prefix("http://perigee.test").unwrap().to_owned()
}

fn mapping(latitude: &str) -> Value {
    json!({"identifiers": ["/unit"], "fields": {"latitude": latitude, "longitude": "/at/x"}})
}

fn body() -> Value {
    json!({"unit": "b-7", "at": {"y": 42.5, "x": -8.25}})
}

async fn options_are_checked_before_anything_is_stored(engine: Engine) {
    let world = World::new(engine).await;
    let wrong = [
        ("json", json!({"maping": mapping("/at/y")}), "/options/maping"),
        (
            "json",
            json!({"mapping": {"fields": {"speed": {"path": "/s", "unit": "warp"}}}}),
            "/options/mapping/fields/speed/unit",
        ),
        ("json", json!({"mapping": {"fields": {"a/b": "x"}}}), "/options/mapping/fields/a~1b"),
        ("json", json!({"mapping": [1]}), "/options/mapping"),
        ("json", json!({"mapping": mapping("/at/y"), "user": "u"}), "/options/password"),
        ("spot-feed", json!({"feedId": "x", "user": "u", "password": "p"}), "/options/user"),
        ("osmand", json!({"user": "u"}), "/options/password"),
        ("osmand", json!({"a": [1]}), "/options/a"),
        (
            "cloudloop",
            json!({"template": {"fields": [{"field": "a", "offset": 0, "width": 9}]}}),
            "/options/template/fields/0/width",
        ),
        ("cloudloop", json!({"payload": "smart"}), "/options/payload"),
        ("cloudloop", json!({"devices": {"300": {"template": {}}}}), "/options/devices/300/template/fields"),
        ("rockblock", json!({"key": "rubbish"}), "/options/key"),
        ("garmin", json!({"token": 5}), "/options/token"),
        ("spot-feed", json!({}), "/options/feedId"),
        ("spot-feed", json!({"feedId": "x", "url": "https://127.0.0.1/"}), "/options/url"),
        (
            "garmin-history",
            json!({"url": "https://example.org", "apiKey": "k", "imeis": ["1"]}),
            "/options/imeis/0",
        ),
    ];
    for (feed, options, pointer) in &wrong {
        let answer = world.send("POST /api/gateways", &json!({"feed": feed, "options": options})).await;
        let error = answer.expect_error(400, "invalid-body");
        assert!(pointers(&error).contains(pointer), "{feed} {options}: {error}");
    }
    assert_eq!(world.get("/api/gateways").await["gateways"], json!([]), "nothing is stored");
    let (id, _) = world.gateway(&json!({"feed": "json", "options": {"mapping": mapping("/at/y")}})).await;
    let before = world.get(&format!("/api/gateways/{id}")).await;
    for (_, options, pointer) in wrong.iter().filter(|(feed, ..)| *feed == "json") {
        let error = world.send(&format!("PUT /api/gateways/{id}"), &json!({"options": options})).await;
        let error = error.expect_error(400, "invalid-body");
        assert!(pointers(&error).contains(pointer), "{error}");
    }
    let changed = world.send(&format!("PATCH /api/gateways/{id}"), &json!({"feed": "osmand"})).await;
    assert_eq!(pointers(&changed.expect_error(400, "invalid-body")), ["/feed"]);
    assert_eq!(world.get(&format!("/api/gateways/{id}")).await["options"], before["options"]);
}

async fn a_corrected_mapping_reads_old_messages(engine: Engine) {
    let world = World::new(engine).await;
    let device = world.app.device(&world.tenant.owner, &json!({"name": "Boat", "identifier": "b-7"})).await;
    let (id, path) =
        world.gateway(&json!({"feed": "json", "options": {"mapping": mapping("/at/wrong")}})).await;
    assert_eq!(world.post(&path, &body()).await, 200);
    let old = world.newest_message().await;
    assert_eq!(world.reprocess(&old).await, "unparsable", "the mapping has no latitude");
    assert_eq!(world.locations(&device).await, Vec::<Value>::new());
    let correction = json!({"options": {"mapping": {"fields": {"latitude": "/at/y"}}}});
    let changed = world.send(&format!("PATCH /api/gateways/{id}"), &correction).await.expect(200);
    assert_eq!(changed["options"]["mapping"], mapping("/at/y"), "the rest stays");
    assert_eq!(changed["url"], Value::Null);
    assert_eq!(world.reprocess(&old).await, "decoded");
    let stored = world.locations(&device).await;
    assert_eq!(stored.len(), 1);
    assert_eq!((&stored[0]["latitude"], &stored[0]["longitude"]), (&json!(42.5), &json!(-8.25)));
    let later = json!({"unit": "b-7", "at": {"y": 43, "x": -8}});
    assert_eq!(world.post(&path, &later).await, 200, "the address stays");
    assert_eq!(world.locations(&device).await.len(), 2);
    assert_eq!(world.event_types(&id).await, ["gateway.created", "gateway.updated"]);
    let audit = world.get("/api/audit").await["audit"].to_string();
    assert!(audit.contains("gateway.update") && audit.contains("changed options"), "{audit}");
}

async fn changes_name_the_revision_and_keep_secrets(engine: Engine) {
    let world = World::new(engine).await;
    let (id, path) =
        world.gateway(&json!({"feed": "garmin", "name": "Boats", "options": {"token": "right"}})).await;
    let line = |method: &str| format!("{method} /api/gateways/{id}");
    let garmin = async |token: &str| {
        let call = world.app.call(&format!("POST {path}")).header("X-Outbound-Auth-Token", token);
        call.body("application/json", b"{\"Events\": []}".to_vec()).send().await.status.as_u16()
    };
    let read = world.call(&line("GET")).await;
    let (tag, mut shown) = (read.header("etag").to_owned(), read.expect(200));
    assert_eq!(shown["options"], json!({"token": null}));
    let known = world.app.call(&line("GET")).by(&world.tenant.owner).header("If-None-Match", &tag);
    assert_eq!(known.send().await.status, 304);
    shown["name"] = json!("Fleet");
    let put = world.app.call(&line("PUT")).by(&world.tenant.owner).header("If-Match", &tag).json(&shown);
    let put = put.send().await;
    assert_eq!(put.expect(200)["name"], "Fleet", "what was read can be sent back");
    assert_ne!(put.header("etag"), tag);
    let late = world.app.call(&line("PUT")).by(&world.tenant.owner).header("If-Match", &tag).json(&shown);
    late.send().await.expect_error(412, "precondition-failed");
    let deletion = world.app.call(&line("DELETE")).by(&world.tenant.owner).header("If-Match", &tag);
    deletion.send().await.expect_error(412, "precondition-failed");
    assert_eq!((garmin("right").await, garmin("wrong").await), (200, 403), "the token stays");

    world.send(&line("PATCH"), &json!({"options": {"payload": "text"}})).await.expect(200);
    assert_eq!(garmin("wrong").await, 403);
    let changed = world.send(&line("PATCH"), &json!({"options": {"token": "other"}})).await.expect(200);
    assert_eq!(changed["options"], json!({"token": null, "payload": "text"}));
    assert_eq!((garmin("right").await, garmin("other").await), (403, 200));
    let changed = world.send(&line("PATCH"), &json!({"options": {"token": null}})).await.expect(200);
    assert_eq!(changed["options"], json!({"payload": "text"}), "removed");
    assert_eq!(garmin("wrong").await, 200);
    let changed = world.send(&line("PUT"), &json!({})).await.expect(200);
    assert_eq!((&changed["options"], &changed["name"]), (&json!({}), &Value::Null));
    let missing = world.send(&line("PATCH"), &json!({"deviceId": "dev_01jc2m8k4n5p7"})).await;
    assert_eq!(pointers(&missing.expect_error(400, "invalid-body")), ["/deviceId"]);
}

async fn a_renewed_address_leaves_the_old_one_for_a_day(engine: Engine) {
    let world = World::new(engine).await;
    let device = world.app.device(&world.tenant.owner, &json!({"name": "Ana"})).await;
    let (id, old) = world.gateway(&json!({"feed": "osmand", "deviceId": device})).await;
    let renewed = world.call(&format!("POST /api/gateways/{id}/renewAddress")).await.expect(200);
    let new = path_of(&renewed);
    assert_ne!(new, old);
    assert!(renewed["previousUrlUntil"].is_string());
    let send = async |path: &str, second: u8| {
        let line = format!("POST {path}?lat=1&lon=1&timestamp=17672256{second:02}");
        world.app.call(&line).send().await.status.as_u16()
    };
    assert_eq!((send(&old, 1).await, send(&new, 2).await), (200, 200));
    world.app.clock().advance_seconds(86_400);
    assert_eq!((send(&old, 3).await, send(&new, 4).await), (404, 200));
    let shown = world.get(&format!("/api/gateways/{id}")).await;
    assert_eq!((&shown["url"], &shown["previousUrlUntil"]), (&Value::Null, &Value::Null));
    assert_eq!(world.locations(&device).await.len(), 3);
    let polled = json!({"feed": "spot-feed", "options": {"feedId": "x"}});
    let polled = world.send("POST /api/gateways", &polled).await.expect(201)["id"].clone();
    let line = format!("POST /api/gateways/{}/renewAddress", polled.as_str().unwrap());
    world.call(&line).await.expect_error(409, "no-address");
}

async fn deleting_asks_and_keeps_what_reprocessing_needs(engine: Engine) {
    let world = World::new(engine).await;
    let options = json!({"mapping": mapping("/at/y"), "user": "u", "password": "secret-word"});
    let (id, path) = world.gateway(&json!({"feed": "json", "options": options})).await;
    let sent = world.app.call(&format!("POST {path}")).header("Authorization", "Basic dTpzZWNyZXQtd29yZA==");
    assert_eq!(sent.body("application/json", body().to_string().into_bytes()).send().await.status, 200);
    let message = world.newest_message().await;
    let line = format!("DELETE /api/gateways/{id}");
    let asked = world.call(&line).await.expect_error(409, "in-use");
    assert!(asked["detail"].as_str().unwrap().contains("messages=keep"), "{asked}");
    world.call(&format!("{line}?messages=drop")).await.expect_error(400, "invalid-parameter");
    world.call(&format!("GET /api/gateways/{id}")).await.expect(200);
    world.call(&format!("{line}?messages=keep")).await.expect(200);
    world.call(&format!("GET /api/gateways/{id}")).await.expect_error(404, "not-found");
    assert_eq!(world.post(&path, &body()).await, 404);
    assert_eq!(world.newest_message().await["id"], message["id"], "its messages stay");
    let device = world.app.device(&world.tenant.owner, &json!({"name": "Boat", "identifier": "b-7"})).await;
    assert_eq!(world.reprocess(&message).await, "decoded", "by the settings that it had");
    assert_eq!(world.locations(&device).await.len(), 1);
    let (silent, _) = world.gateway(&json!({"feed": "json"})).await;
    world.call(&format!("DELETE /api/gateways/{silent}")).await.expect(200);
    assert_eq!(world.event_types(&id).await, ["gateway.created", "gateway.deleted"]);
}

async fn a_gateway_given_to_another_device_keeps_old_messages_where_they_are(engine: Engine) {
    let world = World::new(engine).await;
    let ana = world.app.device(&world.tenant.owner, &json!({"name": "Ana"})).await;
    let bo = world.app.device(&world.tenant.owner, &json!({"name": "Bo"})).await;
    let (id, path) = world.gateway(&json!({"feed": "osmand", "deviceId": ana})).await;
    let send = async |second: u8| {
        let line = format!("POST {path}?lat=1&lon=1&timestamp=17672256{second:02}");
        assert_eq!(world.app.call(&line).send().await.status, 200);
    };
    send(1).await;
    let message = world.newest_message().await;
    world.send(&format!("PATCH /api/gateways/{id}"), &json!({"deviceId": bo})).await.expect(200);
    send(2).await;
    assert_eq!(world.reprocess(&message).await, "decoded");
    assert_eq!((world.locations(&ana).await.len(), world.locations(&bo).await.len()), (1, 1));
}

async fn settings_are_tried_before_they_are_stored(engine: Engine) {
    let world = World::new(engine).await;
    let device = world.app.device(&world.tenant.owner, &json!({"name": "Boat", "identifier": "b-7"})).await;
    let decode = async |body: &Value| world.send("POST /api/gateways/decode", body).await;
    let text = body().to_string();
    let options = json!({"mapping": mapping("/at/y")});
    let shown = decode(&json!({"feed": "json", "text": text, "options": options})).await.expect(200);
    let message = &shown["messages"][0];
    assert_eq!((&message["deviceId"], &message["reports"][0]["latitude"]), (&json!(device), &json!(42.5)));
    for (options, pointer) in [
        (json!({"maping": {}}), "/options/maping"),
        (json!({"mapping": {"fields": {"latitude": 5}}}), "/options/mapping/fields/latitude"),
    ] {
        let error = decode(&json!({"feed": "json", "text": text, "options": options})).await;
        assert_eq!(pointers(&error.expect_error(400, "invalid-body")), [pointer]);
    }
    let error = decode(&json!({"text": "7878", "options": {"timezone": 1}})).await;
    assert_eq!(pointers(&error.expect_error(400, "invalid-body")), ["/options/timezone"]);

    // An existing gateway, with its options and with others.
    let (id, path) = world.gateway(&json!({"feed": "json", "options": {"mapping": mapping("/at/x")}})).await;
    let latitude =
        async |body: Value| decode(&body).await.expect(200)["messages"][0]["reports"][0]["latitude"].clone();
    assert_eq!(latitude(json!({"gatewayId": id, "text": text})).await, -8.25);
    assert_eq!(latitude(json!({"gatewayId": id, "text": text, "options": options})).await, 42.5);
    assert_eq!(world.post(&path, &body()).await, 200);
    let message = world.newest_message().await["id"].clone();
    assert_eq!(latitude(json!({"messageId": message})).await, -8.25, "the settings of its gateway");
    assert_eq!(latitude(json!({"messageId": message, "options": options})).await, 42.5);
    assert_eq!(latitude(json!({"messageId": message, "gatewayId": id})).await, -8.25);
    let both = decode(&json!({"gatewayId": id, "feed": "json", "text": text})).await;
    assert_eq!(pointers(&both.expect_error(400, "invalid-body")), ["/feed"]);
    let missing = decode(&json!({"gatewayId": "gtw_01jc2m8k4n5p6", "text": text})).await;
    missing.expect_error(404, "not-found");

    // Who sees one device learns nothing of the others, nor of gateways.
    let privileges = vec![Privilege::DevicesWrite];
    let traits = Traits { privileges, device: Some(device.parse().unwrap()), ..Traits::default() };
    let narrow = world.app.person(&world.tenant, "narrow", traits).await;
    let call = async |body: Value| world.app.send(&narrow, "POST /api/gateways/decode", &body).await;
    call(json!({"gatewayId": id, "text": text})).await.expect_error(404, "not-found");
}
