//! Estimates of networks: stored, but they trigger no geofence and do not move the last location.

use std::time::Duration;

use perigee_server::background::RuleEngine;
use rand::Rng as _;
use serde_json::{Value, json};

use crate::locations::geofences::feature;
use crate::support::{Engine, TestApp, on_both_engines};

/// Tokens that outlast the days of the test, in seconds.
const TOKEN_SECONDS: u32 = 400 * 86_400;

on_both_engines!(ten_thousand_estimates_trip_nothing, a_rule_sets_its_own_limit);

/// An estimate at this many seconds into the year, with a radius of metres, off by up to that radius.
fn estimate(second: i64, metres: i64) -> Value {
    let mut random = rand::rng();
    let mut off = || {
        f64::from(random.random_range(-1_000_000..=1_000_000)) / 1e6
            * f64::from(i32::try_from(metres).unwrap())
            / 111_000.0
    };
    json!({"dateTime": at(second), "latitude": 42.0 + off(), "longitude": -8.0 + off(), "accuracy": metres, "source": "network"})
}

fn at(second: i64) -> String {
    let hour = second / 3_600;
    format!("2026-01-01T{hour:02}:{:02}:{:02}Z", second / 60 % 60, second % 60)
}

async fn rules(app: &TestApp, owner: &crate::support::Person, device: &str, limit: Option<u32>) {
    let area = json!([[[-8.1, 41.9], [-7.9, 41.9], [-7.9, 42.1], [-8.1, 42.1], [-8.1, 41.9]]]);
    let made =
        app.send(owner, "POST /api/geofences", &feature("Polygon", &area, &json!({"name": "Bay"}))).await;
    let fence = made.expect(201)["id"].as_str().unwrap().to_owned();
    for kind in ["enter", "leave", "outside"] {
        let condition = json!({"type": "geofence", "when": kind, "geofences": [fence]});
        let mut rule = json!({"name": kind, "devices": [device], "conditions": [condition]});
        if let Some(limit) = limit {
            rule["maxAccuracyMetres"] = json!(limit);
        }
        let made = app.send(owner, "POST /api/rules", &rule).await.expect(201);
        assert_eq!(made["maxAccuracyMetres"], limit.unwrap_or(500));
    }
}

async fn follow(engine: &RuleEngine) {
    for _ in 0..1_000 {
        if engine.run_once().await == Duration::from_secs(1) {
            return;
        }
    }
    panic!("there is always more");
}

async fn ten_thousand_estimates_trip_nothing(engine: Engine) {
    let app = TestApp::with(engine, |config| config.auth.token_seconds = TOKEN_SECONDS).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Boat"})).await;
    rules(&app, &owner, &device, None).await;
    // One for the whole test: another would wait until the lease of the first has ended.
    let rule_engine = RuleEngine::new(app.app.clone());
    let path = format!("POST /api/devices/{device}/locations");
    let fix = json!({"dateTime": at(0), "latitude": 42, "longitude": -8, "source": "gnss", "accuracy": 5});
    app.send(&owner, &path, &fix).await.expect(201);
    app.clock().advance_seconds(23 * 3_600);
    let metres = |index: i64| 5_000 + index * 45_000 / 9_999;
    let estimates: Vec<Value> = (0..10_000).map(|index| estimate(1 + index * 8, metres(index))).collect();
    let stored = app.send(&owner, &path, &json!(estimates)).await.expect(201);
    assert_eq!(stored["accepted"], 10_000);
    follow(&rule_engine).await;
    let alerts = app.get(&owner, &format!("/api/devices/{device}/alerts")).await;
    assert_eq!(alerts["alerts"], json!([]));
    let last = app.get(&owner, &format!("/api/devices/{device}/lastLocation")).await["lastLocation"].clone();
    assert_eq!(
        (&last["latitude"], &last["longitude"], &last["dateTime"]),
        (&json!(42), &json!(-8), &json!(at(0)))
    );
    // A good fix still does.
    let fix = json!({"dateTime": at(82_000), "latitude": 45, "longitude": -8, "accuracy": 20});
    app.send(&owner, &path, &fix).await.expect(201);
    follow(&rule_engine).await;
    let alerts = app.get(&owner, &format!("/api/devices/{device}/alerts")).await;
    assert_eq!(alerts["alerts"].as_array().unwrap().len(), 2, "left, and outside: {alerts}");
}

async fn a_rule_sets_its_own_limit(engine: Engine) {
    let app = TestApp::with(engine, |config| config.auth.token_seconds = TOKEN_SECONDS).await;
    let owner = app.tenant("acme", 10).await.owner;
    let device = app.device(&owner, &json!({"name": "Boat"})).await;
    rules(&app, &owner, &device, Some(20_000)).await;
    let fix = |second, longitude: f64, accuracy| json!({"dateTime": at(second), "latitude": 42, "longitude": longitude, "accuracy": accuracy, "source": "network"});
    let path = format!("POST /api/devices/{device}/locations");
    app.clock().advance_seconds(60);
    let body = json!([fix(1, -8.0, 15_000), fix(2, -20.0, 20_001), fix(3, -20.0, 20_000)]);
    app.send(&owner, &path, &body).await.expect(201);
    follow(&RuleEngine::new(app.app.clone())).await;
    let alerts = app.get(&owner, &format!("/api/devices/{device}/alerts")).await["alerts"].clone();
    let times: Vec<&Value> = alerts.as_array().unwrap().iter().map(|alert| &alert["dateTime"]).collect();
    assert_eq!(times, [&json!(at(3)), &json!(at(3))], "{alerts}");
    for wrong in [json!(0), json!(1_000_001), json!("x")] {
        let rule = json!({"name": "x", "devices": [device], "conditions": [{"type": "sos"}], "maxAccuracyMetres": wrong});
        app.send(&owner, "POST /api/rules", &rule).await.expect_error(400, "invalid-body");
    }
}
