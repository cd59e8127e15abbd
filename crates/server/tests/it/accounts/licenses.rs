//! Licences through the API: used, freed by expiry, and used again by reactivation.

use serde_json::json;

use crate::support::{Engine, Tenant, TestApp, on_both_engines};

on_both_engines!(
    no_licence_no_device,
    an_expired_device_frees_its_licence,
    an_expired_device_comes_back_only_with_a_licence,
    an_expired_device_takes_no_data,
);

async fn no_licence_no_device(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 1).await.owner;
    let id = app.device(&owner, &json!({"name": "A"})).await;
    app.send(&owner, "POST /api/devices", &json!({"name": "B"})).await.expect_error(409, "license-exhausted");
    // One that is expired from the start takes none.
    let past = json!({"name": "Old", "limits": {"expires": true, "expirationDate": "2025-12-31"}});
    let made = app.send(&owner, "POST /api/devices", &past).await.expect(201);
    assert_eq!(
        (&made["device"]["state"], &made["device"]["expires"]),
        (&json!("expired"), &json!("2026-01-01T00:00:00Z"))
    );
    assert_eq!(
        app.get(&owner, "/api/devices").await["devices"].as_array().unwrap().len(),
        2,
        "B was not stored"
    );
    app.call(&format!("DELETE /api/devices/{id}")).by(&owner).send().await.expect(200);
    app.device(&owner, &json!({"name": "B"})).await;
}

async fn an_expired_device_frees_its_licence(engine: Engine) {
    let app = TestApp::new(engine).await;
    let Tenant { account, owner } = app.tenant("acme", 1).await;
    let today = json!({"name": "A", "limits": {"expires": true, "expirationDate": "2026-01-01"}});
    let path = format!("/api/devices/{}", app.device(&owner, &today).await);
    app.clock().advance_seconds(86_399);
    // A token does not live that long.
    let owner = app.equip(&account, owner.id, owner.email).await;
    assert_eq!(app.get(&owner, &path).await["device"]["state"], "active", "through the end of the date");
    app.send(&owner, "POST /api/devices", &json!({"name": "B"})).await.expect_error(409, "license-exhausted");
    app.clock().advance_seconds(1);
    let read = app.call(&format!("GET {path}")).by(&owner).send().await;
    assert_eq!(
        (read.expect(200)["device"]["state"].clone(), read.header("etag")),
        (json!("expired"), "\"r1\"")
    );
    app.device(&owner, &json!({"name": "B"})).await;
    app.clock().advance_seconds(-5);
    let back = app.get(&owner, &path).await;
    assert_eq!(back["device"]["state"], "expired", "a clock going back brings nothing back");
}

async fn an_expired_device_comes_back_only_with_a_licence(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 1).await.owner;
    let past = json!({
        "name": "Old", "limits": {"expires": true, "expirationDate": "2025-12-31", "dailySmsLimit": 5}
    });
    let path = format!("/api/devices/{}", app.device(&owner, &past).await);
    let other = app.device(&owner, &json!({"name": "Other"})).await;
    let ways = [
        ("PATCH", json!({"limits": {"expirationDate": "2026-06-30"}})),
        ("PATCH", json!({"limits": {"expires": false}})),
        ("PATCH", json!([{"op": "replace", "path": "/limits/expires", "value": false}])),
        ("PUT", json!({"name": "Old"})),
    ];
    let before = app.get(&owner, &path).await["device"].clone();
    for (method, body) in &ways {
        let refused = app.send(&owner, &format!("{method} {path}"), body).await;
        refused.expect_error(409, "license-exhausted");
        assert_eq!(app.get(&owner, &path).await["device"], before, "nothing changed by {method} {body}");
    }
    let renamed = app.send(&owner, &format!("PATCH {path}"), &json!({"name": "Older"})).await.expect(200);
    assert_eq!(renamed["device"]["state"], "expired", "other changes need no licence");
    app.call(&format!("DELETE /api/devices/{other}")).by(&owner).send().await.expect(200);
    let back = app.send(&owner, &format!("PATCH {path}"), &ways[0].1).await.expect(200);
    let device = &back["device"];
    assert_eq!((&device["state"], &device["expires"]), (&json!("active"), &json!("2026-07-01T00:00:00Z")));
    assert_eq!(device["limits"]["dailySmsLimit"], 5, "its limits stand as set");
}

async fn an_expired_device_takes_no_data(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 1).await.owner;
    let path = format!("/api/devices/{}", app.device(&owner, &json!({"name": "A"})).await);
    let point = json!({"dateTime": "2026-01-01T00:00:00Z", "latitude": 1, "longitude": 1});
    let alert = json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": "SOSButton"});
    app.send(&owner, &format!("POST {path}/locations"), &point).await.expect(201);
    app.send(&owner, &format!("POST {path}/alerts"), &alert).await.expect(201);
    let expire = json!({"limits": {"expires": true, "expirationDate": "2025-12-31"}});
    app.send(&owner, &format!("PATCH {path}"), &expire).await.expect(200);
    app.clock().advance_seconds(60);
    for (what, body) in [("locations", &point), ("alerts", &alert)] {
        app.send(&owner, &format!("POST {path}/{what}"), body).await.expect_error(409, "device-expired");
        let history = app.get(&owner, &format!("{path}/{what}")).await;
        assert_eq!(history[what].as_array().unwrap().len(), 1, "what was stored stays readable");
    }
    let heard = app.get(&owner, &path).await;
    assert_eq!(heard["device"]["lastSeen"], "2026-01-01T00:01:00Z", "an owner sees that it is alive");
    app.get(&owner, &format!("{path}/lastLocation")).await;
}
