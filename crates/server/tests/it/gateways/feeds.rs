//! Requests of phones and satellite networks: stored before they are answered, and only with the right secret.

use serde_json::{Value, json};

use crate::support::{Answer, Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    a_phone_is_a_tracker,
    requests_of_unknown_devices_are_kept_and_claimed,
    a_message_is_decoded_again,
    a_message_of_several_devices_is_found_by_each,
    an_emergency_is_one_alert_with_an_end,
    nothing_is_acknowledged_that_is_not_stored,
    secrets_are_checked_and_not_shown,
    messages_are_decoded_without_being_stored,
    the_region_of_a_phone_is_named,
    a_phone_that_sends_no_password_is_asked_for_it,
    encrypted_messages_are_refused_and_shown,
    numbers_that_come_as_text_are_numbers,
    texts_and_media_without_a_fix_are_kept,
    a_position_of_a_request_that_is_not_on_earth_has_its_reason,
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
    app.app.ingest.strangers.save().await.unwrap();
    let heard =
        async |tenant: &Tenant| app.get(&tenant.owner, "/api/heardDevices").await["heardDevices"].clone();
    let list = heard(&tenant).await;
    assert_eq!((&list[0]["identifier"], &list[0]["source"]), (&json!("phone-1"), &json!("osmand")));
    assert_eq!(heard(&other).await, json!([]), "heard by a gateway of the first account");
    let theirs = app.device(&other.owner, &json!({"name": "x", "identifier": "phone-1"})).await;
    let ours = app.device(&tenant.owner, &json!({"name": "y", "identifier": "phone-1"})).await;
    assert_eq!(app.app.reprocessing.replay_claimed().await.unwrap(), 1);
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

async fn a_message_of_several_devices_is_found_by_each(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "garmin"})).await;
    let boat = |name: &str| json!({"name": name, "identifier": name});
    let first = app.device(&tenant.owner, &boat("300434000000001")).await;
    let event = |imei: &str| {
        json!({"imei": imei, "messageCode": 0, "timeStamp": 1_767_225_600_000_i64,
        "point": {"latitude": 60.0, "longitude": 5.0, "altitude": 1, "gpsFix": 2, "course": 0, "speed": 0}})
    };
    let body = json!({"Version": "2.0", "Events": [event("300434000000001"), event("300434000000002")]});
    app.call(&format!("POST {path}")).from("203.0.113.9").json(&body).send().await.expect(200);
    let found = async |device: &str| {
        let list = app.get(&tenant.owner, &format!("/api/rawMessages?device={device}")).await;
        list["rawMessages"].as_array().unwrap().clone()
    };
    let [message] = found(&first).await.try_into().unwrap();
    assert_eq!((&message["deviceId"], &message["deviceIds"]), (&json!(null), &json!([first])));

    // The other device is created later, and reports in the same message once it is decoded again.
    let second = app.device(&tenant.owner, &boat("300434000000002")).await;
    assert_eq!(found(&second).await.len(), 0);
    let line = format!("POST /api/rawMessages/{}/reprocess", message["id"].as_str().unwrap());
    let again = app.call(&line).by(&tenant.owner).send().await.expect(200);
    assert_eq!(again["deviceIds"], json!([first, second]));
    assert_eq!((found(&first).await.len(), found(&second).await.len()), (1, 1));
    assert_eq!(locations(&app, &tenant, &second).await.len(), 1);
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

/// Posts JSON to a gateway.
async fn post(app: &TestApp, path: &str, body: &Value) -> Answer {
    app.call(&format!("POST {path}")).body("application/json", body.to_string()).send().await
}

async fn the_region_of_a_phone_is_named(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Ana"})).await;
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "owntracks", "deviceId": device})).await;
    let mut left =
        json!({"_type": "transition", "event": "leave", "desc": "Home", "tst": 1_767_139_200, "tid": "AA"});
    assert_eq!(post(&app, &path, &left).await.status, 200);
    (left["lat"], left["lon"], left["event"]) = (json!(42.5), json!(-8.25), json!("enter"));
    assert_eq!(post(&app, &path, &left).await.status, 200);
    let rule_engine = perigee_server::background::RuleEngine::new(app.app.clone());
    while rule_engine.run_once().await != std::time::Duration::from_secs(1) {}
    let alerts = app.get(&tenant.owner, &format!("/api/devices/{device}/alerts")).await["alerts"].clone();
    let mut found: Vec<(&str, &str)> = alerts
        .as_array()
        .unwrap()
        .iter()
        .map(|alert| (alert["alertName"].as_str().unwrap(), alert["text"].as_str().unwrap_or_default()))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [("GeofenceEnter", "Home"), ("GeofenceExit", "Home")]);
}

async fn a_phone_that_sends_no_password_is_asked_for_it(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Ana"})).await;
    for feed in ["owntracks", "osmand", "overland", "zoleo"] {
        let options = json!({"user": "ana", "password": "secret-word"});
        let body = json!({"feed": feed, "deviceId": device, "options": options});
        let (_, path) = gateway(&app, &tenant, &body).await;
        let refused = app.call(&format!("POST {path}?lat=1&lon=2")).send().await;
        assert_eq!(refused.status, 401, "{feed}");
        let challenge = refused.headers.get("www-authenticate").unwrap().to_str().unwrap();
        assert!(challenge.starts_with("Basic "), "{feed}: {challenge}");
        let wrong =
            app.call(&format!("POST {path}?lat=1&lon=2")).header("authorization", "Basic eDp5").send().await;
        assert_eq!(wrong.status, 401, "{feed}");
        let right = app.call(&format!("POST {path}")).header("authorization", "Basic YW5hOnNlY3JldC13b3Jk");
        assert_eq!(right.send().await.status, 200, "{feed}");
    }
}

async fn encrypted_messages_are_refused_and_shown(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let (id, path) = gateway(&app, &tenant, &json!({"feed": "owntracks"})).await;
    let refused = post(&app, &path, &json!({"_type": "encrypted", "data": "AAAA"})).await;
    assert_eq!(refused.status, 403);
    let list = app.get(&tenant.owner, "/api/rawMessages").await["rawMessages"].clone();
    assert_eq!(list[0]["result"], "unparsable");
    assert!(list[0]["error"].as_str().unwrap().contains("encrypted"), "{list}");
    app.app.ingest.feeds.save(&*app.app.store).await.unwrap();
    let health = app.get(&tenant.owner, &format!("/api/gateways/{id}")).await["health"].clone();
    assert_eq!(health["refused"], 1, "{health}");
    assert!(health["lastError"].as_str().unwrap().contains("encrypted"), "{health}");
}

async fn numbers_that_come_as_text_are_numbers(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Ana"})).await;
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "gpslogger", "deviceId": device})).await;
    let query = "lat=42.5&lon=-8.25&time=2025-12-31T12:00:00Z&batt=83.0&sat=7&hdop=0.9";
    assert_eq!(send(&app, &path, query).await.status, 200);
    let stored = locations(&app, &tenant, &device).await;
    assert_eq!((&stored[0]["battery"], &stored[0]["satellites"]), (&json!(83), &json!(7)), "{stored:?}");
    let fields =
        json!({"latitude": "/lat", "longitude": "/lon", "batteryLevel": "/b", "power": "/v", "charge": "/c"});
    let body = json!({"feed": "json", "deviceId": device, "options": {"mapping": {"fields": fields}}});
    let (_, path) = gateway(&app, &tenant, &body).await;
    let sent = json!({"lat": "43.5", "lon": "-8.25", "b": "61", "v": "12.5", "c": "yes"});
    assert_eq!(post(&app, &path, &sent).await.status, 200);
    let stored = locations(&app, &tenant, &device).await;
    let stored = stored.iter().find(|location| location["latitude"] == 43.5).unwrap();
    assert_eq!(stored["battery"], 61);
    let attributes = &stored["attributes"];
    assert_eq!((&attributes["power"], &attributes["charge"]), (&json!(12.5), &json!(true)), "{attributes}");
}

async fn texts_and_media_without_a_fix_are_kept(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let imei = "300434000000001";
    let device = app.device(&tenant.owner, &json!({"name": "Ana", "identifier": imei})).await;
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "garmin"})).await;
    let point = json!({"latitude": 0, "longitude": 0, "altitude": 0, "gpsFix": 0, "course": 0, "speed": 0});
    let text = "The bridge is out, we wait";
    let event = json!({"imei": imei, "messageCode": 3, "freeText": text, "timeStamp": 1_767_139_200_000_i64, "point": point,
                       "mediaId": "5f1e", "mediaType": "image/avif", "mediaBytes": "AAAAHGZ0eXBhdmlm"});
    assert_eq!(post(&app, &path, &json!({"Version": "4.0", "Events": [event]})).await.status, 200);
    assert_eq!(locations(&app, &tenant, &device).await.len(), 0, "no position is made up");
    let list =
        app.get(&tenant.owner, &format!("/api/rawMessages?device={device}")).await["rawMessages"].clone();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    let raw = list[0]["text"].as_str().unwrap();
    assert!(raw.contains(text) && raw.contains("AAAAHGZ0eXBhdmlm") && raw.contains("5f1e"), "{raw}");
    assert_eq!(list[0]["result"], "decoded");
}

async fn a_position_of_a_request_that_is_not_on_earth_has_its_reason(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let device = app.device(&tenant.owner, &json!({"name": "Ana"})).await;
    let (_, path) = gateway(&app, &tenant, &json!({"feed": "osmand", "deviceId": device})).await;
    assert_eq!(send(&app, &path, "lat=95&lon=10&timestamp=1767139200").await.status, 200);
    assert_eq!(locations(&app, &tenant, &device).await.len(), 0);
    let list = app.get(&tenant.owner, "/api/rawMessages").await["rawMessages"].clone();
    assert_eq!((&list[0]["result"], &list[0]["deviceId"]), (&json!("unparsable"), &json!(device)));
    assert!(list[0]["error"].as_str().unwrap().contains("a position is invalid"), "{list}");
}
