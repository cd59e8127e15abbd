//! Positions in words: in lists, histories, alerts, share links and on their own, in the reader's language and units.

use serde_json::json;

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines, pointers};

on_both_engines!(
    lists_have_places_when_asked,
    every_format_has_the_place,
    the_reader_s_preferences_count,
    positions_are_described_in_batches,
    share_links_show_the_last_place,
);

const WORDS: &str = "22 km SW of Vigo, Spain";

async fn lists_have_places_when_asked(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = tenant.owner.clone();
    let boat = app.device(&owner, &json!({"name": "Boat"})).await;
    let idle = app.device(&owner, &json!({"name": "Idle"})).await;
    let here = json!({"dateTime": "2026-01-01T00:00:00Z", "latitude": 42.09, "longitude": -8.9});
    app.send(&owner, &format!("POST /api/devices/{boat}/locations"), &here).await.expect(201);
    let sos = json!({"dateTime": "2026-01-01T00:00:01Z", "alertName": "SOSButton"});
    app.send(&owner, &format!("POST /api/devices/{boat}/alerts"), &sos).await.expect(201);

    let check_place = async |path: &str, pointer: &str| {
        let get =
            async |query: &str| app.get(&owner, &format!("{path}{query}")).await.pointer(pointer).cloned();
        assert_eq!(get("").await, None, "{path} without asking");
        assert_eq!(get("?place=false").await, None, "{path}");
        assert_eq!(get("?place=true&language=en&units=metric").await, Some(json!(WORDS)), "{path}");
        let spanish = get("?place=true&language=es&units=nautical").await;
        assert_eq!(spanish, Some(json!("12 mn al SO de Vigo, España")), "{path}");
        let german = get("?place=true&language=de&units=metric").await;
        assert_eq!(german, Some(json!("22 km SW von Vigo, Spanien")), "{path}");
    };
    check_place(&format!("/api/devices/{boat}"), "/device/place").await;
    check_place(&format!("/api/devices/{boat}/lastLocation"), "/lastLocation/place").await;
    check_place(&format!("/api/devices/{boat}/locations"), "/locations/0/place").await;
    check_place(&format!("/api/devices/{boat}/alerts"), "/alerts/0/place").await;
    check_place("/api/locations/last", "/locations/0/place").await;
    check_place("/api/alerts", "/alerts/0/place").await;
    let alert = app.get(&owner, "/api/alerts").await["alerts"][0]["id"].as_str().unwrap().to_owned();
    check_place(&format!("/api/alerts/{alert}"), "/alert/place").await;

    let devices = app.get(&owner, "/api/devices?place=true").await["devices"].clone();
    let place = |id: &str| {
        let device = devices.as_array().unwrap().iter().find(|device| device["id"] == id).unwrap();
        device.get("place").cloned()
    };
    assert_eq!((place(&boat), place(&idle)), (Some(json!(WORDS)), None));

    // The answer can be sent back: `place` is read-only.
    let device = app.get(&owner, &format!("/api/devices/{boat}?place=true")).await["device"].clone();
    app.send(&owner, &format!("PUT /api/devices/{boat}"), &device).await.expect(200);
    let tagged =
        app.call(&format!("GET /api/devices/{boat}/lastLocation?place=true")).by(&owner).send().await;
    let plain = app.call(&format!("GET /api/devices/{boat}/lastLocation")).by(&owner);
    plain.header("if-none-match", tagged.header("etag")).send().await.expect(200);

    for query in ["place=1", "place=true&language=nl", "place=true&units=furlongs"] {
        let refused = app.call(&format!("GET /api/locations/last?{query}")).by(&owner).send().await;
        assert_eq!(pointers(&refused.expect_error(400, "invalid-parameter")).len(), 1, "{query}");
    }
}

async fn every_format_has_the_place(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let boat = app.device(&owner, &json!({"name": "Boat"})).await;
    let here = json!({"dateTime": "2026-01-01T00:00:00Z", "latitude": 42.09, "longitude": -8.9});
    app.send(&owner, &format!("POST /api/devices/{boat}/locations"), &here).await.expect(201);
    for (query, expect) in [
        ("format=json", format!(",\"place\":\"{WORDS}\"}}")),
        ("format=ndjson", format!(",\"place\":\"{WORDS}\"}}\n")),
        (
            "format=ndjson&fields=dateTime",
            format!("{{\"dateTime\":\"2026-01-01T00:00:00Z\",\"place\":\"{WORDS}\"}}\n"),
        ),
        ("format=geojson", format!(",\"place\":\"{WORDS}\"}}}}")),
        ("format=csv&fields=latitude", format!("latitude,place\r\n42.09,\"{WORDS}\"\r\n")),
        ("format=gpx", format!("<time>2026-01-01T00:00:00Z</time><desc>{WORDS}</desc>")),
        ("format=kml", format!("<Placemark><description>{WORDS}</description><TimeStamp>")),
    ] {
        let line = format!("GET /api/devices/{boat}/locations?place=true&{query}");
        let answer = app.call(&line).by(&owner).send().await;
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains(&expect), "{query}: {text}");
    }
}

async fn the_reader_s_preferences_count(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = tenant.owner.clone();
    let session = app.sign_in(&owner).await;
    let wanted = json!({"language": "es", "units": "imperial"});
    let call = app.call("PATCH /api/session/preferences").cookie(&session).json(&wanted);
    call.header("origin", "http://perigee.test").send().await.expect(200);
    let place = async |query: &str| {
        let answer = app.get(&owner, &format!("/api/places?at=42.09,-8.9{query}")).await;
        answer["places"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(place("").await, "13 mi al SO de Vigo, España");
    assert_eq!(place("&language=en").await, "13 mi SW of Vigo, Spain");
    assert_eq!(place("&units=metric").await, "22 km al SO de Vigo, España");
}

async fn positions_are_described_in_batches(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = tenant.owner.clone();
    let answer = app.get(&owner, "/api/places?at=42.09,-8.9;%2043.1,%20-10.5;90,0").await;
    let places = answer["places"].as_array().unwrap();
    assert_eq!(places.len(), 3);
    assert_eq!(places[0]["text"], WORDS);
    assert_eq!((&places[0]["name"], &places[0]["country"]), (&json!("Vigo"), &json!("ES")));
    assert_eq!((&places[1]["kind"], &places[1]["country"]), (&json!("cape"), &json!(null)));
    let most = vec!["1,1"; 50].join(";");
    assert_eq!(
        app.get(&owner, &format!("/api/places?at={most}")).await["places"].as_array().unwrap().len(),
        50
    );
    for at in
        ["", "?at=", "?at=91,0", "?at=1,181", "?at=1", "?at=a,b", "?at=NaN,0", &format!("?at={most};1,1")]
    {
        let answer = app.call(&format!("GET /api/places{at}")).by(&owner).send().await;
        assert_eq!(pointers(&answer.expect_error(400, "invalid-parameter")), ["/at"], "{at}");
    }
    // Nobody without an account can make the server work.
    app.call("GET /api/places?at=1,1").send().await.expect_error(401, "unauthenticated");
    let narrow = app.person(&tenant, "narrow", Traits::default()).await;
    let text = app.get(&narrow, "/api/places?at=42.09,-8.9").await["places"][0]["text"].clone();
    assert_eq!(text, "22 km al SO de Vigo, España", "who chose no language reads that of their country");
}

async fn share_links_show_the_last_place(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let boat = app.device(&owner, &json!({"name": "Boat"})).await;
    let now = app.app.clock.now().to_string();
    let here = json!({"dateTime": now, "latitude": 42.09, "longitude": -8.9});
    let share = json!({"deviceId": boat, "until": app.app.clock.now().plus_seconds(3_600).to_string()});
    let share = app.send(&owner, "POST /api/shares", &share).await.expect(201);
    app.send(&owner, &format!("POST /api/devices/{boat}/locations"), &here).await.expect(201);
    let secret = share["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let place = async |query: &str| {
        let answer = app.call(&format!("GET /api/shared/{secret}{query}")).send().await.expect(200);
        answer["devices"][0]["lastLocation"].get("place").cloned()
    };
    assert_eq!(place("").await, None);
    assert_eq!(place("?place=true").await, Some(json!(WORDS)));
    assert_eq!(
        place("?place=true&language=es&units=nautical").await,
        Some(json!("12 mn al SO de Vigo, España"))
    );
    assert_eq!(place("").await, None, "answers are not mixed up");
}
