//! Retention of locations: how clients set it, and that the service deletes by it.

use perigee_server::background::delete_expired_locations;
use serde_json::{Value, json};

use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    retention_is_set_and_taken_back,
    bad_days_say_what_to_change,
    older_locations_are_deleted,
    a_store_that_is_closed_fails_nothing,
);

async fn retention_is_set_and_taken_back(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let set = async |line: &str, body: Value| app.send(&owner, line, &body).await.expect(200);
    let account = set("PATCH /api/account", json!({"settings": {"retentionDays": 30}})).await;
    assert_eq!(
        account["account"]["settings"],
        json!({"expiryNoticeDays": 7, "retentionDays": 30, "emergencyProcedure": null, "quickReplies": null})
    );
    let account = set("PATCH /api/account", json!({"settings": {"retentionDays": null}})).await;
    assert_eq!(
        account["account"]["settings"],
        json!({"expiryNoticeDays": 7, "retentionDays": null, "emergencyProcedure": null, "quickReplies": null})
    );

    let id = app.device(&owner, &json!({"name": "A", "retentionDays": 36_500})).await;
    let path = format!("/api/devices/{id}");
    assert_eq!(app.get(&owner, &path).await["device"]["retentionDays"], 36_500);
    let patched = set(&format!("PATCH {path}"), json!({"retentionDays": 1})).await;
    assert_eq!(patched["device"]["retentionDays"], 1);
    let put = set(&format!("PUT {path}"), json!({"name": "A"})).await;
    assert_eq!(put["device"]["retentionDays"], json!(null), "left out, it is the account's");
    let audit = app.get(&owner, "/api/audit?action=device.update").await;
    assert_eq!(audit["audit"][0]["detail"], "changed retentionDays");
}

async fn bad_days_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let path = format!("PATCH /api/devices/{}", app.device(&owner, &json!({"name": "A"})).await);
    for (days, message) in [
        (json!(0), "must be a whole number between 1 and 36500, not 0."),
        (json!(36_501), "must be a whole number between 1 and 36500, not 36501."),
        (json!(-1), "must be a whole number between 1 and 36500, not -1."),
        (json!(1.5), "must be a whole number, not 1.5."),
        (json!("7"), "must be a whole number, not a string."),
    ] {
        let refused = app.send(&owner, &path, &json!({"retentionDays": days})).await;
        let refused = refused.expect_error(400, "invalid-body");
        assert_eq!(refused["detail"], format!("\"retentionDays\" {message}"));
        let body = json!({"settings": {"retentionDays": days}});
        let refused = app.send(&owner, "PATCH /api/account", &body).await.expect_error(400, "invalid-body");
        assert_eq!(refused["detail"], format!("\"retentionDays\" {message}"));
    }
}

async fn history(app: &TestApp, person: &Person, path: &str) -> Vec<Value> {
    let line = format!("{path}/locations?from=2025-01-01T00:00:00Z&to=2026-12-31T00:00:00Z");
    let locations = app.get(person, &line).await["locations"].as_array().unwrap().clone();
    locations.into_iter().map(|location| location["dateTime"].clone()).collect()
}

async fn older_locations_are_deleted(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    app.send(&owner, "PATCH /api/account", &json!({"settings": {"retentionDays": 30}})).await.expect(200);
    let plain = format!("/api/devices/{}", app.device(&owner, &json!({"name": "A"})).await);
    let long = app.device(&owner, &json!({"name": "B", "retentionDays": 365})).await;
    let long = format!("/api/devices/{long}");
    let times =
        ["2025-06-01T00:00:00Z", "2025-12-01T23:59:59Z", "2025-12-02T00:00:00Z", "2026-01-01T00:00:00Z"];
    let locations = times.map(|time| json!({"dateTime": time, "latitude": 1, "longitude": 1}));
    for path in [&plain, &long] {
        app.send(&owner, &format!("POST {path}/locations"), &json!(locations)).await.expect(201);
    }
    delete_expired_locations(&app.app).await;
    assert_eq!(history(&app, &owner, &plain).await, times[2..]);
    assert_eq!(history(&app, &owner, &long).await, times);
}

async fn a_store_that_is_closed_fails_nothing(engine: Engine) {
    let app = TestApp::new(engine).await;
    app.store.close().await;
    delete_expired_locations(&app.app).await;
}
