//! Rules: their settings by clients, and their tests on history.

mod no_trip;
mod rule_engine;

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines, pointers};

on_both_engines!(
    a_rule_goes_in_and_comes_out,
    bad_rules_say_what_to_change,
    who_sees_a_part_sets_rules_for_it,
    a_rule_is_tried_on_history,
);

async fn a_rule_goes_in_and_comes_out(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let fence = json!({"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 1]},
        "properties": {"name": "F", "radius": 10}});
    let fence = app.send(&owner, "POST /api/geofences", &fence).await.expect(201)["id"].clone();
    for (condition, raises) in [
        (json!({"type": "speed", "above": 90.0, "clear": 85.0}), "SpeedLimit"),
        (json!({"type": "speed", "below": 5.0}), "SpeedLower"),
        (json!({"type": "battery", "below": 20.0}), "LowBattery"),
        (json!({"type": "fuel2", "below": 20.0}), "FuelLessThan2"),
        (json!({"type": "temperature", "above": -18.0}), "TemperatureGreaterThan"),
        (json!({"type": "temperature2", "below": 2.0}), "Temperature2LessThan"),
        (json!({"type": "rpm", "above": 3000.0}), "RPM"),
        (json!({"type": "mileage", "reached": 10000.0}), "Mileage"),
        (json!({"type": "sensorTime", "number": 3, "above": 60.0}), "SensorAccumulated3Time"),
        (json!({"type": "attribute", "name": "door", "equals": "open"}), "AttributeEquals"),
        (json!({"type": "attribute", "name": "depth", "below": 5.0}), "AttributeLessThan"),
        (json!({"type": "geofence", "when": "enter", "geofences": [fence]}), "ForbiddenArea"),
        (json!({"type": "geofence", "when": "leave", "geofences": [fence]}), "AllowedArea"),
        (json!({"type": "route", "geofences": [fence]}), "Route"),
        (json!({"type": "idle", "seconds": 300, "belowSpeed": 5.0}), "IdleTime"),
        (json!({"type": "noMovement", "seconds": 3600, "radius": 100.0}), "NoMovementTime"),
        (json!({"type": "offline"}), "Offline"),
        (json!({"type": "late"}), "Offline"),
        (json!({"type": "fuelDrop", "by": 10.0, "withinSeconds": 600, "tank": 1}), "FuelJumpDown"),
        (json!({"type": "fuelRise", "by": 10.0, "withinSeconds": 60, "tank": 2}), "FuelJumpUp2"),
        (json!({"type": "input", "number": 1, "on": false}), "Sensor1Off"),
        (json!({"type": "ignition", "on": true}), "IgnitionOn"),
        (json!({"type": "harshBraking", "perSecond": 12.0}), "HarshBraking"),
        (json!({"type": "sos"}), "SOSButton"),
    ] {
        let body = json!({"name": "R", "allDevices": true, "conditions": [condition]});
        let made = app.send(&owner, "POST /api/rules", &body).await;
        let view = made.expect(201);
        assert_eq!((&view["conditions"][0], &view["raises"]), (&condition, &json!(raises)));
        let path = format!("/api/rules/{}", view["id"].as_str().unwrap());
        let again = app.send(&owner, &format!("PUT {path}"), &app.get(&owner, &path).await).await;
        again.expect(200);
        assert_eq!(again.header("etag"), made.header("etag"));
    }
    let schedule =
        json!({"weekdays": ["monday", "friday"], "from": "22:00", "to": "06:30", "timeZone": "Asia/Tokyo"});
    let body = json!({"name": "Night", "allDevices": true, "schedule": schedule, "forSeconds": 60,
        "coolDownSeconds": 600, "alertName": "Own", "text": "Look!", "critical": true, "enabled": false,
        "conditions": [{"type": "speed", "above": 10}, {"type": "ignition"}]});
    let view = app.send(&owner, "POST /api/rules", &body).await.expect(201);
    assert_eq!((&view["schedule"], &view["raises"]), (&schedule, &json!("Own")));
    let path = format!("/api/rules/{}", view["id"].as_str().unwrap());
    let change =
        json!([{"op": "replace", "path": "/enabled", "value": true}, {"op": "remove", "path": "/alertName"}]);
    let patched = app.send(&owner, &format!("PATCH {path}"), &change).await.expect(200);
    assert_eq!((&patched["enabled"], &patched["raises"]), (&json!(true), &json!("SpeedLimit")));
    let audit = app.get(&owner, "/api/audit?action=rule.update").await;
    assert_eq!(audit["audit"][0]["detail"], "changed enabled, alertName");
    let once = || app.call("POST /api/rules").by(&owner).header("idempotency-key", "k").json(&body);
    assert_eq!(once().send().await.expect(201)["id"], once().send().await.expect(201)["id"]);
}

async fn bad_rules_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let with = |condition: Value| json!({"name": "R", "allDevices": true, "conditions": [condition]});
    let sos = json!([{"type": "sos"}]);
    for (body, pointer) in [
        (json!({"name": "R", "conditions": sos}), "/devices"),
        (
            json!({"name": "R", "allDevices": true, "groups": ["grp_0000000000000"], "conditions": sos}),
            "/allDevices",
        ),
        (json!({"name": "R", "groups": ["grp_0000000000001"], "conditions": sos}), "/groups"),
        (json!({"name": "R", "devices": ["dev_0000000000001"], "conditions": sos}), "/devices"),
        (json!({"name": "R", "allDevices": true, "conditions": []}), "/conditions"),
        (with(json!({"type": "spede", "above": 1})), "/conditions/0/type"),
        (with(json!({"type": "speed"})), "/conditions/0/above"),
        (with(json!({"type": "speed", "above": 1, "below": 2})), "/conditions/0/above"),
        (with(json!({"type": "speed", "above": 90, "clear": 95})), "/conditions/0/clear"),
        (with(json!({"type": "speed", "above": 90, "radius": 5})), "/conditions/0/radius"),
        (with(json!({"type": "geofence", "when": "in", "geofences": []})), "/conditions/0/when"),
        (with(json!({"type": "route", "geofences": ["geo_0000000000001"]})), "/conditions"),
        (with(json!({"type": "idle"})), "/conditions/0/seconds"),
        (with(json!({"type": "attribute", "name": "a", "equals": []})), "/conditions/0/equals"),
        (
            json!({"name": "R", "allDevices": true, "conditions": [{"type": "offline"}, {"type": "sos"}]}),
            "/conditions",
        ),
        (
            json!({"name": "R", "allDevices": true, "conditions": [{"type": "late"}], "forSeconds": 5}),
            "/forSeconds",
        ),
        (
            json!({"name": "R", "allDevices": true, "conditions": sos, "schedule": {"weekdays": ["mon"], "from": "8:00", "to": "25:00"}}),
            "/schedule/weekdays/0",
        ),
    ] {
        let refused = app.send(&owner, "POST /api/rules", &body).await.expect_error(400, "invalid-body");
        assert!(pointers(&refused).contains(&pointer), "{pointer}: {refused}");
    }
}

async fn who_sees_a_part_sets_rules_for_it(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let (mine, other) =
        (app.device(owner, &json!({"name": "A"})).await, app.device(owner, &json!({"name": "B"})).await);
    let group = app.group(owner, &json!({"name": "G", "devices": [mine]})).await;
    let traits =
        Traits { privileges: vec![Privilege::RulesWrite], group: group.parse().ok(), ..Traits::default() };
    let scoped = app.person(&tenant, "scoped", traits).await;
    let rule = |targets: Value| {
        let mut body = json!({"name": "R", "conditions": [{"type": "sos"}]});
        body.as_object_mut().unwrap().extend(targets.as_object().unwrap().clone());
        body
    };
    let make = async |targets: Value| {
        app.send(owner, "POST /api/rules", &rule(targets)).await.expect(201)["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (all, shared) =
        (make(json!({"allDevices": true})).await, make(json!({"devices": [mine, other]})).await);
    let (hidden, own) = (make(json!({"devices": [other]})).await, make(json!({"groups": [group]})).await);
    let listed = app.get(&scoped, "/api/rules").await;
    let ids: Vec<&str> =
        listed["rules"].as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [all.as_str(), shared.as_str(), own.as_str()]);
    assert_eq!(listed["rules"][1]["devices"], json!([mine]), "whom else it judges is nobody's business");
    let rename =
        async |id: &str| app.send(&scoped, &format!("PATCH /api/rules/{id}"), &json!({"name": "N"})).await;
    rename(&all).await.expect_error(403, "forbidden");
    rename(&shared).await.expect_error(403, "forbidden");
    rename(&hidden).await.expect_error(404, "not-found");
    rename(&own).await.expect(200);
    app.send(&scoped, "POST /api/rules", &rule(json!({"allDevices": true})))
        .await
        .expect_error(403, "forbidden");
    let refused = app.send(&scoped, "POST /api/rules", &rule(json!({"devices": [other]}))).await;
    refused.expect_error(400, "invalid-body");
    app.send(&scoped, "POST /api/rules", &rule(json!({"devices": [mine]}))).await.expect(201);
}

async fn a_rule_is_tried_on_history(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let (one, two) =
        (app.device(&owner, &json!({"name": "A"})).await, app.device(&owner, &json!({"name": "B"})).await);
    let fix = |minute: i64, speed: i64| {
        json!({"dateTime": format!("2025-12-31T12:{minute:02}:00Z"),
        "latitude": 42, "longitude": -8, "speed": speed})
    };
    for device in [&one, &two] {
        let path = format!("POST /api/devices/{device}/locations");
        let body = json!([fix(0, 50), fix(1, 95), fix(2, 97), fix(3, 60), fix(4, 99)]);
        app.send(&owner, &path, &body).await.expect(201);
    }
    let rule = json!({"name": "R", "allDevices": true, "enabled": false, "forSeconds": 60, "conditions": [{"type": "speed", "above": 90}]});
    let id = app.send(&owner, "POST /api/rules", &rule).await.expect(201)["id"].as_str().unwrap().to_owned();
    let test =
        async |query: &str| app.call(&format!("POST /api/rules/{id}/test?{query}")).by(&owner).send().await;
    let span = "from=2025-12-31T12:00:00Z&to=2025-12-31T13:00:00Z";
    let found = test(&format!("{span}&device={one}")).await.expect(200);
    let expect = json!([{"deviceId": one, "dateTime": "2025-12-31T12:02:00Z", "alertName": "SpeedLimit",
        "begin": "2025-12-31T12:01:00Z", "end": "2025-12-31T12:03:00Z", "latitude": 42, "longitude": -8}]);
    assert_eq!((&found["episodes"], &found["locations"]), (&expect, &json!(5)));
    let first = test(&format!("{span}&limit=1")).await.expect(200);
    assert_eq!(first["episodes"][0]["deviceId"], json!(one));
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = test(&format!("{span}&limit=1&cursor={cursor}")).await.expect(200);
    assert_eq!(second["episodes"][0]["deviceId"], json!(two));
    test("from=2025-12-31T12:00:00Z").await.expect_error(400, "invalid-parameter");
    test("from=2025-11-01T00:00:00Z&to=2025-12-31T00:00:00Z").await.expect_error(400, "invalid-parameter");
    test(&format!("{span}&device=none")).await.expect_error(404, "not-found");
    let alerts = app.get(&owner, &format!("/api/devices/{one}/alerts")).await;
    assert_eq!(alerts["alerts"], json!([]), "nothing is raised by trying");

    // A rule that is not created yet finds the same, and is not created by it.
    let with = |from: &str, to: serde_json::Value| {
        let mut changed = rule.clone();
        changed[from] = to;
        changed
    };
    let fresh = async |rule: &serde_json::Value, query: &str| {
        app.send(&owner, &format!("POST /api/rules/test?{query}"), rule).await
    };
    assert_eq!(fresh(&rule, &format!("{span}&device={one}")).await.expect(200)["episodes"], expect);
    let first = fresh(&rule, &format!("{span}&limit=1")).await.expect(200);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = fresh(&rule, &format!("{span}&limit=1&cursor={cursor}")).await.expect(200);
    assert_eq!(second["episodes"][0]["deviceId"], json!(two));
    fresh(&rule, "from=2025-12-31T12:00:00Z").await.expect_error(400, "invalid-parameter");
    fresh(&with("conditions", json!([])), span).await.expect_error(400, "invalid-body");
    let nowhere = json!([{"type": "geofence", "when": "enter", "geofences": ["geo_0000000000000"]}]);
    let refused = fresh(&with("conditions", nowhere), span).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/conditions"]);
    assert_eq!(app.get(&owner, "/api/rules").await["rules"].as_array().unwrap().len(), 1);
}
