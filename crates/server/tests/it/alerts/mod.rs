//! Alerts: every form of a body, every field there and back, and their history.

mod emergencies;
mod missing_alerts;
mod reprocessed;
mod sos_codes;

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Answer, Engine, Person, TestApp, on_both_engines, pointers};

on_both_engines!(
    every_form_stores,
    every_field_comes_back,
    good_ones_are_stored_beside_bad_ones,
    the_same_alert_is_stored_once,
    bad_alerts_are_refused_with_their_pointer,
    a_body_asks_for_a_range,
    histories_are_complete_or_paged,
    storing_needs_the_privilege,
);

fn at(minute: u32, name: &str) -> Value {
    json!({"dateTime": format!("2026-01-01T00:{minute:02}:00Z"), "alertName": name})
}

struct Tracker {
    app: TestApp,
    owner: Person,
    path: String,
}

impl Tracker {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::new(engine).await;
        let owner = app.tenant("acme", 10).await.owner;
        let path = format!("/api/devices/{}/alerts", app.device(&owner, &json!({"name": "Boat"})).await);
        Self { app, owner, path }
    }

    async fn post(&self, body: &Value) -> Answer {
        self.app.send(&self.owner, &format!("POST {}", self.path), body).await
    }

    async fn get(&self, query: &str) -> Value {
        self.app.get(&self.owner, &format!("{}{query}", self.path)).await
    }
}

fn names(body: &Value) -> Vec<&str> {
    body["alerts"].as_array().unwrap().iter().map(|alert| alert["alertName"].as_str().unwrap()).collect()
}

async fn every_form_stores(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    for (body, count) in [
        (at(1, "A"), 1),
        (json!([at(2, "B"), at(3, "C")]), 2),
        (json!({"alerts": [at(4, "D")]}), 1),
        (json!({"alert": at(5, "E")}), 1),
        (json!({"alerts": [at(6, "F")], "from": "x", "to": 5}), 1),
    ] {
        let answer = tracker.post(&body).await.expect(201);
        assert_eq!(
            (&answer["accepted"], &answer["duplicates"], &answer["rejected"]),
            (&json!(count), &json!(0), &json!([])),
            "{body}"
        );
        assert_eq!(answer["ids"].as_array().unwrap().len(), count);
    }
    let call = tracker.app.call(&format!("POST {}", tracker.path)).by(&tracker.owner);
    let lines = format!("{}\n{}\n", at(7, "G"), at(8, "H"));
    call.body("application/x-ndjson", lines).send().await.expect(201);
    assert_eq!(names(&tracker.get("").await), ["A", "B", "C", "D", "E", "F", "G", "H"]);
}

async fn every_field_comes_back(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let alert = json!({
        "dateTime": "2026-01-01T00:00:00.125Z", "alertName": "SpeedLimit", "text": "two\nlines", "latitude": 42.123_456_7,
        "longitude": 180, "critical": true, "attributes": {"a": 1}, "driver": "Ana",
    });
    let answer = tracker.post(&alert).await.expect(201);
    let stored = tracker.get("").await["alerts"][0].clone();
    assert_eq!(
        stored,
        json!({
            "id": answer["ids"][0], "dateTime": "2026-01-01T00:00:00.125Z", "alertName": "SpeedLimit",
            "alerts": ["SpeedLimit"], "text": "two\nlines", "latitude": 42.123_456_7, "longitude": -180, "critical": true,
            "attributes": {"a": 1, "driver": "Ana"}, "notifications": [], "acknowledgedAt": null, "acknowledgedBy": null, "acknowledgedName": null,
            "endedAt": null, "receivedAt": "2026-01-01T00:00:00Z", "severity": "critical",
            "deviceId": tracker.path.split('/').nth(3).unwrap(),
        })
    );
    let again = tracker.post(&stored).await.expect(200);
    assert_eq!((&again["duplicates"], &again["ids"]), (&json!(1), &answer["ids"]));
    tracker.post(&json!([at(1, "SOSButton"), at(2, "Custom name ⛵")])).await.expect(201);
    let found = tracker.get("?from=2026-01-01T00:01:00Z").await;
    let critical: Vec<&Value> =
        found["alerts"].as_array().unwrap().iter().map(|alert| &alert["critical"]).collect();
    assert_eq!(critical, [&json!(true), &json!(false)], "SOS is critical by itself");
    assert_eq!((&found["alerts"][1]["text"], &found["alerts"][1]["latitude"]), (&json!(null), &json!(null)));
}

async fn good_ones_are_stored_beside_bad_ones(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let mut half = at(2, "B");
    half["latitude"] = json!(1);
    let mut strange = at(3, "C");
    strange["extra"] = json!([1]);
    let answer = tracker.post(&json!([at(1, "A"), half, strange, null, at(4, "D")])).await.expect(201);
    assert_eq!((&answer["accepted"], answer["ids"].as_array().unwrap().len()), (&json!(2), 2));
    let rejected: Vec<_> = answer["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (r["index"].as_u64().unwrap(), r["code"].as_str().unwrap()))
        .collect();
    assert_eq!(rejected, [(1, "invalid-alert"), (2, "unknown-member"), (3, "invalid-alert")]);
    assert_eq!(names(&tracker.get("").await), ["A", "D"]);
}

async fn the_same_alert_is_stored_once(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let first = tracker.post(&json!([at(1, "A"), at(1, "A"), at(1, "B")])).await.expect(201);
    assert_eq!((&first["accepted"], &first["duplicates"]), (&json!(2), &json!(1)));
    assert_eq!(first["ids"][0], first["ids"][1]);
    let mut same = at(1, "A");
    same["critical"] = json!(true);
    assert_eq!(
        tracker.post(&same).await.expect(200)["ids"],
        json!([first["ids"][0]]),
        "time, name and text decide"
    );
    let mut other = at(1, "A");
    other["text"] = json!("with words");
    assert_eq!(tracker.post(&other).await.expect(201)["accepted"], 1);
    assert_eq!(tracker.get("").await["alerts"].as_array().unwrap().len(), 3);
}

async fn bad_alerts_are_refused_with_their_pointer(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    for (body, expect) in [
        (json!({}), vec!["/dateTime", "/alertName"]),
        (json!([{"dateTime": 5, "alertName": "A"}]), vec!["/0/dateTime"]),
        (json!({"alerts": [at(1, "")]}), vec!["/alerts/0/alertName"]),
        (json!({"alert": at(1, &"x".repeat(101))}), vec!["/alert/alertName"]),
        (json!([]), vec![""]),
        (json!({"alerts": "SOSButton"}), vec!["/alerts"]),
        (json!({"alerts": [at(1, "A")], "alertName": "A"}), vec!["/alertName"]),
        (json!(7), vec![""]),
    ] {
        let refused = tracker.post(&body).await.expect_error(400, "invalid-body");
        assert_eq!(pointers(&refused), expect, "{body}");
    }
    let call = || tracker.app.call(&format!("POST {}", tracker.path)).by(&tracker.owner);
    for body in [
        "",
        "[",
        r#"{"alertName":"A","alertName":"B"}"#,
        r#"{"alertName":"\u0000"}"#,
        r#"{"alertName":"\udc00"}"#,
    ] {
        call().body("application/json", body).send().await.expect_error(400, "malformed-json");
    }
    call().body("application/xml", "<a/>").send().await.expect_error(415, "unsupported-media-type");
    tracker.post(&json!(vec![at(1, "A"); 10_001])).await.expect_error(413, "body-too-large");
    assert_eq!(tracker.get("").await["alerts"], json!([]));
}

async fn a_body_asks_for_a_range(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    tracker.post(&json!([at(4, "A"), at(1, "A"), at(3, "B"), at(2, "C")])).await.expect(201);
    let range = json!({"from": "2026-01-01T00:02:00Z", "to": "2026-01-01T00:04:00Z"});
    assert_eq!(names(&tracker.post(&range).await.expect(200)), ["C", "B", "A"]);
    let mut named = range.clone();
    named["alertName"] = json!("A");
    assert_eq!(names(&tracker.post(&named).await.expect(200)), ["A"]);
    let mut page = range.clone();
    page["limit"] = json!(2);
    let first = tracker.post(&page).await.expect(200);
    page["cursor"] = first["nextCursor"].clone();
    assert_eq!((names(&first), names(&tracker.post(&page).await.expect(200))), (vec!["C", "B"], vec!["A"]));
    for (name, value) in
        [("alertName", json!(["A"])), ("alertName", json!(5)), ("limit", json!(0)), ("order", json!("asc"))]
    {
        let mut body = range.clone();
        body[name] = value;
        let refused = tracker.post(&body).await.expect_error(400, "invalid-body");
        assert_eq!(pointers(&refused), [format!("/{name}")]);
    }
}

async fn histories_are_complete_or_paged(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    tracker.post(&json!([at(3, "C"), at(1, "A"), at(1, "B"), at(4, "A")])).await.expect(201);
    assert_eq!(names(&tracker.get("").await), ["A", "B", "C", "A"]);
    assert_eq!(names(&tracker.get("?order=desc").await), ["A", "C", "B", "A"]);
    assert_eq!(names(&tracker.get("?alertName=A").await), ["A", "A"]);
    assert_eq!(names(&tracker.get("?alertName=a").await), ["A", "A"]);
    assert_eq!(names(&tracker.get("?to=2026-01-01T00:01:00Z").await), ["A", "B"]);
    let first = tracker.get("?limit=1").await;
    let rest = format!("?limit=10&cursor={}", first["nextCursor"].as_str().unwrap());
    assert_eq!((names(&first), names(&tracker.get(&rest).await)), (vec!["A"], vec!["B", "C", "A"]));
    let long = format!("?alertName={}", "x".repeat(101));
    for query in [long.as_str(), "?limit=x", "?from=1", "?order=", "?q=x"] {
        let answer =
            tracker.app.call(&format!("GET {}{query}", tracker.path)).by(&tracker.owner).send().await;
        answer.expect_error(400, "invalid-parameter");
    }
    let locations = tracker.path.replace("alerts", "locations");
    let foreign = format!("GET {locations}{rest}");
    tracker.app.call(&foreign).by(&tracker.owner).send().await.expect_error(400, "invalid-cursor");
}

async fn storing_needs_the_privilege(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let path = format!("/api/devices/{}/alerts", app.device(&tenant.owner, &json!({"name": "Boat"})).await);
    let reader = app.person(&tenant, "reader", Traits::default()).await;
    let writer = Traits { privileges: vec![Privilege::AlertsWrite], ..Traits::default() };
    let writer = app.person(&tenant, "writer", writer).await;
    app.send(&reader, &format!("POST {path}"), &at(1, "A")).await.expect_error(403, "forbidden");
    app.send(&writer, &format!("POST {path}"), &at(1, "A")).await.expect(201);
    let range = json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"});
    assert_eq!(names(&app.send(&reader, &format!("POST {path}"), &range).await.expect(200)), ["A"]);
}
