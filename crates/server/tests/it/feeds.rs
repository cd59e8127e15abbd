//! Requests of phones and satellite networks: stored before they are answered, and only with the right secret.

use serde_json::{Value, json};

use crate::support::{Answer, Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    a_phone_is_a_tracker,
    requests_of_unknown_devices_are_kept_and_claimed,
    a_message_is_decoded_again,
    an_emergency_is_one_alert_with_an_end,
    nothing_is_acknowledged_that_is_not_stored,
    secrets_are_checked_and_not_shown,
    messages_are_decoded_without_being_stored,
);

/// A gateway, and the path of its address.
async fn gateway(app: &TestApp, tenant: &Tenant, body: &Value) -> (String, String) {
    let made = app.send(&tenant.owner, "POST /api/gateways", body).await.expect(201);
    let url = made["url"].as_str().unwrap();
    let path = url.strip_prefix("http://perigee.test").unwrap().to_owned();
    (made["id"].as_str().unwrap().to_owned(), path)
}

async fn send(app: &TestApp, path: &str, query: &str) -> Answer {
    app.call(&format!("POST {path}?{query}")).from("203.0.113.9").send().await
}

async fn locations(app: &TestApp, tenant: &Tenant, device: &str) -> Vec<Value> {
    let list = app.get(&tenant.owner, &format!("/api/devices/{device}/locations")).await;
    list["locations"].as_array().unwrap().clone()
}

async fn a_phone_is_a_tracker(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Ana"})).await;
    let (_, path) =
        gateway(&app, &tenant, &json!({"feed": "osmand", "deviceId": device, "name": "Phone"})).await;
    let query = "id=anything&lat=42.5&lon=-8.25&timestamp=1767225600&speed=10&batt=80";
    for _ in 0..3 {
        assert_eq!(send(&app, &path, query).await.status, 200);
    }
    let stored = locations(&app, &tenant, &device).await;
    assert_eq!(stored.len(), 1, "three times the same");
    assert_eq!((&stored[0]["latitude"], &stored[0]["battery"]), (&json!(42.5), &json!(80)));
    let messages = app.get(&tenant.owner, "/api/rawMessages").await["rawMessages"].clone();
    let results: Vec<&Value> = messages.as_array().unwrap().iter().map(|each| &each["result"]).collect();
    assert_eq!(results, ["duplicate", "duplicate", "decoded"]);
    assert_eq!((&messages[0]["source"], &messages[0]["peer"]), (&json!("osmand"), &json!("203.0.113.9")));
    assert!(messages[0]["text"].as_str().unwrap().contains("lat=42.5"), "{messages}");
    assert_eq!(send(&app, &path, "").await.status, 200, "what cannot be read is kept");
    let newest = app.get(&tenant.owner, "/api/rawMessages?result=unparsable").await;
    assert!(newest["rawMessages"][0]["error"].is_string());
}

async fn requests_of_unknown_devices_are_kept_and_claimed(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (tenant, other) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "osmand"})).await;
    let query = "id=phone-1&lat=42.5&lon=-8.25&timestamp=1767225600";
    assert_eq!(send(&app, &path, query).await.status, 200);
    app.app.ingest.save_heard().await.unwrap();
    let heard =
        async |tenant: &Tenant| app.get(&tenant.owner, "/api/heardDevices").await["heardDevices"].clone();
    let list = heard(&tenant).await;
    assert_eq!((&list[0]["identifier"], &list[0]["source"]), (&json!("phone-1"), &json!("osmand")));
    assert_eq!(heard(&other).await, json!([]), "heard by a gateway of the first account");
    let theirs = app.device(&other.owner, &json!({"name": "x", "identifier": "phone-1"})).await;
    let ours = app.device(&tenant.owner, &json!({"name": "y", "identifier": "phone-1"})).await;
    assert_eq!(app.app.ingest.replay_claimed().await.unwrap(), 1);
    assert_eq!(locations(&app, &tenant, &ours).await.len(), 1);
    assert_eq!(locations(&app, &other, &theirs).await.len(), 0);
    assert_eq!(heard(&tenant).await, json!([]));
}

async fn a_message_is_decoded_again(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "osmand"})).await;
    let query = "id=phone-1&lat=42.5&lon=-8.25&timestamp=1767225600";
    assert_eq!(send(&app, &path, query).await.status, 200);
    let list = app.get(&tenant.owner, "/api/rawMessages?result=unknownDevice").await;
    let id = list["rawMessages"][0]["id"].as_str().unwrap().to_owned();
    let line = format!("POST /api/rawMessages/{id}/reprocess");
    let again = async || app.call(&line).by(&tenant.owner).send().await.expect(200)["result"].clone();
    assert_eq!(again().await, "unknownDevice");
    let device = app.device(&tenant.owner, &json!({"name": "Phone", "identifier": "phone-1"})).await;
    assert_eq!(again().await, "decoded");
    assert_eq!(again().await, "decoded", "known by this message itself");
    assert_eq!(locations(&app, &tenant, &device).await.len(), 1);
    let shown = app.get(&tenant.owner, &format!("/api/rawMessages/{id}")).await;
    assert_eq!((&shown["deviceId"], &shown["result"]), (&json!(device), &json!("decoded")));
}

async fn an_emergency_is_one_alert_with_an_end(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Ana"})).await;
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "osmand", "deviceId": device})).await;
    for second in 0..3 {
        let query = format!("lat=42.5&lon=-8.25&timestamp={}&alarm=sos", 1_767_225_600 + second);
        assert_eq!(send(&app, &path, &query).await.status, 200);
    }
    let alerts = app.get(&tenant.owner, &format!("/api/devices/{device}/alerts")).await["alerts"].clone();
    assert_eq!(alerts.as_array().unwrap().len(), 1, "{alerts}");
    assert_eq!((&alerts[0]["alertName"], &alerts[0]["critical"]), (&json!("SOSButton"), &json!(true)));
    assert_eq!(alerts[0]["latitude"], 42.5);
    assert_eq!(locations(&app, &tenant, &device).await.len(), 3);
}

async fn nothing_is_acknowledged_that_is_not_stored(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Ana"})).await;
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "osmand", "deviceId": device})).await;
    app.store.close().await;
    let answer = send(&app, &path, "lat=1&lon=1&timestamp=1767225600").await;
    assert_eq!(answer.status, 503);
}

async fn secrets_are_checked_and_not_shown(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let (id, path) =
        gateway(&app, &tenant, &json!({"feed": "cloudloop", "options": {"payload": "text"}})).await;
    let shown = app.get(&tenant.owner, &format!("/api/gateways/{id}")).await;
    assert_eq!((&shown["url"], &shown["options"]), (&json!(null), &json!({"payload": "text"})));
    assert_eq!(app.get(&tenant.owner, "/api/gateways").await["gateways"].as_array().unwrap().len(), 1);
    let secret = path.rsplit('/').next().unwrap();
    for wrong in [
        "/gateways/osmand/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        "/gateways/osmand/short".to_owned(),
        format!("/gateways/other/{secret}"),
    ] {
        send(&app, &wrong, "lat=1&lon=1").await.expect_error(404, "not-found");
    }
    for body in [json!({"feed": "nothing"}), json!({"feed": "osmand", "options": 5}), json!({})] {
        app.send(&tenant.owner, "POST /api/gateways", &body).await.expect_error(400, "invalid-body");
    }
    let large = app.call(&format!("POST {path}")).body("text/plain", vec![b'x'; 2 << 20]).send().await;
    large.expect_error(413, "body-too-large");
    app.call(&format!("DELETE /api/gateways/{id}")).by(&tenant.owner).send().await.expect(200);
    send(&app, &path, "lat=1&lon=1").await.expect_error(404, "not-found");
}

async fn messages_are_decoded_without_being_stored(engine: Engine) {
    let app = TestApp::new(engine).await;
    let (tenant, other) = (app.tenant("acme", 10).await, app.tenant("other", 10).await);
    let decode = async |tenant: &Tenant, body: &Value| {
        app.send(&tenant.owner, "POST /api/gateways/decode", body).await
    };
    let frames = "78780D01086471700328358100093F040D0A\n\n\
                  78781f12180a040f382ccf0342a34c03427ba823d47a025a0256b900e375047595260d0a";
    let shown = decode(&tenant, &json!({"text": frames, "session": true})).await.expect(200);
    assert_eq!(shown["messages"][0]["identifiers"], json!(["864717003283581"]));
    assert_eq!(shown["messages"][0]["replies"], json!([{"hex": "78780501000955940d0a"}]));
    assert_eq!(shown["messages"][1]["reports"][0]["satellites"], 15);
    let body =
        json!({"feed": "owntracks", "text": r#"{"_type":"location","lat":1.5,"lon":2,"tst":1767225600}"#});
    assert_eq!(decode(&tenant, &body).await.expect(200)["messages"][0]["reports"][0]["latitude"], 1.5);

    // A webhook without a mapping is kept; a mapping is then tried on it.
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "json"})).await;
    let call = app.call(&format!("POST {path}"));
    let sent = call.body("application/json", br#"{"unit": "b-7", "at": {"y": 42.5, "x": -8.25}}"#.to_vec());
    assert_eq!(sent.send().await.status, 200);
    let list = app.get(&tenant.owner, "/api/rawMessages?source=json").await;
    let id = list["rawMessages"][0]["id"].as_str().unwrap().to_owned();
    let mapping = json!({"identifiers": ["/unit"], "fields": {"latitude": "/at/y", "longitude": "/at/x"}});
    let wanted = json!({"messageId": id, "options": {"mapping": mapping}});
    let shown = decode(&tenant, &wanted).await.expect(200)["messages"][0].clone();
    assert_eq!((&shown["identifiers"], &shown["error"]), (&json!(["b-7"]), &json!(null)));
    assert_eq!(shown["reports"][0]["longitude"], -8.25);
    decode(&other, &wanted).await.expect_error(404, "not-found");
    assert_eq!(app.get(&tenant.owner, "/api/rawMessages").await["rawMessages"].as_array().unwrap().len(), 1);

    for wrong in [
        json!({}),
        json!({"text": "00", "messageId": id}),
        json!({"text": "00", "protocol": "nothing"}),
        json!({"text": "00", "feed": "nothing"}),
        json!({"text": "00".repeat(40_000)}),
        json!({"messageId": "msg_nothing"}),
        json!({"messageId": id, "options": {"template": {"fields": [{"field": "latitude", "width": 9}]}}}),
        json!({"messageId": id, "options": {"mapping": {"fields": 5}}}),
    ] {
        decode(&tenant, &wrong).await.expect_error(400, "invalid-body");
    }
}
