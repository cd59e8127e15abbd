//! Drivers as clients see them: key tags, assignments, and who drove each trip.

use perigee_core::access::privilege::Privilege;
use perigee_server::background::TimelineEngine;
use serde_json::{Value, json};

use crate::support::people::{Tenant, Traits};
use crate::support::{Engine, Person, TestApp, on_both_engines, pointers};

on_both_engines!(
    a_driver_goes_in_and_comes_out,
    a_key_tag_has_one_owner,
    assignments_of_a_device_do_not_overlap,
    trips_have_drivers_by_hand_tag_and_assignment,
    totals_and_reports_by_driver,
    drivers_are_of_the_whole_account,
    rules_about_trips_are_checked_and_tried,
);

struct World {
    app: TestApp,
    tenant: Tenant,
    owner: Person,
    device: String,
    engine: TimelineEngine,
}

/// The clock begins at 2026-01-01T00:00:00Z.
async fn world(engine: Engine) -> World {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = tenant.owner.clone();
    let engine = TimelineEngine::new(app.app.clone());
    engine.run_to_end().await;
    let device = app.device(&owner, &json!({"name": "Van"})).await;
    World { app, tenant, owner, device, engine }
}

/// A time on the day before the clock begins.
fn at(minute: usize) -> String {
    format!("2025-12-31T{:02}:{:02}:00Z", minute / 60, minute % 60)
}

/// The device stands for 20 minutes and moves for 15, in turn; the key tag is reported from minute 90 on.
fn track() -> Value {
    let one = |minute: usize| {
        let moved = minute / 35 * 15 + (minute % 35).saturating_sub(19);
        let degrees = f64::from(u32::try_from(moved).unwrap()) * 0.009;
        let mut one = json!({"dateTime": at(minute), "latitude": 40.0 + degrees, "longitude": -8.0});
        if minute >= 90 {
            one["attributes"] = json!({"driverUniqueId": "0A-1B-2C"});
        }
        one
    };
    (0..160).map(one).collect()
}

impl World {
    async fn make(&self, body: &Value) -> Value {
        self.app.send(&self.owner, "POST /api/drivers", body).await.expect(201)
    }

    async fn assign(&self, driver: &Value, body: &Value) -> crate::support::call::Answer {
        let path = format!("POST /api/drivers/{}/assignments", driver["id"].as_str().unwrap());
        self.app.send(&self.owner, &path, body).await
    }

    async fn drive(&self) {
        let path = format!("POST /api/devices/{}/locations", self.device);
        self.app.send(&self.owner, &path, &track()).await.expect(201);
        self.engine.run_to_end().await;
    }

    async fn trips(&self, query: &str) -> Vec<Value> {
        let answer = self.app.get(&self.owner, &format!("/api/trips{query}")).await;
        answer["trips"].as_array().unwrap().clone()
    }
}

fn whom(trips: &[Value]) -> Vec<(&Value, &Value)> {
    trips.iter().map(|trip| (&trip["driverName"], &trip["driverSource"])).collect()
}

async fn a_driver_goes_in_and_comes_out(engine: Engine) {
    let world = world(engine).await;
    let (app, owner) = (&world.app, &world.owner);
    let body = json!({"name": "Ana", "phone": "600 123", "email": "ana@example.com", "userId": owner.id.to_string(),
        "tags": ["01-0a", "b2"], "description": "Night shift"});
    let made = app.send(owner, "POST /api/drivers", &body).await;
    let view = made.expect(201);
    assert_eq!((&view["tags"], &view["userId"]), (&json!(["10A", "B2"]), &body["userId"]));
    let path = format!("/api/drivers/{}", view["id"].as_str().unwrap());
    let again = app.send(owner, &format!("PUT {path}"), &app.get(owner, &path).await).await;
    again.expect(200);
    assert_eq!(again.header("etag"), made.header("etag"));
    let change = json!({"phone": null, "tags": ["B2"]});
    let patched = app.send(owner, &format!("PATCH {path}"), &change).await.expect(200);
    assert_eq!((&patched["phone"], &patched["tags"]), (&json!(null), &json!(["B2"])));
    let old = app.call(&format!("DELETE {path}")).by(owner).header("if-match", made.header("etag"));
    old.send().await.expect_error(412, "precondition-failed");
    let once = || {
        app.call("POST /api/drivers").by(owner).header("idempotency-key", "k").json(&json!({"name": "Bea"}))
    };
    assert_eq!(once().send().await.expect(201)["id"], once().send().await.expect(201)["id"]);
    let named = |answer: Value| -> Vec<Value> {
        answer["drivers"].as_array().unwrap().iter().map(|driver| driver["name"].clone()).collect()
    };
    assert_eq!(named(app.get(owner, "/api/drivers").await), ["Ana", "Bea"]);
    assert_eq!(named(app.get(owner, "/api/drivers?q=b2&limit=5").await), ["Ana"]);
    app.call(&format!("DELETE {path}")).by(owner).send().await.expect(200);
    app.call(&format!("GET {path}")).by(owner).send().await.expect_error(404, "not-found");
    for (body, pointer) in [
        (json!({"name": ""}), "/name"),
        (json!({"name": "x".repeat(101)}), "/name"),
        (json!({"name": "A", "tags": ["00"]}), "/tags/0"),
        (json!({"name": "A", "email": "ana"}), "/email"),
        (json!({"name": "A", "userId": "usr_0000000000001"}), "/userId"),
        (json!({"name": "A", "colour": "red"}), "/colour"),
    ] {
        let refused = app.send(owner, "POST /api/drivers", &body).await.expect_error(400, "invalid-body");
        assert_eq!(pointers(&refused), [pointer], "{body}");
    }
}

async fn a_key_tag_has_one_owner(engine: Engine) {
    let world = world(engine).await;
    world.make(&json!({"name": "Ana", "tags": ["0B-2"]})).await;
    let taken =
        world.app.send(&world.owner, "POST /api/drivers", &json!({"name": "Bea", "tags": ["b2"]})).await;
    let problem = taken.expect_error(409, "tag-taken");
    assert!(problem["detail"].as_str().unwrap().contains("\"Ana\" has the key tag B2"), "{problem}");
}

async fn assignments_of_a_device_do_not_overlap(engine: Engine) {
    let world = world(engine).await;
    let (app, owner) = (&world.app, &world.owner);
    let (ana, bea) = (world.make(&json!({"name": "Ana"})).await, world.make(&json!({"name": "Bea"})).await);
    let body = json!({"deviceId": "Van", "from": at(0), "to": at(60)});
    let first = world.assign(&ana, &body).await;
    let view = first.expect(201);
    assert_eq!((&view["driverId"], &view["deviceId"]), (&ana["id"], &json!(world.device)));
    let open = world.assign(&bea, &json!({"deviceId": world.device, "from": at(60)})).await.expect(201);
    assert_eq!(open["to"], json!(null));
    let clash = world.assign(&ana, &json!({"deviceId": world.device, "from": at(59), "to": at(61)})).await;
    let problem = clash.expect_error(409, "driver-assigned");
    assert!(problem["detail"].as_str().unwrap().contains("\"Bea\""), "{problem}");
    let path = format!("/api/driverAssignments/{}", open["id"].as_str().unwrap());
    let ended = app.send(owner, &format!("PATCH {path}"), &json!({"to": at(90)})).await.expect(200);
    assert_eq!(ended["to"], at(90));
    world.assign(&ana, &json!({"deviceId": world.device, "from": at(90), "to": at(95)})).await.expect(201);
    let refused = app.send(owner, &format!("PATCH {path}"), &json!({"to": at(91)})).await;
    refused.expect_error(409, "driver-assigned");
    let wrong = world.assign(&ana, &json!({"deviceId": world.device, "from": at(200), "to": at(200)})).await;
    assert_eq!(pointers(&wrong.expect_error(400, "invalid-body")), ["/to"]);
    let of_device = app.get(owner, &format!("/api/devices/{}/driverAssignments", world.device)).await;
    assert_eq!(of_device["assignments"].as_array().unwrap().len(), 3);
    let of_ana = app.get(owner, &format!("/api/drivers/{}/assignments", ana["id"].as_str().unwrap())).await;
    assert_eq!(of_ana["assignments"].as_array().unwrap().len(), 2);
    app.call(&format!("DELETE {path}")).by(owner).send().await.expect(200);
    app.call(&format!("GET {path}")).by(owner).send().await.expect_error(404, "not-found");
}

async fn trips_have_drivers_by_hand_tag_and_assignment(engine: Engine) {
    let world = world(engine).await;
    let (app, owner) = (&world.app, &world.owner);
    world.drive().await;
    assert_eq!(whom(&world.trips("").await)[0], (&json!(null), &json!(null)));
    let ana = world.make(&json!({"name": "Ana", "tags": ["a1b2c"]})).await;
    let bea = world.make(&json!({"name": "Bea"})).await;
    world.assign(&bea, &json!({"deviceId": world.device, "from": at(0)})).await.expect(201);
    let timeline = format!("/api/devices/{}/timeline?kind=trip", world.device);
    assert_eq!(app.get(owner, &timeline).await["pending"], true);
    world.engine.run_to_end().await;
    let trips = world.trips("").await;
    let (by_tag, assigned) = ((&json!("Ana"), &json!("tag")), (&json!("Bea"), &json!("assignment")));
    assert_eq!(whom(&trips)[..2], [assigned, assigned]);
    assert_eq!(*whom(&trips).last().unwrap(), by_tag);
    assert_eq!(app.get(owner, &timeline).await["segments"].as_array().unwrap()[0]["driverId"], bea["id"]);
    let path = format!("PATCH /api/segments/{}", trips[0]["id"].as_str().unwrap());
    let set = app.send(owner, &path, &json!({"driver": ana["id"]})).await.expect(200);
    assert_eq!(
        (&set["driver"], &set["driverId"], &set["driverSource"]),
        (&json!("Ana"), &ana["id"], &json!("manual"))
    );
    let kept = app.send(owner, &path, &json!({"note": "x"})).await.expect(200);
    assert_eq!(kept["driverId"], ana["id"]);
    let text = app.send(owner, &path, &json!({"driver": "Somebody"})).await.expect(200);
    assert_eq!((&text["driverId"], &text["driverName"]), (&json!(null), &json!("Somebody")));
    let none = app.send(owner, &path, &json!({"driver": null})).await.expect(200);
    assert_eq!(none["driverSource"], "assignment");
    let unknown = app.send(owner, &path, &json!({"driver": "drv_0000000000001"})).await;
    assert_eq!(pointers(&unknown.expect_error(400, "invalid-body")), ["/driver"]);
    let count = trips.len();
    let of = async |query: String| world.trips(&query).await.len();
    let bea_id = bea["id"].as_str().unwrap();
    assert_eq!(of(format!("?driver={bea_id}")).await + of("?driver=Ana".into()).await, count);
    assert_eq!(of("?driver=none".into()).await, 0);

    // The feed has each trip whose driver changed.
    let since = "?updatedSince=2025-12-31T00:00:00Z";
    let cursor =
        app.get(owner, &format!("/api/trips{since}")).await["nextCursor"].as_str().unwrap().to_owned();
    let path = format!("PATCH /api/drivers/{bea_id}");
    app.send(owner, &path, &json!({"name": "Beatriz"})).await.expect(200);
    world.engine.run_to_end().await;
    let changed = world.trips(&format!("{since}&cursor={cursor}")).await;
    assert!(!changed.is_empty() && changed.iter().all(|trip| trip["driverName"] == "Beatriz"), "{changed:?}");
    app.call(&format!("DELETE /api/drivers/{bea_id}")).by(owner).send().await.expect(200);
    world.engine.run_to_end().await;
    let kept = world.trips("?driver=Beatriz").await;
    assert_eq!(kept.len(), changed.len());
    assert!(kept.iter().all(|trip| trip["driverId"].is_null()));
}

async fn totals_and_reports_by_driver(engine: Engine) {
    let world = world(engine).await;
    let (app, owner) = (&world.app, &world.owner);
    world.make(&json!({"name": "Ana", "tags": ["a1b2c"]})).await;
    world.drive().await;
    let query = "from=2025-12-31&to=2026-01-01&interval=period&timeZone=UTC";
    let totals = app.get(owner, &format!("/api/totals?{query}&by=driver")).await;
    let totals = totals["totals"].as_array().unwrap();
    let names: Vec<&Value> = totals.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, [&json!("Ana"), &json!(null)]);
    assert!(totals[0]["driverId"].is_string() && totals[1]["driverId"].is_null());
    let whole = app.get(owner, &format!("/api/totals?{query}&by=account")).await;
    let sum: f64 = totals.iter().map(|one| one["distance"].as_f64().unwrap()).sum();
    assert!((sum - whole["totals"][0]["distance"].as_f64().unwrap()).abs() < 0.001);
    let body = json!({"kind": "totals", "from": "2025-12-31T00:00:00Z", "to": "2026-01-01T00:00:00Z",
        "interval": "period", "groupBy": "driver", "timeZone": "UTC"});
    let report = app.send(owner, "POST /api/reports/run", &body).await.expect(200);
    let drivers: Vec<&Value> = report["rows"].as_array().unwrap().iter().map(|row| &row["driver"]).collect();
    assert_eq!(drivers, [&json!("Ana"), &json!(null)]);
    let body = json!({"kind": "trips", "from": "2025-12-31T00:00:00Z", "to": "2026-01-01T00:00:00Z",
        "columns": ["driver", "driverSource", "driverTag"]});
    let report = app.send(owner, "POST /api/reports/run", &body).await.expect(200);
    let last = report["rows"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!({"driver": "Ana", "driverSource": "Key tag", "driverTag": "0A-1B-2C"}));
}

async fn drivers_are_of_the_whole_account(engine: Engine) {
    let world = world(engine).await;
    let app = &world.app;
    let ana = world.make(&json!({"name": "Ana", "tags": ["a1b2c"]})).await;
    world.drive().await;
    let traits = Traits {
        privileges: vec![Privilege::DevicesWrite],
        device: Some(world.device.parse().unwrap()),
        ..Traits::default()
    };
    let bound = app.person(&world.tenant, "bound", traits).await;
    app.call("GET /api/drivers").by(&bound).send().await.expect_error(403, "forbidden");
    let path = format!("GET /api/drivers/{}", ana["id"].as_str().unwrap());
    app.call(&path).by(&bound).send().await.expect_error(404, "not-found");
    let trips = app.get(&bound, "/api/trips").await;
    assert!(trips["trips"].as_array().unwrap().iter().any(|trip| trip["driverName"] == "Ana"));
    let totals = app.get(&bound, "/api/totals?by=driver&from=2025-12-31&to=2026-01-01").await;
    assert!(totals["totals"].as_array().unwrap().iter().any(|one| one["name"] == "Ana"));
}

async fn rules_about_trips_are_checked_and_tried(engine: Engine) {
    let world = world(engine).await;
    let (app, owner) = (&world.app, &world.owner);
    world.drive().await;
    let with = |conditions: Value| json!({"name": "R", "allDevices": true, "conditions": conditions});
    for (condition, raises) in [
        (json!({"type": "tripDistance", "above": 12.5}), "TripDistance"),
        (json!({"type": "tripDuration", "seconds": 600}), "TripTime"),
        (json!({"type": "tripPurpose", "purpose": "private"}), "TripPurpose"),
        (json!({"type": "tripNoDriver"}), "TripNoDriver"),
        (json!({"type": "drivingTime", "seconds": 1800, "breakSeconds": 2700}), "DrivingTime"),
        (json!({"type": "noTrip", "seconds": 259_200}), "NoTrip"),
    ] {
        let view = app.send(owner, "POST /api/rules", &with(json!([condition]))).await.expect(201);
        assert_eq!((&view["conditions"][0], &view["raises"]), (&condition, &json!(raises)));
    }
    let hours = json!({"weekdays": ["monday"], "from": "08:00", "to": "18:00", "timeZone": "UTC"});
    let mut outside = with(json!([{"type": "tripOutsideHours"}]));
    let refused = app.send(owner, "POST /api/rules", &outside).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/schedule"]);
    outside["schedule"] = hours;
    let view = app.send(owner, "POST /api/rules", &outside).await.expect(201);
    assert_eq!(view["raises"], "TripOutsideHours");
    for (conditions, pointer) in [
        (json!([{"type": "tripNoDriver"}, {"type": "sos"}]), "/conditions"),
        (json!([{"type": "tripNoDriver"}, {"type": "drivingTime", "seconds": 9}]), "/conditions"),
        (json!([{"type": "tripNoDriver"}, {"type": "noTrip", "seconds": 9}]), "/conditions"),
        (json!([{"type": "noTrip"}]), "/conditions/0/seconds"),
        (json!([{"type": "tripDistance"}]), "/conditions/0/above"),
        (json!([{"type": "tripPurpose", "purpose": ""}]), "/conditions/0/purpose"),
    ] {
        let refused = app.send(owner, "POST /api/rules", &with(conditions)).await;
        assert_eq!(pointers(&refused.expect_error(400, "invalid-body")), [pointer]);
    }
    let mut delayed = with(json!([{"type": "tripNoDriver"}]));
    delayed["forSeconds"] = json!(60);
    let refused = app.send(owner, "POST /api/rules", &delayed).await.expect_error(400, "invalid-body");
    assert_eq!(pointers(&refused), ["/forSeconds"]);

    // Every trip of the day lasts longer than ten minutes, and the test finds each of them.
    let trips = world.trips("").await;
    let range = "from=2025-12-31T00:00:00Z&to=2025-12-31T23:59:00Z";
    let path = format!("POST /api/rules/test?{range}");
    let test = app.send(owner, &path, &with(json!([{"type": "tripDuration", "seconds": 600}]))).await;
    let episodes = test.expect(200)["episodes"].as_array().unwrap().clone();
    assert_eq!(episodes.len(), trips.len());
    assert_eq!((&episodes[0]["begin"], &episodes[0]["end"]), (&trips[0]["from"], &trips[0]["to"]));
    let alerts = app.get(owner, "/api/alerts").await;
    assert_eq!(alerts["alerts"], json!([]), "a test stores nothing, and the trips are older than the rules");
}
