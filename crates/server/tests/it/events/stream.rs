//! The stream: events as they happen, limited to the viewer's scope, without gaps.

use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, TestApp, on_both_engines};

async fn locate(app: &TestApp, person: &Person, device: &str, minute: u32) {
    let fix = json!({"dateTime": format!("2023-05-01T12:{minute:02}:00Z"), "latitude": 1, "longitude": 2});
    app.send(person, &format!("POST /api/devices/{device}/locations"), &fix).await.expect(201);
}

async fn a_stream_shows_what_happens_and_goes_on_where_it_was(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let mut stream = app.stream(owner, "/api/stream", None).await;
    let opening = stream.message().await.unwrap();
    assert!(opening.text.starts_with("retry: 2000\n"), "{}", opening.text);
    let device = app.device(owner, &json!({"name": "one"})).await;
    let made = stream.event().await;
    assert_eq!((&made["type"], &made["data"]["name"]), (&json!("device.created"), &json!("one")));
    for minute in 0..3 {
        locate(&app, owner, &device, minute).await;
    }
    let seen = [stream.event().await, stream.event().await, stream.event().await];
    let polled = app.get(owner, &format!("/api/events?cursor={}", made["id"].as_str().unwrap())).await;
    assert_eq!(polled["events"], json!(seen), "the same form, however it is read");

    drop(stream);
    locate(&app, owner, &device, 3).await;
    let mut again = app.stream(owner, "/api/stream?cursor=start", seen[0]["id"].as_str()).await;
    assert_eq!(
        [again.event().await, again.event().await],
        seen[1..],
        "the header counts before the parameter"
    );
    assert_eq!(again.event().await["data"]["dateTime"], "2023-05-01T12:03:00Z");
    locate(&app, owner, &device, 4).await;
    assert_eq!(again.event().await["data"]["dateTime"], "2023-05-01T12:04:00Z");

    let mut from_opening = app.stream(owner, "/api/stream", opening.id.as_deref()).await;
    assert_eq!(from_opening.event().await["id"], made["id"], "also from before anything came");
    let mut alerts = app.stream(owner, "/api/stream?types=alert.*&cursor=start", None).await;
    let alert = json!({"dateTime": "2023-05-01T12:00:00Z", "alertName": "SOSButton"});
    app.send(owner, &format!("POST /api/devices/{device}/alerts"), &alert).await.expect(201);
    assert_eq!(alerts.event().await["data"]["alertName"], "SOSButton");
    app.app.tasks.stopping.cancel();
    alerts.end().await;
}

async fn pings_are_messages_only_for_clients_that_ask(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let mut stream = app.stream(owner, "/api/stream?pingInterval=1", None).await;
    stream.message().await.unwrap();
    let ping = stream.message().await.unwrap();
    let cursor = ping.id.clone().unwrap();
    assert_eq!(ping.text, format!("event: ping\nid: {cursor}\ndata: {{}}"), "browsers show it to scripts");
    let one = app.device(owner, &json!({"name": "one"})).await;
    let mut moved = stream.message().await.unwrap();
    while moved.event != Some(json!({})) || moved.id.as_ref() == Some(&cursor) {
        moved = stream.message().await.unwrap();
    }
    drop(stream);
    let two = app.device(owner, &json!({"name": "two"})).await;
    let mut from_first = app.stream(owner, "/api/stream", Some(&cursor)).await;
    assert_eq!([&from_first.event().await["device"], &from_first.event().await["device"]], [&one, &two]);
    let mut from_last = app.stream(owner, "/api/stream", moved.id.as_deref()).await;
    assert_eq!(from_last.event().await["device"], json!(two), "a ping is a cursor too");

    for wrong in ["0", "61", "x"] {
        let answer = app.call(&format!("GET /api/stream?pingInterval={wrong}")).by(owner).send().await;
        answer.expect(400);
    }
}

async fn a_stream_shows_no_more_than_its_user_sees(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let stranger = app.tenant("other", 10).await;
    let owner = &tenant.owner;
    let one = app.device(owner, &json!({"name": "one"})).await;
    let two = app.device(owner, &json!({"name": "two"})).await;
    let group = app.group(owner, &json!({"name": "first", "devices": [one]})).await;
    let hidden = app.group(owner, &json!({"name": "second", "devices": [one]})).await;
    let traits = |group, device| Traits { group, device, ..Traits::default() };
    let grouped = app.person(&tenant, "grouped", traits(group.parse().ok(), None)).await;
    let bound = app.person(&tenant, "bound", traits(None, two.parse().ok())).await;
    let mut of_group = app.stream(&grouped, "/api/stream", None).await;
    let mut of_device = app.stream(&bound, "/api/stream", None).await;
    let mut of_stranger = app.stream(&stranger.owner, "/api/stream", None).await;
    let mut of_owner = app.stream(owner, &format!("/api/stream?devices={two}"), None).await;

    locate(&app, owner, &two, 0).await;
    locate(&app, owner, &one, 1).await;
    app.send(owner, &format!("PATCH /api/devices/{one}"), &json!({"name": "renamed"})).await.expect(200);
    app.group(&stranger.owner, &json!({"name": "elsewhere"})).await;
    assert_eq!(of_device.event().await["device"], json!(two));
    assert_eq!(of_owner.event().await["device"], json!(two));
    assert_eq!(of_stranger.event().await["data"]["name"], "elsewhere");
    assert_eq!(of_group.event().await["device"], json!(one));
    let renamed = of_group.event().await;
    assert_eq!((&renamed["data"]["name"], &renamed["data"]["groups"]), (&json!("renamed"), &json!([group])));
    assert!(!renamed.to_string().contains(&hidden));

    // A device that joins the group is visible from then on.
    let change = json!({"devices": [one, two]});
    app.send(owner, &format!("PATCH /api/groups/{group}"), &change).await.expect(200);
    locate(&app, owner, &two, 2).await;
    loop {
        let event = of_group.event().await;
        if event["type"] == "location.created" {
            assert_eq!(event["device"], json!(two));
            break;
        }
    }
}

async fn rights_end_streams_and_change_what_they_show(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let one = app.device(owner, &json!({"name": "one"})).await;
    let two = app.device(owner, &json!({"name": "two"})).await;
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let mut narrowed = app.stream(&reader, "/api/stream", None).await;
    locate(&app, owner, &one, 0).await;
    assert_eq!(narrowed.event().await["device"], json!(one));
    let user = format!("PATCH /api/users/{}", reader.id);
    app.send(owner, &user, &json!({"deviceId": two})).await.expect(200);
    // The change takes effect at once; the stream must not show the other devices any more.
    locate(&app, owner, &one, 1).await;
    locate(&app, owner, &two, 2).await;
    loop {
        let event = narrowed.event().await;
        if event["type"] == "location.created" {
            assert_eq!(event["device"], json!(two));
            break;
        }
    }
    app.send(owner, &user, &json!({"disabled": true})).await.expect(200);
    assert!(narrowed.end().await.unwrap().text.contains("user-disabled"));

    // A change on another node takes effect when the cached user expires.
    let other = app.person(&tenant, "other", Traits::default()).await;
    let mut replaced = app.stream(&other, "/api/stream", None).await;
    app.equip(&tenant.account, other.id, other.email.clone()).await;
    app.clock().advance_seconds(3);
    let begun = tokio::time::Instant::now();
    assert!(replaced.end().await.unwrap().text.contains("invalid-token"));
    assert!(begun.elapsed().as_secs_f64() < 5.0, "within five seconds");

    let cookie = app.sign_in(owner).await;
    let request = http::Request::get("/api/stream").header("cookie", &cookie).body(axum::body::Body::empty());
    let answer = tower::ServiceExt::oneshot(app.router.clone(), request.unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200, "a console's cookie opens one too");
    app.call("DELETE /api/session").cookie(&cookie).send().await.expect(200);
    let rest = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&rest).contains("unauthenticated"), "signing out ends it: {rest:?}");
}

async fn streams_are_bounded(engine: Engine) {
    let app = TestApp::with(engine, |config| {
        config.events.streams_per_user = 2;
        config.events.streams_per_account = 3;
    })
    .await;
    let tenant = app.tenant("acme", 10).await;
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let first = app.stream(&reader, "/api/stream", None).await;
    let _second = app.stream(&reader, "/api/stream", None).await;
    let full = app.call("GET /api/stream").by(&reader).send().await;
    full.expect_error(429, "too-many-streams");
    assert_eq!(full.header("retry-after"), "10");
    let _third = app.stream(&tenant.owner, "/api/stream", None).await;
    app.call("GET /api/stream").by(&tenant.owner).send().await.expect_error(429, "too-many-streams");
    drop(first);
    let mut again = app.stream(&reader, "/api/stream", None).await;
    assert!(again.message().await.is_some());
    let json =
        app.call("GET /api/stream").header("accept", "application/json").by(&tenant.owner).send().await;
    json.expect_error(406, "not-acceptable");
    app.call("GET /api/stream?cursor=x").by(&tenant.owner).send().await.expect_error(400, "invalid-cursor");
}

/// A client that reads nothing is disconnected; others are not affected.
async fn who_is_too_slow_is_cut_off(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let device = app.device(owner, &json!({"name": "one"})).await;
    let mut slow = app.stream(owner, "/api/stream", None).await;
    let mut quick = app.stream(owner, "/api/stream", None).await;
    let opening = slow.message().await.unwrap();
    let mut sent = Vec::new();
    // Each is taken before the next is sent, so that each is a batch of its own.
    for minute in 0..70 {
        let at = format!("2023-05-01T12:00:00.{minute:03}Z");
        let fix = json!({"dateTime": at, "latitude": 1, "longitude": 2});
        app.send(owner, &format!("POST /api/devices/{device}/locations"), &fix).await.expect(201);
        sent.push(quick.event().await["id"].clone());
    }
    let last = slow.end().await.unwrap();
    assert!(last.text.contains("too slow"), "{}", last.text);
    let mut again = app.stream(owner, "/api/stream", opening.id.as_deref()).await;
    let mut caught_up: Vec<Value> = Vec::new();
    while caught_up.len() < sent.len() {
        caught_up.push(again.event().await["id"].clone());
    }
    assert_eq!(caught_up, sent, "who comes back misses nothing");
}

on_both_engines!(
    a_stream_shows_what_happens_and_goes_on_where_it_was,
    pings_are_messages_only_for_clients_that_ask,
    a_stream_shows_no_more_than_its_user_sees,
    rights_end_streams_and_change_what_they_show,
    streams_are_bounded,
    who_is_too_slow_is_cut_off,
);
